cp -R "$ROOT/tests/sites-shared/." .
echo '{% include "section" %}' >>templates/page.html
