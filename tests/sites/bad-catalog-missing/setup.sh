cp -R "$ROOT/tests/sites-shared/." .
echo '{"404.title": "Nicht da", "alert.note": "Hinweis"}' >i18n/de.json
