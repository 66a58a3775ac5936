cp -R "$ROOT/tests/sites-shared/." .
echo 'not of this tree' >secret.mdx
ln -s ../../../../../../secret.mdx content/src/content/docs/parts/_link.mdx
