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
cache=.out.vramdoc-cache/cache
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
    rm -rf $cache; cp kept $cache
}
tried=0 wrong=0 cut=0
vram -o out; cp $cache kept; end=$(size)
while [ $cut -lt "$end" ]; do
    head -c $cut kept >$cache; try "cut at $cut"
    cut=$((cut + 4096))
done
for cut in 1 15 16 17 23 24 25 $((end - 1)) $((end - 20)); do head -c "$cut" kept >$cache; try "cut at $cut"; done
[ $wrong -ne 0 ] || good "cut at $tried places"

seed=${SEED:-1} tried=0 wrong=0
while [ $tried -lt 40 ]; do
    seed=$(((seed * 1103515245 + 12345) % 2147483648)); at=$((seed % end))
    [ $((tried % 4)) -ne 0 ] || at=$((tried * 2))   # its first bytes, too
    byte=$(od -An -tu1 -j $at -N 1 kept)
    { head -c $at kept; printf "\\$(printf %03o $((byte ^ 1 << seed / 65536 % 8)))"; tail -c +$((at + 2)) kept; } >$cache
    cmp -s kept $cache && { bad "byte $at is not flipped"; wrong=1; break; }
    try "a bit of byte $at"
done
[ $wrong -ne 0 ] || good "a bit flipped at $tried places"

tried=0 wrong=0
LC_ALL=C awk 'BEGIN { for (s = 1; n < 60000; n++) { s = s * 16807 % 2147483647; printf "%c", int(s / 1024) % 256 } }' >$cache; try 'random bytes'
head -c 60000 /dev/zero >$cache; try 'zeros'
: >$cache; try 'nothing'
rm $cache; mkdir $cache; try 'a folder'
[ $wrong -ne 0 ] || good 'bytes that were never a cache'

exit $status
