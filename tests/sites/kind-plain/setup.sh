cp -R "$ROOT/tests/sites-shared/." .
ln -s nowhere content/dangling.md
