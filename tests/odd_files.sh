#!/bin/sh
# Files that are no ordinary ones, and disks that are full: settings in a FIFO, edits that leave size and time, one message for
# a full disk, signs without an end, a program that was moved away from its templates.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
BUILD=${BUILD:-$ROOT/build}
work=$(mktemp -d "${TMPDIR:-/tmp}/vramdoc-odd.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
status=0
good() { echo "ok $1"; }
bad() { status=1; echo "not ok $1: $2"; if [ -f log ]; then sed 's/^/    /' log; fi; }
vram() { "$BUILD/vramdoc" build -q "$@"; }
mkdir content
printf '# A\n\nOne.\n' >content/a.md

mkfifo fifo
rc=0
timeout 20 "$BUILD/vramdoc" build -c fifo -s content -o out >log 2>&1 || rc=$?
if [ $rc -eq 3 ] && grep -q '^fifo: error: .*it has no writer \[io-read\]$' log; then good 'a FIFO without a writer is no settings'
else bad 'a FIFO without a writer is no settings' "exit code $rc"; fi
rc=0
# The writer's open ends when the program has opened the other side: what it writes comes later than that.
{ exec 4>fifo; sleep 0.05; echo 'title: From a pipe' >&4; } &
timeout 20 "$BUILD/vramdoc" build -q -c fifo -s content -o out >log 2>&1 || rc=$?
wait
if [ $rc -eq 0 ] && grep -q 'From a pipe' out/a.html; then good 'settings come from a FIFO'
else bad 'settings come from a FIFO' "exit code $rc"; fi
mkfifo content/site.yaml content/_config.yml
rc=0
timeout 20 "$BUILD/vramdoc" build -q -s content -o out2 >log 2>&1 || rc=$?
if [ $rc -eq 3 ]; then good 'a FIFO in a tree keeps no build waiting'; else bad 'a FIFO in a tree keeps no build waiting' "exit code $rc"; fi
rm content/site.yaml content/_config.yml

# An edit in place that leaves the size and restores the time: only the time of the last change of the inode tells.
printf 'git: false\n' >site.yaml
printf 'x' >content/data.txt
printf '# A\n\nOne. [data](data.txt)\n' >content/a.md
touch -d '2026-01-01' content/a.md content/data.txt
vram -c site.yaml -s content -o inplace >log 2>&1
printf '# A\n\nTwo. [data](data.txt)\n' | dd of=content/a.md conv=notrunc 2>/dev/null
printf 'y' | dd of=content/data.txt conv=notrunc 2>/dev/null
touch -d '2026-01-01' content/a.md content/data.txt
vram -c site.yaml -s content -o inplace >log 2>&1
if grep -q Two inplace/a.html; then good 'an edit in place with a restored time is seen'
else bad 'an edit in place with a restored time is seen' 'the page is the old one'; fi
if find inplace -name 'data*' -type f -exec cat {} + | grep -q y; then good 'so is that of a file'
else bad 'so is that of a file' 'it is the old one'; fi

# A disk of 200 kB.
mkdir small many
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do { echo "# P$i"; seq 1000; } >many/p$i.md; done
cat >full.sh <<'SH'
mount -t tmpfs -o size=200k none small || exit 77
rc=0
"$1" build -s many -o small/out >log 2>&1 || rc=$?
ls small | grep -v cache >left || true
exit $rc
SH
rc=0
unshare -rm sh ./full.sh "$BUILD/vramdoc" 2>/dev/null || rc=$?
if [ $rc -eq 77 ] || [ $rc -eq 1 ]; then echo 'skip a full disk: nothing may be mounted here'
elif [ $rc -eq 3 ] && [ "$(wc -l <log)" -eq 1 ] && grep -q '^small/out: error: .*No space left' log; then good 'a full disk is one message'
else bad 'a full disk is one message' "exit code $rc"; fi

# What would cost a time or a memory that grows with its square, and a link that leads back up: a folder of others is built.
again() { yes "$2" | head -n "$1" | tr -d '\n'; }
mkdir -p odd/.obsidian book
again 50000 '==a== ' >odd/marks.md
again 50000 '*a* ==' >odd/open.md
again 300000 '[[' >odd/brackets.md
again 100000 '%%' >odd/comments.md
ln -s . odd/loop
again 100000 '{% include "' >book/README.md
echo '* [Start](README.md)' >book/SUMMARY.md
for tree in odd book; do
    rc=0
    (if [ "${MODE:-release}" = release ]; then ulimit -v 4000000; fi; timeout 100 "$BUILD/vramdoc" build -q -s $tree -o $tree-out) >log 2>&1 || rc=$?
    if [ $rc -eq 0 ]; then good "signs without an end in $tree"; else bad "signs without an end in $tree" "exit code $rc"; fi
done

# The program alone, without what it is installed with.
mkdir away
cp "$BUILD/vramdoc" away/vramdoc
rc=0
away/vramdoc build -s content -o out3 >log 2>&1 || rc=$?
if [ $rc -ne 0 ] && grep -q "$work/away/templates" log && grep -q 'share/vramdoc/templates' log; then good 'a program that was moved says where it looks'
else bad 'a program that was moved says where it looks' "exit code $rc"; fi
exit $status
