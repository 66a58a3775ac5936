cp -R "$ROOT/tests/sites-shared/." .
{ printf '# Big\n\n'; i=0; while [ $i -lt 9000 ]; do echo "word $i *with* [l](ok.md) and more of it"; i=$((i+1)); done; } >content/big.md
