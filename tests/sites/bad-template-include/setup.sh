cp -R "$ROOT/tests/sites-shared/." .
echo '{% include "nowhere" %}' >>templates/page.html
