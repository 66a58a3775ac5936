cp -R "$ROOT/tests/sites-shared/." .
mv menu.html templates/page.html
