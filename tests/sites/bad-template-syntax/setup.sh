cp -R "$ROOT/tests/sites-shared/." .
echo '<p>{{ page.title </p>' >>templates/page.html
