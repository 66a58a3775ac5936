cp -R "$ROOT/tests/sites-shared/i18n" .
