cp -R "$ROOT/tests/sites-shared/." .
printf '# Bad\n\nA b\377yte.\n' >content/bytes.md
