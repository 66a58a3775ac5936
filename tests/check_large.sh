#!/bin/sh
# vramdoc check of pages that are too much: many links and messages in one page are linear, and a page that cannot be
# checked is named itself, not another that was checked in the same job.
set -eu
BUILD=${BUILD:-build}
work=$(mktemp -d "${TMPDIR:-/tmp}/vramdoc-check.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
try() {
    what=$1
    shift
    if "$@"; then echo "ok check_large: $what"; else status=1; echo "not ok check_large: $what"; head -n 5 "$work/log"; fi
}
head='<!doctype html><html lang="en"><head><title>x</title></head><body>' tail='</body></html>'
mkdir "$work/many" "$work/line" "$work/big"

# The hostile build lets arrays grow by one item at a time, which is quadratic by itself: it gets shorter pages.
if [ "${MODE:-release}" = release ]; then links=40000; else links=4000; fi

# 40,000 anchors, a link to each, each twice over: that took 25 s of processor time, now 0.1.
awk -v head="$head" -v tail="$tail" -v links=$links 'BEGIN { print head; for (i = 0; i < links; i++) printf "<p id=\"i%d\"><a href=\"#i%d\">x</a> <a href=\"gone%d.html\">x</a></p>\n", i, i, i; print tail }' >"$work/many/index.html"
many() { (ulimit -t 8; vramdoc check "$work/many" >"$work/log" 2>&1) && return 1; [ "$(grep -c 'gone[0-9]*\.html \|gone[0-9]*\.html$' "$work/log")" -eq $links ] && grep -q "index.html:$((links + 1)):" "$work/log"; }
try "$links anchors and as many broken links in a page" many
# The same in one line, and every id twice: the column is counted from the last place on.
tr -d '\n' <"$work/many/index.html" | sed 's/i[0-9]*0"/same"/g' >"$work/line/index.html"
line() { (ulimit -t 8; vramdoc check --verbose "$work/line" >"$work/log" 2>&1) && return 1; [ "$(grep -c 'anchor-duplicate' "$work/log")" -gt $((links * 3 / 40)) ]; }
try 'the same in one line, with ids that are there twice' line

# A page that is larger than all memory that may be used, between small ones.
for name in a b c y z; do echo "$head<p><a href=\"index.html\">x</a></p>$tail" >"$work/big/$name.html"; done
echo "$head<p>$(printf '<a href="%s.html">x</a>' a b c m y z)</p>$tail" >"$work/big/index.html"
truncate -s 4G "$work/big/m.html"
big() { (ulimit -v 2000000; vramdoc check "$work/big" >"$work/log" 2>&1) && return 1; grep -q 'big/m\.html: error: the page ended its worker' "$work/log" && [ "$(grep -c 'error: the page' "$work/log")" -eq 1 ]; }
if [ "${MODE:-release}" = release ]; then try 'the page that ends its worker is named' big
else echo 'skip check_large: a sanitized program needs its own address space'; fi
exit $status
