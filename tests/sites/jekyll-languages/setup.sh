cp -R "$ROOT/tests/sites-shared/." .
mkdir -p content/en/_posts/.notes && echo plan >content/en/_posts/.notes/plan.md
