cp -R "$ROOT/tests/sites-shared/." .
{ printf '# T\n\n'; i=0; while [ $i -lt 400 ]; do printf '|a'; i=$((i+1)); done; printf '|\n'; i=0; while [ $i -lt 400 ]; do printf '|-'; i=$((i+1)); done; printf '|\n'; i=0; while [ $i -lt 400 ]; do printf '|x|\n'; i=$((i+1)); done; } >content/table.md
