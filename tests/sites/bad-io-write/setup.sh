cp -R "$ROOT/tests/sites-shared/." .
mkdir out
echo mine >out/letter.txt
