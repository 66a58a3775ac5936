cp -R "$ROOT/tests/sites-shared/." .
printf 'x\377' >content/e.md
