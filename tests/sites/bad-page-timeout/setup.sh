cp -R "$ROOT/tests/sites-shared/." .
# Slow in few instructions and no memory (fmod goes through 1,000 binary digits), so that the clock ends it before another
# limit; the start page, which does nothing, has the whole time.
echo '{% if page.kind == "article" then for i = 1, 4e7 do local t = 1e308 % (i + 0.5) end end %}' >>templates/page.html
