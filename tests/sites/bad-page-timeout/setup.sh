cp -R "$ROOT/tests/sites-shared/." .
echo '{% if page.kind == "article" then for i = 1, 1e8 do end end %}' >>templates/page.html
