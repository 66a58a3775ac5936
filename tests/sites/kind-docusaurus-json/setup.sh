cp -R "$ROOT/tests/sites-shared/." .
# A site of more than a dozen pages shows its contents.
for n in 01 02 03 04 05 06 07 08 09 10 11 12 13; do echo "# Page $n" >content/docs/page-$n.md; done
sed -i 's|^<h1>|{% for _, c in ipairs(page.contents) do %}\n<i class="{{ c.depth }}">{{ c.title }}</i>\n{% end %}\n<h1>|' templates/page.html
