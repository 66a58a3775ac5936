cp -R "$ROOT/tests/sites-shared/." .
ln -s nowhere content/dangling.md
mkdir content/.github
for file in .gitignore .github/ci.yml; do echo x >content/$file; done
