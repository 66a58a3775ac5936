cp -R "$ROOT/tests/sites-shared/." .
rm templates/page.html
