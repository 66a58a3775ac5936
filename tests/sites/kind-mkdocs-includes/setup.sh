cp -R "$ROOT/tests/sites-shared/." .
echo 'not of this tree' >secret.md
ln -s ../../secret.md content/includes/link.md
ln -s ../docs/parts content/includes/up
mkdir content/.private && echo 'a password' >content/.private/key.md
printf 'broken \377 text\n' >content/includes/bytes.md
mkfifo content/includes/pipe
mkdir content/docs/.parts content/docs/.git && echo 'Words of a hidden part.' >content/docs/.parts/own.md
echo 'a password' >content/docs/.git/config.md
mkdir content/docs/.parts/.deep && echo 'a password' >content/docs/.parts/.deep/key.md
