cp -R "$ROOT/tests/sites-shared/." .
