#!/bin/sh
# The project's own site: it builds under --strict without a warning about its content, passes its check, and comes out
# the same from another folder, another user's umask, time zone and SOURCE_DATE_EPOCH.
set -eu
status=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=1700000000
export SOURCE_DATE_EPOCH
try() {
    what=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok site: $what"
    else status=1; echo "not ok site: $what"; sed 's/^/    /' "$work/log" | head -n 20; fi
}
site=$work/none
strictly() { site=$(sh tests/own_site.sh "$work"); }
try 'it builds under --strict' strictly
try 'it passes its check' vramdoc check --strict -q "$site"
# Tables, charts, sources and notes too: what a document does not translate comes from a catalog.
make -s BUILD="${MAKE_BUILD:-build}" MODE="${MODE:-release}" "${MAKE_BUILD:-build}/tests/calc/lua" >&2
english() { (cd "$site" && find ??* -name '*.html' -path '*/*' ! -path 'en/*' -exec "$BUILD/tests/calc/lua" "$ROOT/tests/english.lua" . {} +); }
try 'no page in another language has an English sentence' english
mkdir -p "$work/mixed/en" "$work/mixed/de"
for lang in en de; do echo '<p>rows by what is nearest</p><p><code>a b and more words</code></p>' >"$work/mixed/$lang/a.html"; done
mixed() { ! "$BUILD/tests/calc/lua" tests/english.lua "$work/mixed" de/a.html >"$work/found" && grep -qFx 'de/a.html: rows by what is nearest' "$work/found" && [ "$(wc -l <"$work/found")" -eq 1 ]; }
try 'and one that has is found' mixed
# Arabic goes from right to left, and takes along a number and the unit behind it, or the terms of a product.
direction() { find content i18n/ar.json i18n/calculator/ar.json -name 'ar.*' ! -name '*.source.json' -exec "$BUILD/tests/calc/lua" tests/direction.lua {} +; }
try 'no number on an Arabic page is turned round' direction
printf '| DP × TP × PP | الطول × العرض |\n|---|---|\n| 8 × 1 × 1 | ⁦8 × 2⁩ |\n\nفي 12 GB و4070 Ti و`a`²، ⁦12 GB⁩ وRTX 4070 Ti 8 × 1,024\n' >"$work/turned.md"
echo '  "card.served": "{sequences} × {length} رمز",' >"$work/turned.json"
turned() { ! "$BUILD/tests/calc/lua" tests/direction.lua "$work/turned.md" "$work/turned.json" >"$work/found" && [ "$(wc -l <"$work/found")" -eq 7 ]; }
try 'and one that is is found' turned
for lang in en es de fr hi ar ja zh-Hans; do
    try "a start page in $lang" test -s "$site/$lang/index.html"
done
if [ "${MODE:-release}" != release ]; then
    echo 'skip site: the same bytes elsewhere: a sanitized build of the site takes minutes, and check.sh compares three'
    exit $status
fi
# Two copies outside of the repository, where no git gives the date of the last change, with a language whose catalog has no words of
# the calculator: they are English there, in its script too.
place() {
    mkdir -p "$1"
    cp -R content "$1/content"
    sed -i 's/^languages: \[/&pl, /' "$1/content/site.yaml"
    for name in templates i18n; do ln -s "$ROOT/$name" "$1/$name"; done
}
place "$work/a"
place "$work/else where/deep"
in_a() { (cd "$work/a" && umask 022 && vramdoc build -q -c content/site.yaml -s content -o out); }
elsewhere() { (cd "$work/else where/deep" && umask 077 && SOURCE_DATE_EPOCH=1 TZ=Asia/Kolkata LC_ALL=C vramdoc build -q -j 1 -c content/site.yaml -s content -o ../out); }
try 'it builds in another folder' in_a
try 'and in one with another depth, time zone, locale and SOURCE_DATE_EPOCH' elsewhere
try 'the same bytes' diff -r "$work/a/out" "$work/else where/out"
more() { grep -q '"MiB": "MiB"' "$work/a/out/pl/calculator.html"; }
try 'it builds with a language more, whose words are not all there' more
exit $status
