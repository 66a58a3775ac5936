#!/bin/sh
# The cache of a build: damage of any kind and the file of another program are found out, and the site is in each case the one
# that a clean build makes.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
BUILD=${BUILD:-$ROOT/build}
work=$(mktemp -d "${TMPDIR:-/tmp}/vramdoc-cache.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp -R "$ROOT/tests/sites-shared/." "$work"
cd "$work"
status=0
good() { echo "ok cache: $1"; }
bad() { status=1; echo "not ok cache: $1"; tail -n 5 log; }

program=$BUILD/vramdoc
vram() { "$program" build -c site.yaml -s content -t templates --i18n i18n "$@" >log 2>&1; }
folder=.out.vramdoc-cache cache=.out.vramdoc-cache/cache
size() { wc -c <"$cache"; }
page() { printf -- '---\ntitle: %s\n---\n\n## Part\n\nText %s, [to](/d0#part).\n' "$2" "$3" >"content/$1/$2.md"; }
same() { rm -rf clean && vram -o clean -f && diff -r out clean >log; }

mkdir -p content/en content/de
n=0
while [ $n -lt 60 ]; do page en d$n 0; page de d$n 0; n=$((n + 1)); done
printf 'git: false\ntitle: One\nbase_url: https://example.org\n' >site.yaml
vram -o out

page en d1 1; vram -o out; vram -o out && grep -q 'nothing has changed' log && good 'a change is known' || bad 'a change is not known'
page en d1 2; page de d7 2; vram -o out && grep -q ' 4 rendered' log && same && good 'more changes' || bad 'more changes'

# A copy of the program with its date is the same program; one with another date is not, nor is one with another library.
cp -p "$program" other; program=./other
vram -o out && grep -q 'nothing has changed' log && good 'a copy of the program believes it' || bad 'a copy of the program does not believe it'
touch -d '2001-02-03 04:05:06.7' other
vram -o out && grep -q ' 122 rendered' log && same && good 'another program builds again' || bad 'another program believes it'
library=$(ldd other | sed -n 's/.*=> \(.*libyaml[^ ]*\).*/\1/p')
cp "$library" "${library##*/}"; vram -o out
LD_LIBRARY_PATH=. "$program" build -c site.yaml -s content -t templates --i18n i18n -o out >log 2>&1 && grep -q ' 122 rendered' log \
    && good 'another library builds again' || bad 'another library believes it'
program=$BUILD/vramdoc
vram -o out

# Cut anywhere, a bit flipped anywhere, or bytes that were never a cache: built again.
try() { # try WHAT: builds after the cache was damaged, with a page that changed
    tried=$((tried + 1))
    page en d2 "$tried"
    if ! vram -o out; then bad "$1: no build"; wrong=1; return; fi
    grep -q ' 122 rendered' log || { bad "$1: believed"; wrong=1; }
    rm -rf $folder; cp -R kept $folder
}
flip() { # flip FILE AT BIT
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    { head -c "$2" "$1"; printf "\\$(printf %03o $((byte ^ 1 << $3)))"; tail -c +$(($2 + 2)) "$1"; } >flipped
    ! cmp -s flipped "$1" && cat flipped >"$1"
}
tried=0 wrong=0 cut=0
vram -o out -f; cp -R $folder kept; end=$(size)
page en d2 believed; vram -o out && grep -q ' 2 rendered' log && good 'what is whole is believed' || bad 'what is whole is not believed'
rm -rf $folder; cp -R kept $folder
while [ $cut -lt "$end" ]; do
    head -c $cut kept/cache >$cache; try "cut at $cut"
    cut=$((cut + 4096))
done
for cut in 1 15 16 17 23 24 25 $((end - 1)) $((end - 20)); do head -c "$cut" kept/cache >$cache; try "cut at $cut"; done
[ $wrong -ne 0 ] || good "cut at $tried places"

seed=${SEED:-1} tried=0 wrong=0
while [ $tried -lt 40 ]; do
    seed=$(((seed * 1103515245 + 12345) % 2147483648)); at=$((seed % end))
    [ $((tried % 4)) -ne 0 ] || at=$((tried * 2))   # its first bytes, too
    flip $cache $at $((seed / 65536 % 8)) || { bad "byte $at is not flipped"; wrong=1; break; }
    try "a bit of byte $at"
done
[ $wrong -ne 0 ] || good "a bit flipped at $tried places"

tried=0 wrong=0
LC_ALL=C awk 'BEGIN { for (s = 1; n < 60000; n++) { s = s * 16807 % 2147483647; printf "%c", int(s / 1024) % 256 } }' >$cache; try 'random bytes'
head -c 60000 /dev/zero >$cache; try 'zeros'
: >$cache; try 'nothing'
rm $cache; mkdir $cache; try 'a folder'
[ $wrong -ne 0 ] || good 'bytes that were never a cache'

# The texts of all pages, which a search index is made of again when one of its pages changes.
texts() { set -- $folder/texts-*; [ $# -eq 1 ] && [ -f "$1" ] && echo "$1"; }
tried=0 wrong=0 all=$(wc -c <"$(texts)")
for at in 0 1 9 1000 $((all / 2)) $((all - 1)); do flip "$(texts)" $at 3; try "a bit of byte $at of the texts"; done
for cut in 0 1 8 1000 $((all - 1)); do head -c $cut kept/texts-* >"$(texts)"; try "texts cut at $cut"; done
rm "$(texts)"; try 'no texts'
at=$(texts); rm "$at"; mkdir "$at"; try 'a folder as texts'
[ $wrong -ne 0 ] || good "texts damaged in $tried ways"
vram -o out; touch "$(texts)"; page en d2 touched; vram -o out && grep -q ' 2 rendered' log && same && good 'texts with another date are believed' ||
    bad 'texts with another date are not believed'
page en d3 7; vram -o out; before=$(texts)
echo 'what a killed build has added' >>"$before"
page en d3 8; vram -o out && grep -q ' 2 rendered' log && [ "$(texts)" = "$before" ] && texts >log && same &&
    good 'what a killed build has added to the texts is cut off' || bad 'texts that a killed build has added to'
page en d4 9; echo '[x](gone.md)' >>content/en/d4.md
! vram -o out --strict && page en d4 10 && vram -o out && grep -q ' 2 rendered' log && texts >log && same &&
    good 'a build that fails leaves the last texts' || bad 'a build that fails loses texts'

# A long page that changes again and again does not make the file grow without an end.
long() { page en d5 "$1"; LC_ALL=C awk -v s="$1" 'BEGIN { for (; n < 60000; n++) { s = (s * 16807 + 11) % 2147483647; print "w" s % 5000 } }' >>content/en/d5.md; }
long 1; vram -o out; one=$(wc -c <"$(texts)"); n=2
while [ $n -lt 14 ]; do long $n; vram -o out || bad 'a long page'; n=$((n + 1)); done
[ "$(wc -c <"$(texts)")" -lt $((4 * one + 1048576)) ] && same && page en d6 1 && vram -o out && grep -q ' 2 rendered' log && same &&
    good 'texts of pages that have changed are thrown away' || bad "texts grow from $one to $(wc -c <"$(texts)")"
sed -i '/^search/d' site.yaml
for search in none titles full; do
    { sed '/^search/d' site.yaml; echo "search: $search"; } >x; mv x site.yaml
    page en d1 $search; vram -o out && same || bad "search: $search"
done
vram -o out -f; page en d1 again; vram -o out && grep -q ' 2 rendered' log && same && good 'search is turned on later' || bad 'search that is turned on later'
sed -i '/^search/d' site.yaml; vram -o out

# A folder with somebody's files is no cache: what is called as the cache's own stays, too.
mkdir -p mine/cache mine/texts-of-mine; echo keep >mine/cache/file; cp mine/cache/file mine/texts-of-mine/
if vram -o out4 --cache mine; then bad 'a folder with files is taken for a cache'
elif grep -q '^mine: error: .*no cache of an earlier build' log && [ -f mine/cache/file ] && [ -f mine/texts-of-mine/file ] && [ ! -e out4 ]; then
    good 'a folder with files is no cache'
else bad 'a folder with files as a cache'; fi
mkdir empty; : >empty/.hidden
vram -o out4 --cache empty && page en d1 20 && vram -o out4 --cache empty && grep -q ' 2 rendered' log && good 'an empty folder becomes one' ||
    bad 'an empty folder does not become a cache'

exit $status
