cp -R "$ROOT/tests/sites-shared/." .
echo '{"404.title": "x", "fallback.notice": "{sprache}", "alert.note": "x"}' >i18n/de.json
