cp -R "$ROOT/tests/sites-shared/." .
mkdir content/a
ln -s .. content/a/up
