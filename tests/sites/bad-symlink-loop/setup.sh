cp -R "$ROOT/tests/sites-shared/." .
mkdir content/a
ln -s .. content/a/up
ln -s nowhere content/gone.md
