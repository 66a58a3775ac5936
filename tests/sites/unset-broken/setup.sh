cp -R "$ROOT/tests/sites-shared/." .
printf '# Caf\351\n' >content/latin.md
printf '\377\376#\000 \000w\000\n\000' >content/wide.md
printf '# A\000B\n' >content/zero.md
printf -- '---\nThis: is: no: front matter\n---\n\nBelow a rule.\n' >content/rule.md
