cp -R "$ROOT/tests/sites-shared/." .
ln -s pages content/pages.en
