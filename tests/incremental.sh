#!/bin/sh
# Whatever the history of edits, the number of processes and the order of work: the site is the one that a clean build makes.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
BUILD=${BUILD:-$ROOT/build}
work=$(mktemp -d "${TMPDIR:-/tmp}/vramdoc-incremental.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp -R "$ROOT/tests/sites-shared/." "$work"
cd "$work"
failed=0 seed=${SEED:-1}

# pick N: a number from 0 to N-1 in $n, the same in every run of the same seed.
pick() { seed=$(((seed * 1103515245 + 12345) % 2147483648)); n=$((seed / 65536 % $1)); }

page() { # page LANG NAME: a page with a random body and a link to another
    pick 900; body=$n; pick 12
    mkdir -p "content/$1/$(dirname "$2")"
    printf -- '---\ntitle: %s %s %s\n---\n\nIntro %s.\n\n## Part\n\n[to](/d%s)\n\n## End {#end}\n\n- a\n- b %s\n' \
        "$2" "$1" "$body" "$body" "$n" "$body" >"content/$1/$2.md"
}

record() { # record N: a measurement of one of two GPUs
    id=$1; pick 2; device=$n; pick 100
    mkdir -p content/measurements
    sed -e "s/\"card-b\"/\"r$id\"/; s/\"Card B\"/\"Card $device\"/; s/: 512$/: $n/" \
        "$ROOT/tests/sites/charts/content/measurements/card-b.json" >"content/measurements/r$id.json"
}

# Writes a file without a new date, so that only its time of change tells, where its size does not either.
again() { touch -r "$1" date; cat >"$1"; touch -r date "$1"; }

vram() { "$BUILD/vramdoc" build -q -c site.yaml -s content -t templates --i18n i18n "$@"; }

for l in en de es; do for i in 0 1 2 3 4 5 6 7 8 9 10 11; do page $l d$i; done; done
printf 'git: false\ntitle: One\nbase_url: https://example.org\n' >site.yaml
mkdir -p content/en/cards
printf -- '---\ntitle: About {gpu}\neach: gpu\n---\n\n`{lua} records(gpu)`\n' >content/en/cards/gpu.md
printf -- '---\ntitle: Cards\n---\n\n`{lua} gpus()`\n' >content/en/cards/index.md
mkdir -p content/en/beside
printf -- '---\ntitle: Beside\n---\n\nIt is `{lua} n`.\n' >content/en/beside/index.md
printf 'return {n = require "part"(contents("data.txt"))}\n' >content/en/beside/page.lua
printf 'return function(text) return computed(#text + 0, "", "data.txt") end\n' >content/en/beside/part.lua
echo 1 >content/en/beside/data.txt
mkdir -p content/en/another
printf -- '---\ntitle: Another\n---\n\nIt is `{lua} n`.\n' >content/en/another/index.md
printf 'return {n = require "en/beside/part"(contents("en/beside/data.txt"))}\n' >content/en/another/page.lua
echo '<svg xmlns="http://www.w3.org/2000/svg"/>' >content/en/pic.svg
: >log
# A layout whose script is written only while some page has that layout; a stylesheet that all pages ask for.
sed 's,</head>,{% once "language" %}<link rel="stylesheet" href="{{ asset("style.css") }}">{% end %}&,' templates/page.html >x
mv x templates/page.html
sed 's,</head>,<script src="{{ asset("wide.js") }}"></script><link rel="stylesheet" href="{{ asset("wide.css") }}">&,' \
    templates/page.html >templates/wide.html
echo 'b { background: url(mark.svg) }' >templates/wide.css
echo '<svg xmlns="http://www.w3.org/2000/svg"/>' >templates/mark.svg
# Every field that a page has, as view_page.c lists them: what its digest forgets is old here after an edit.
fields=$(sed -n '/^static const struct view_field fields/,/^};/s/^    {"\([a-z_]*\)",.*/\1/p' "$ROOT/gen/site/template/view_page.c")
[ "$(echo "$fields" | wc -l)" -ge 40 ] || { echo "not ok incremental: view_page.c lists no fields"; exit 1; }
{
    cat <<'END'
{% local function flat(v)
    if type(v) ~= "table" then return v == nil and "-" or v end
    local keys, out = {}, {}
    for k in pairs(v) do keys[#keys + 1] = k end
    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
    for i, k in ipairs(keys) do out[i] = k .. "=" .. tostring(flat(v[k])) end
    return table.concat(out, " ")
end %}
END
    for field in $fields; do echo "<div>$field: {{ flat(page.$field) }}</div>"; done
} >fields.html
for name in page wide; do sed -i '/<\/body>/{
e cat fields.html
}' templates/$name.html; done
echo '// 0' >templates/wide.js; echo '// it is not asked for' >templates/other.js

# The keys of front matter that a page may have at any time, with their types, as front.def lists them: what another page shows
# of it is old there after an edit, if that page's digest forgets it. The others move a page or take it out of the site.
keys=$(sed -n 's/^X(\([a-zA-Z]*\), *\([A-Z]*\), .*/\1:\2/p' "$ROOT/gen/text/front.def" | grep -Ev '^(lang|key|each|layout|publishDate|published|draft):')
count=$(echo "$keys" | wc -l)
[ "$count" -ge 14 ] || { echo "not ok incremental: front.def lists no keys"; exit 1; }

front() { # front FILE: gives a page another value of a random key
    pick "$count"; key=$(echo "$keys" | sed -n "$((n + 1))p"); type=${key#*:} key=${key%%:*}; pick 9
    case $key:$type in
    image:*) value=/pic.svg ;;
    slug:*) value=s$n ;;
    *:STR) value="word $n" ;;
    *:INT) value=$n ;;
    *:DATE) value=2020-01-0$((n + 1)) ;;
    *:LIST) value="[/old$n-$(basename "$1" .md)]" ;;
    *:BOOL) [ "$n" -gt 4 ] && value=true || value=false ;;
    *) echo "not ok incremental: front.def has a type that this test does not know: $type"; exit 1 ;;
    esac
    [ -f "$1" ] || return 0
    sed -e "2,/^---/{/^$key:/d}" -e "1a $key: $value" "$1" >x && mv x "$1"
}

# One edit of a kind chosen at random. Documents d0 to d11 stay in English, so that links to them are never broken.
edit() {
    pick 28; kind=$n; pick 12; d=d$n; pick 2
    if [ "$n" = 0 ]; then l=de; else l=es; fi
    case $kind in
    0 | 1 | 2) page en $d ;;
    3 | 4) page $l $d ;;
    5) rm -f "content/$l/$d.md" ;;
    6) pick 5; page en "extra$n" ;;
    7) rm -f content/en/extra*.md ;;
    8) pick 3; page $l "deep/er/p$n" ;;
    9) rm -rf "content/$l/deep" ;;
    10) pick 9; sed "s/^title:.*/title: Site $n/" site.yaml >x && mv x site.yaml ;;
    11) pick 2; if [ "$n" = 0 ]; then echo 'fallback: true' >>site.yaml; else sed '/^fallback/d' site.yaml >x && mv x site.yaml; fi
        sort -u site.yaml >x && mv x site.yaml ;;
    12) pick 9; echo "body { margin: $n px }" | again templates/style.css ;;
    13) pick 9; echo "<!-- $n -->" >>content/en/pic.svg; echo '![p](pic.svg)' >>"content/en/$d.md" ;;
    14 | 15) pick 3; record "$n" ;;
    16) pick 3; rm -f "content/measurements/r$n.json" ;;
    17) pick 2; [ "$n" = 0 ] || page $l $d; sed 's/^title:/layout: wide\ntitle:/' "content/en/$d.md" >x && mv x "content/en/$d.md" ;;
    18) pick 9; echo "let x = $n" | again templates/wide.js ;;
    19) pick 9; echo "$n" >>content/en/beside/data.txt ;;
    20) pick 9; printf 'return function(text) return computed(#text + %s, "", "data.txt") end\n' "$n" >content/en/beside/part.lua ;;
    21 | 22 | 23 | 24) front "content/en/$d.md" ;;
    25) front "content/$l/$d.md" ;;
    26) pick 9; sed "s/\"404.title\": \"[^\"]*\"/\"404.title\": \"Lost $n\"/" "$ROOT/tests/sites-shared/i18n/$l.json" | again "i18n/$l.json" ;;
    27) pick 9; echo "<svg xmlns='http://www.w3.org/2000/svg' id='i$n'/>" | again templates/mark.svg ;;
    esac
}

step=0
while [ $step -lt "${STEPS:-50}" ]; do
    edit
    pick 3; jobs=$((n + 1))
    if ! vram -o out -j $jobs >>log 2>&1; then echo "not ok incremental: step $step (kind $kind) does not build"; failed=1; break; fi
    rm -rf clean .clean.*
    if ! vram -o clean -f -j 1 --shuffle >>log 2>&1; then echo "not ok incremental: step $step (kind $kind) no clean build"; failed=1; break; fi
    if ! diff -r out clean >differs; then
        echo "not ok incremental: step $step (kind $kind, seed ${SEED:-1}) differs: $(head -c 300 differs | tr '\n' ' ')"
        failed=1
        break
    fi
    step=$((step + 1))
done
[ $failed -ne 0 ] || echo "ok incremental: $step edits, each the same as a clean build"

# A file that someone takes away or adds is noticed by its folder.
rm out/en/d1.html; echo foreign >out/en/foreign.html
vram -o out >>log 2>&1
if grep -q foreign out/en/foreign.html; then echo "ok incremental: a file of somebody else stays"
else echo "not ok incremental: a file of somebody else is gone"; failed=1; fi
rm out/en/foreign.html; vram -o out >>log 2>&1
if diff -r out clean >differs; then echo "ok incremental: a damaged site is repaired"
else echo "not ok incremental: damage stays: $(head -c 300 differs)"; failed=1; fi

# A damaged cache is not believed.
for cut in 0 7 40 2000; do
    head -c $cut .out.vramdoc-cache/cache >x; cp x .out.vramdoc-cache/cache
    page en d2 && vram -o out >>log 2>&1
done
rm -rf clean; vram -o clean -f >>log 2>&1
if diff -r out clean >differs; then echo "ok incremental: a damaged cache is rebuilt"
else echo "not ok incremental: a damaged cache is believed: $(head -c 300 differs)"; failed=1; fi

# Errors leave the site as it was; the repair is built on it.
cp -R out before; echo '[x](gone.md)' >>content/en/d3.md
if vram -o out --strict >>log 2>&1; then echo "not ok incremental: a broken link builds"; failed=1; fi
if diff -r out before >differs; then echo "ok incremental: the last good site stays"
else echo "not ok incremental: an error changed the site: $(head -c 300 differs)"; failed=1; fi
page en d3; vram -o out >>log 2>&1; rm -rf clean; vram -o clean -f >>log 2>&1
if diff -r out clean >differs; then echo "ok incremental: the next build repairs"
else echo "not ok incremental: not repaired: $(head -c 300 differs)"; failed=1; fi

# What there is to say of catalogs and stylesheets is said by builds that do not read them again, too.
said() { "$BUILD/vramdoc" build -c site.yaml -s content -t templates --i18n i18n "$@" 2>&1 | grep ': warning: '; }
sed 's/, "alert.note": "[^"]*"//' "$ROOT/tests/sites-shared/i18n/de.json" >i18n/de.json
echo 'body { background: url(gone.svg) }' >templates/style.css
vram -o out >>log 2>&1; page en d6
said -o out >first; said -o clean -f >second
if cmp -s first second && grep -q catalog-missing first && grep -q 'gone\.svg' first; then echo "ok incremental: messages about catalogs and templates stay"
else echo "not ok incremental: messages about catalogs and templates: $(diff first second | head -c 300)"; failed=1; fi

# A page is made of the files that it includes, too.
mkdir -p book/src book/parts
printf '[book]\ntitle = "Book"\n' >book/book.toml
printf -- '- [One](one.md)\n- [Two](two.md)\n' >book/src/SUMMARY.md
printf '# One\n\n{{#include ../parts/a.md}}\n' >book/src/one.md
printf '# Two\n\nWords.\n' >book/src/two.md
echo 'The old words.' >book/parts/a.md
included() { "$BUILD/vramdoc" build -q -s book "$@" >>log 2>&1; }
included -o book-out
echo 'The new words.' >book/parts/a.md
included -o book-out; included -o book-clean -f
if diff -r book-out book-clean >differs && grep -q 'The new words' book-out/index.html; then echo "ok incremental: a page changes with what it includes"
else echo "not ok incremental: a page that includes a file is old: $(head -c 300 differs)"; failed=1; fi

# Notes that two folders share make languages of them: each page has its address from another.
mkdir -p notes/en notes/de
for name in en/One en/Two de/Eins de/Zwei; do echo "$name" >"notes/$name.md"; done
noted() { "$BUILD/vramdoc" build -q -s notes "$@" >>log 2>&1; }
noted -o notes-out
for l in en de; do echo "$l" >notes/$l/Both.md; done
if noted -o notes-out && noted -o notes-clean -f && diff -r notes-out notes-clean >differs && [ -f notes-out/de/search.js ]; then
    echo "ok incremental: folders become languages"
else echo "not ok incremental: folders that become languages: $(head -c 300 differs)"; failed=1; fi
echo other >notes-out/de/New.html; echo new >notes/de/New.md
if noted -o notes-out || [ "$(cat notes-out/de/New.html)" != other ]; then echo "not ok incremental: a file of others is written over"; failed=1
else echo "ok incremental: a file of others stays"; fi

# A link that leads nowhere changes no file, and is an error all the same.
ln -s nowhere content/en/dangling
if vram -o out >>log 2>&1; then echo "not ok incremental: a dangling link is taken for no change"; failed=1
else echo "ok incremental: a dangling link is an error in an unchanged site"; fi
rm content/en/dangling

# Killed at any moment, the next build makes it good.
i=0
while [ $i -lt 12 ]; do
    page en d4; page de d5
    echo "body { padding: $i px }" >templates/style.css
    vram -o out >>log 2>&1 & pid=$!
    sleep "0.00$((i % 10))"; kill -9 $pid 2>/dev/null || true; wait $pid 2>/dev/null || true
    i=$((i + 1))
done
sleep 0.2
vram -o out >>log 2>&1 || true; rm -rf clean; vram -o clean -f >>log 2>&1
if diff -r out clean >differs; then echo "ok incremental: killed builds are repaired"
else echo "not ok incremental: a killed build stays: $(head -c 300 differs)"; failed=1; fi
[ $failed -eq 0 ] || tail -5 log
exit $failed
