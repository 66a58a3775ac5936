cp -R "$ROOT/tests/sites-shared/." .
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do printf '# Page %s\n' $n >content/docs/$n.md; done
echo '<ul>{{ page.contents_html }}</ul>' >>templates/page.html
