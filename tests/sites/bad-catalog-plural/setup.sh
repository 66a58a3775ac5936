cp -R "$ROOT/tests/sites-shared/." .
echo '{"404.title": {"few": "x", "other": "y"}}' >i18n/en.json
