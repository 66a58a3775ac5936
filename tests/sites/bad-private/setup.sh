cp -R "$ROOT/tests/sites-shared/." .
# What git does not keep as it is meant here: a link that leads elsewhere, and a key.
mkdir -p elsewhere
printf -- '---\ntitle: Elsewhere\n---\n' >elsewhere/page.md
ln -s ../elsewhere content/elsewhere
mkdir -p content/.notes && echo plan >content/.notes/plan.md
echo secret >content/server.key
mkdir -p content/static && echo secret >content/static/server.key
ln -s server.key content/numbers.txt
mkdir content/.git && echo secret >content/.git/config && ln -s .git content/history
