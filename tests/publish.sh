#!/bin/sh
# What of a source is published: pages that are no drafts and are due, files that something refers to, files that keep their names;
# never keys, hidden files, or what lies elsewhere.
set -eu
status=0
work=$(mktemp -d)
trap '[ -z "${pid:-}" ] || kill $pid 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
good() { echo "ok publish: $1"; }
bad() { status=1; echo "not ok publish: $1"; sed 's/^/    /' "$work/log" | tail -n 8; }
try() { # try WHAT COMMAND...
    what=$1
    shift
    if "$@" >/dev/null 2>&1; then good "$what"; else bad "$what"; fi
}
not() { ! "$@"; }
build() { "$BUILD/vramdoc" build -s content -o out "$@" >"$work/log" 2>&1; }
says() { grep -q "$1" log; }
published() { [ -f "out/$1" ]; }
holds() { grep -q "$2" out/$1; }
page() { # page PATH FRONT-MATTER-LINES [TEXT]
    mkdir -p "$(dirname "content/$1")"
    printf -- "---\ntitle: Page\n$2---\n\n%s\n" "${3:-Text.}" >"content/$1"
}
# Nowhere in the output: neither by its name nor by its bytes.
nowhere() { ! grep -rq "$1" out && [ -z "$(find out | grep "$1" || true)" ]; }
export SOURCE_DATE_EPOCH=1700000000   # 2023-11-14

# ---- pages
page index.md ''
page a.md ''
page draft.md 'draft: true\n' DRAFTED
page hidden.md 'published: false\n' DRAFTED
page other.md 'published: 2020-01-02\n'
page _drafts/idea.md '' DRAFTED
page _includes/part.md '' PARTED
page guide/_part.md '' PARTED
page guide/_index.md ''
page _posts/2023-01-02-post.md ''
page _posts/2023-12-24-late.md '' LATER
page later.md 'date: 2024-01-01\n' LATER
page embargo.md 'date: 2020-01-01\npublishDate: 2024-02-01\n' LATER
printf '+++\ntitle = "In TOML" # words\ndraft = true\n+++\n\nDRAFTED\n' >content/toml.md
printf '+++\ntitle = "Tom\\"l"\ndate = 2022-05-06T07:08:09Z\ntags = ["a", "b"]\nlong = """\nmore words\n"""\n[params]\ndraft = true\n+++\n\nWords.\n' >content/toml2.md
mkdir -p content/unreferred; echo secret >content/deploy.env; echo secret >content/id_rsa; echo LOCKED >content/Gemfile.lock
echo DATA >content/unreferred/data.csv
build --verbose || bad 'it builds'
for p in index a other toml2 guide/index post; do try "$p is published" published $p.html; done
for word in DRAFTED PARTED LATER LOCKED DATA secret deploy id_rsa Gemfile; do try "nothing of $word" nowhere $word; done
try 'front matter in TOML is read' holds toml2.html '<title>Tom&#34;l\|<title>Tom&quot;l\|<title>Tom"l'
try 'and is no text' not holds toml2.html 'draft = true'
try 'what was left out is counted' says ', 13 left out'
try 'a draft is listed' says '^left out: content/draft.md: a draft$'
try 'a page of the future' says '^left out: content/later.md: its date is to come$'
try 'a file' says '^left out: content/Gemfile.lock: nothing refers to it$'
try 'a key' says '^left out: content/id_rsa: a key$'
build; try 'also where nothing has changed' says 'nothing has changed, 13 left out'
build --verbose; try 'and listed' says '^left out: content/draft.md'
build --json; try 'in JSON' says '"left_out":13'
build --json -v; try 'with the list' says '{"left_out":"content/draft.md","why":"a draft"}'

# A page that becomes due is built though no file has changed; and back.
export SOURCE_DATE_EPOCH=1703500000   # 2023-12-25
build; try 'a post that is due is built' published late.html
build; try 'once' says 'nothing has changed'
try 'the next is not' not published later.html
export SOURCE_DATE_EPOCH=1704067200   # 2024-01-01
build; try 'a page that is due' published later.html
export SOURCE_DATE_EPOCH=1704067199   # a second earlier
build; try 'the clock goes back' not published later.html
try 'and its files are gone' not test -e out/later.md
printf 'future: true\n' >content/site.yaml
build; try 'future: true publishes all of them' published embargo.html
rm content/site.yaml
# serve --drafts shows drafts, and never in the folder that is published.
if command -v curl >/dev/null; then
    build; "$BUILD/vramdoc" serve --drafts -s content -o out --port 0 2>log & pid=$!
    for _ in $(seq 600); do url=$(sed -n 's,.*\(http://127.0.0.1:[0-9]*\)/ shows.*,\1,p' log); [ -z "$url" ] || break; sleep 0.05; done
    shows() { curl -s -m 60 "$url/$1" | grep -q "$2"; }
    try 'serve --drafts shows a draft' shows draft.html DRAFTED
    try 'one in _drafts' shows _drafts/idea.html DRAFTED
    try 'a page of the future' shows embargo.html LATER
    try 'but no part of a page' not shows _includes/part.html PARTED
    try 'not in the output' nowhere DRAFTED
    kill $pid; wait $pid 2>/dev/null || true; pid=''
else echo 'skip publish: serve --drafts: curl is not there'; fi

# ---- files that something refers to
svg='<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"/>'
fresh() { rm -rf content out .out.vramdoc-*; mkdir content; page index.md '' "${1:-Text.}"; }
fresh '[a table](data/table.csv), ![a picture](pic.svg), [settings](compose.yaml), [a sheet](css/main.css)'
page other.md 'image: cover.svg\naudio: talk.mp3\n'
mkdir -p content/data content/css/img content/unused
echo 'a,b' >content/data/table.csv; echo "$svg" >content/pic.svg; echo 'x: 1' >content/compose.yaml
for name in cover unused/x; do echo "$svg<!-- $name -->" >content/$name.svg; done
echo sound >content/talk.mp3; echo "$svg<!-- site -->" >content/site.svg
printf 'image: site.svg\n' >content/site.yaml
printf '@import "more.css"; /* url(comment.svg) */ a { background: url( "img/a b.svg" ) } b { content: "url(string.svg)"; src: url(%%69mg/f.svg?x#y) } i { background: url(data:,x) url(#here) url(https://example.org/x.svg) }\n' >content/css/main.css
echo '@import url(main.css); a { background: url(../unused/y.svg) }' >content/css/more.css
echo "$svg<!-- 1 -->" >'content/css/img/a b.svg'; echo "$svg<!-- 2 -->" >content/css/img/f.svg; echo "$svg<!-- 3 -->" >content/unused/y.svg
build -v || bad 'files that are referred to'
one() { [ "$(ls out/assets | grep -c "^$1\.[0-9a-f]*\.$2$")" = 1 ]; }
for x in 'table csv' 'pic svg' 'compose yaml' 'main css' 'more css' 'cover svg' 'talk mp3' 'site svg' 'a b svg' 'f svg' 'y svg'; do
    try "${x% *}.${x##* } is published" one "${x% *}" "${x##* }"
done
try 'what nothing refers to is not' not one x svg
try 'and listed' says '^left out: content/unused/x.svg: nothing refers to it$'
try 'a stylesheet has the new addresses' grep -q 'url( "a b\.[0-9a-f]\{8\}\.svg" ).*url(f\.[0-9a-f]\{8\}\.svg?x#y)' out/assets/main.*.css
try 'and its others' grep -q 'url(comment.svg).*"url(string.svg)".*url(data:,x) url(#here) url(https://example.org/x.svg)' out/assets/main.*.css
sheet=$(ls out/assets/main.*.css)
"$BUILD/vramdoc" check out >log 2>&1 || true; try 'what a stylesheet refers to is linked' not says 'assets/[fa].*file-orphan'
echo "$svg<!-- 4 -->" >content/css/img/f.svg; build
try 'a file of a stylesheet that changes changes its address' test ! -e "$sheet"
rm -rf clean; "$BUILD/vramdoc" build -s content -o clean -f >log 2>&1; try 'as in a clean build' diff -r out clean
echo "$svg<!-- 5 -->" >content/pic.svg; build; try 'a picture that changes renders its page alone' says ' 1 rendered'
echo "$svg<!-- 6 -->" >content/unused/x.svg; build; try 'one that nothing refers to renders none' says ' 0 rendered'
page index.md ''; build; try 'what is no longer referred to goes' not one pic svg
rm -rf clean; "$BUILD/vramdoc" build -s content -o clean -f >log 2>&1; try 'and all is as in a clean build' diff -r out clean
echo 'a { background: url(absent.svg) }' >content/css/bad.css; page index.md '' '[sheet](css/bad.css)'
if build --strict || ! says '^content/css/bad.css:1:21: error: .*absent.svg \[link-broken\]$'; then bad 'a broken address in a stylesheet'; else good 'a broken address in a stylesheet'; fi

# ---- files that are never published
fresh
mkdir -p content/.hidden content/ok content/.well-known elsewhere; echo secret >elsewhere/file; echo secret >elsewhere/page.md
for f in .env .env.local deploy.env prod.ENV id_rsa id_ed25519.pub cert.pem server.key .hidden/x .htpasswd; do echo secret >"content/$f"; done
ln -s "$work/elsewhere/file" content/link.txt; ln -s "$work/elsewhere/file" content/link.svg; ln -s ../elsewhere content/folder; ln -s /etc/passwd content/passwd
ln -s "$work/elsewhere/page.md" content/page.md; echo fine >content/ok/real.txt; ln -s ok/real.txt content/inner.txt
echo 'return {}' >content/page.lua
build || bad 'it builds though they are there'
try 'nothing of them is published' nowhere secret
try 'nor of /etc/passwd' nowhere root:x:
try 'a page that lies elsewhere is named' says 'content/page.md: warning: .*\[file-outside\]'
try 'so is a folder' says 'content/folder: warning: .*\[file-outside\]'
ln -s gone content/lost; build --verbose || true; rm content/lost
try 'a link that leads nowhere is listed as that' says '^left out: content/lost: a link that leads nowhere$'
try 'and one that leads out as that' says '^left out: content/folder: a link that leads out of the content folder$'
for f in .env .env.local deploy.env prod.ENV id_rsa id_ed25519.pub cert.pem server.key .hidden/x .htpasswd link.txt folder/file passwd folder/page.md page.lua; do
    page index.md '' "Text, and [a link]($f)."
    # An error on a site of one's own; in a folder without settings one broken link of others.
    for level in error warning; do
        rm -f content/site.yaml
        [ $level = warning ] || echo 'title: Site' >content/site.yaml
        build && rc=warning || rc=error
        if [ $rc = $level ] && says "^content/index.md:5:20: $level: link to a file that is not published: $f: .*\[link-private\]"
        then good "a link to $f: $level"
        else bad "a link to $f: no $level"; fi
        try "and $f is not there" nowhere secret
    done
done
for f in ../elsewhere/file /../elsewhere/file; do
    page index.md '' "Text, and [a link]($f)."
    if build --strict || ! says 'link-escapes'; then bad "a link to $f"; else good "a link to $f"; fi
done
page index.md '' '![a picture](link.svg)'; if build --strict || ! says link-private; then bad 'a picture that lies elsewhere'; else good 'a picture that lies elsewhere'; fi
page index.md 'image: server.key\n'; if build --strict || ! says link-private; then bad 'a key as the picture of a page'; else good 'a key as the picture of a page'; fi
page index.md 'audio: link.txt\n'; if build --strict || ! says link-private; then bad 'a sound that lies elsewhere'; else good 'a sound that lies elsewhere'; fi
page index.md '' '[a link](inner.txt) [two](id_card.png) [a missing one](.env.none)'; echo p >content/id_card.png
if build --strict || ! says 'index.md:5:56: error: link to a page or file that does not exist: .env.none'; then bad 'a hidden file that is not there'; else good 'a hidden file that is not there'; fi
page index.md '' '[a link](inner.txt) [two](id_card.png)'
build; try 'a link that stays inside is followed' grep -rq fine out/assets
try 'a picture is no key' one id_card png
printf -- '---\ntitle: D\ndraft: true\n---\n' >content/drafted.md; page index.md '' '[a draft](drafted.md)'
if build --strict || ! says 'drafted.md: a draft'; then bad 'a link to a draft'; else good 'a link to a draft'; fi

# ---- files that keep their names
for folder in static public files; do
    fresh '[a](/download/x.txt) [b](y.txt)'
    [ $folder != files ] || printf 'static: files\n' >content/site.yaml
    mkdir -p content/$folder/download content/$folder/.well-known content/$folder/.git content/docs/.well-known
    for f in download/x.txt y.txt .well-known/security.txt .nojekyll .hidden .git/config manifest.webmanifest manifest.json; do echo "$f" >"content/$folder/$f"; done
    [ $folder = public ] || printf '# Raw\n' >content/$folder/notes.md
    for f in CNAME robots.txt ads.txt _headers _redirects favicon.ico favicon.svg; do echo "of the root: $f" >"content/$f"; done
    echo docs >content/docs/.well-known/docs; echo no >content/docs/.other
    build -v || bad "$folder/"
    same() { cmp "content/$1" "out/$2"; }
    for f in download/x.txt y.txt .well-known/security.txt .nojekyll manifest.webmanifest manifest.json; do try "$folder/$f keeps its name" same $folder/$f $f; done
    [ $folder = public ] || try "$folder/notes.md is no page" same $folder/notes.md notes.md
    for f in CNAME robots.txt ads.txt _headers _redirects favicon.ico favicon.svg; do try "$f at the root, beside $folder/" same $f $f; done
    try 'and .well-known of docs/' same docs/.well-known/docs .well-known/docs
    try 'links lead there' holds index.html 'href="download/x.txt".*href="y.txt"'
    for f in .hidden .git .other; do try "$f does not" not test -e out/$f; done
    build; try 'nothing has changed then' says 'nothing has changed'
    "$BUILD/vramdoc" check out >log 2>&1 || true; try 'no check wants links to them' not says file-orphan
    echo changed >content/$folder/y.txt; build; try 'a change is copied' same $folder/y.txt y.txt
    try 'and nothing else but the manifest' says ' 2 files written'
    echo key >content/$folder/server.key
    if build || ! says "content/$folder/server.key: error: .*\[file-private\]"; then bad "a key in $folder/"; else good "a key in $folder/"; fi
    rm content/$folder/server.key; ln -s /etc/passwd content/$folder/passwd; build
    try "a link out of $folder/ is not followed" not test -e out/passwd
    try 'but named' says "content/$folder/passwd: warning: .*\[file-outside\]"
    rm content/$folder/passwd content/$folder/y.txt; page index.md ''; build
    try 'what is gone goes' not test -e out/y.txt
    rm -rf clean; "$BUILD/vramdoc" build -s content -o clean -f >log 2>&1; try 'as in a clean build' diff -r out clean
    echo x >content/$folder/index.html
    if build --strict || ! says 'url-duplicate'; then bad "a page's address in $folder/"; else good "a page's address in $folder/"; fi
    rm content/$folder/index.html; echo x >content/$folder/vramdoc.json
    if build --strict || ! says 'url-duplicate'; then bad "the manifest's address in $folder/"; else good "the manifest's address in $folder/"; fi
done
fresh; mkdir content/public; printf -- '---\ntitle: Of a section\n---\n' >content/public/index.md; build
try 'a section called public is one' published public/index.html
fresh; ln -s /etc content/static; build || true; try 'a static folder that is a link is none' not test -e out/passwd
for folder in /etc ../elsewhere link; do
    fresh; ln -s ../elsewhere content/link; printf 'static: %s\n' $folder >content/site.yaml
    if build || ! says 'setting-value'; then bad "static: $folder"; else good "static: $folder"; fi
done
fresh; mkdir content/static; echo x >content/static/x; printf 'ignore: [static]\n' >content/site.yaml; build
try 'a static folder can be left out' not test -e out/x
exit $status
