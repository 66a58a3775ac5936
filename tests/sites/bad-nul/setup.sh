cp -R "$ROOT/tests/sites-shared/." .
printf '# Bad\n\nA \000 byte.\n' >content/nul.md
