cp -R "$ROOT/tests/sites-shared/." .
ln -s ../not-fetched/examples content/examples
