cp -R "$ROOT/tests/sites-shared/." .
# A minute and more in few instructions, so that the clock ends it; the start page, which does nothing, has 2 seconds.
echo '{% if page.kind == "article" then local s = ("x"):rep(100000) for i = 1, 2e7 do local t = s .. i end end %}' >>templates/page.html
