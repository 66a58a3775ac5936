cp -R "$ROOT/tests/sites-shared/." .
mkdir -p content/docs/rest
for n in 1 2 3 4 5 6 7 8 9; do printf '# Page %s\n' $n >content/docs/rest/$n.md; done
echo '<ul>{{ page.contents_html }}</ul>' >>templates/page.html
