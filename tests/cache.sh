#!/bin/sh
# The cache of a build: what changed is appended, damage of any kind and the file of another program are found out, and the
# site is in each case the one that a clean build makes.
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
whole=$(size) inode=$(stat -c %i $cache)

# What changed is appended, and what was appended is read.
page en d1 1; vram -o out
if [ "$(stat -c %i $cache)" = "$inode" ] && [ "$(size)" -gt "$whole" ] && [ "$(size)" -lt $((whole + whole / 4)) ]
then good 'a change is appended'; else bad "a change is not appended: $whole, then $(size) bytes"; fi
vram -o out && grep -q 'nothing has changed' log && good 'what was appended is known' || bad 'what was appended is not known'
page en d1 2; page de d7 2; vram -o out && grep -q ' 4 rendered' log && same \
    && good 'changes upon changes' || bad 'changes upon changes'

# It does not grow without end.
n=0 largest=0
while [ $n -lt 60 ]; do
    page en d$((n % 7)) "again $n"; vram -o out
    [ "$(size)" -le $largest ] || largest=$(size)
    n=$((n + 1))
done
if [ $largest -le $((whole * 2)) ] && same; then good "at most $((largest * 100 / whole)) % of a whole one"
else bad "the file grows to $((largest * 100 / whole)) % of a whole one"; fi

# A copy of the program is the same program; another compilation is not.
cp "$program" other; program=./other
vram -o out && grep -q 'nothing has changed' log && good 'a copy of the program believes it' || bad 'a copy of the program does not believe it'
if objcopy --dump-section .note.gnu.build-id=id other 2>log && [ -s id ]; then
    { head -c 20 id; printf '\377\001'; tail -c +23 id; } >id2
    objcopy --update-section .note.gnu.build-id=id2 other
    vram -o out && grep -q ' 122 rendered' log && same && good 'another program builds anew' || bad 'another program believes it'
else
    echo "skip cache: another program: objcopy finds no build id: $(head -n 1 log)"
fi
program=$BUILD/vramdoc
vram -o out

# Cut anywhere, a bit flipped anywhere, or bytes that were never a cache: built anew. d1 was appended last, so that the
# damage falls on both kinds of parts.
page en d1 3; vram -o out; cp $cache kept; end=$(size)
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
for cut in 1 15 16 17 31 32 33 $((end - 1)) $((end - 20)); do head -c "$cut" kept >$cache; try "cut at $cut"; done
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
head -c 60000 /dev/urandom >$cache; try 'random bytes'
head -c 60000 /dev/zero >$cache; try 'zeros'
: >$cache; try 'nothing'
rm $cache; mkdir $cache; try 'a folder'
[ $wrong -ne 0 ] || good 'bytes that were never a cache'

# Cut off between two builds: half of a change is no change.
vram -o out; page en d3 4; vram -o out; head -c $(($(size) - 3)) $cache >x; cp x $cache; page en d3 5
vram -o out && same && good 'half of a change' || bad 'half of a change'
# What a killed build left stays unread and goes.
cp $cache .out.vramdoc-cache/cache.stale; rm $cache; page en d3 6
vram -o out && same && [ ! -e .out.vramdoc-cache/cache.stale ] && good 'what a killed build left' || bad 'what a killed build left'
exit $status
