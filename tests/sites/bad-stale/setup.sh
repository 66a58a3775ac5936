cp -R "$ROOT/tests/sites-shared/." .
vramdoc i18n accept a de -c site.yaml -s content --i18n i18n >/dev/null
printf '# A\n\nNew words.\n\nSame.\n' >content/a/en.md
