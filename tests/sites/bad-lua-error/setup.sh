cp -R "$ROOT/tests/sites-shared/." .
echo '{% error("on purpose") %}' >>templates/404.html
