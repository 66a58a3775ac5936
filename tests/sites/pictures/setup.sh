cp -R "$ROOT/tests/sites-shared/." .
mkdir -p content/img
printf 'GIF89a\100\001\360\000' >content/img/pic.gif
