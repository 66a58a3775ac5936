cp -R "$ROOT/tests/sites-shared/." .
echo '{"404.title": }' >i18n/en.json
