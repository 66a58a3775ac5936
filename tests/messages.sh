#!/bin/sh
# The table of messages (gen/base/diag.def) and the outputs that tests want agree in both directions. Each row is used by a
# source file and produced by a bad input of tests/sites or a command of tests/cli, with the row's level and words; and each
# message that a test wants is a row. Of the estimator's table (calc/base/messages.def) each row is used.
set -eu
set -- gen/base/diag.def tests/sites/*/wanted.diag tests/cli/*.txt
used=$(grep -rhoE '\bD_[A-Z0-9_]+\b' --include='*.c' gen | sort -u | tr '\n' ' ')
# Those that a tree of another generator lowers to warnings.
lowered=$(sed -n '/^} lowered\[\] = {/,/^};/p' gen/site/kinds/kind_find.c | grep -oE '\bD_[A-Z0-9_]+\b' | tr '\n' ' ')
awk -v used=" $used" -v lowered=" $lowered" '
function bad(what) { print "not ok " what; failed = 1 }
# A row: X(ID, LEVEL, "slug", "what; what to do", STRICT).
FILENAME ~ /diag\.def$/ {
    if ($0 !~ /^X\(/) next
    split($0, quoted, "\"")
    split(substr($0, 3), words, /, */)
    slug = quoted[2]
    if (slug in level) bad(slug ": two rows")
    id[slug] = words[1]
    level[slug] = tolower(words[2])
    raised[slug] = quoted[5] ~ /NEVER/ ? level[slug] : "error"
    at = index(quoted[4], ";")
    first[slug] = at ? substr(quoted[4], 1, at - 1) : quoted[4]
    last[slug] = at ? substr(quoted[4], at) : ""
    order[++rows] = slug
    next
}
# A message: "place: level: what: detail; what to do [slug]". Those of vramcalc have no slug.
/^[^ ].*: (error|warning|note): .* \[[a-z0-9-]+\]$/ {
    slug = $0
    sub(/.*\[/, "", slug)
    sub(/\]$/, "", slug)
    if (!(slug in level)) { bad(FILENAME ": no row for [" slug "]"); next }
    made[slug]++
    begin = index($0, ": " level[slug] ": " first[slug])
    if (!begin) begin = index($0, ": " raised[slug] ": " first[slug])
    if (!begin && index(lowered, " D_" id[slug] " ")) begin = index($0, ": warning: " first[slug])
    end = last[slug] " [" slug "]"
    if (!begin) bad(slug ": another level or other words in " FILENAME ": " $0)
    else if (substr($0, length($0) - length(end) + 1) != end) bad(slug ": other words at the end in " FILENAME ": " $0)
    next
}
FILENAME ~ /wanted\.diag$/ && /^[^ ].*: (error|warning|note): / && $0 !~ /^vramdoc: error: out of memory/ {
    bad(FILENAME ": a message without a row: " $0)
}
END {
    if (!rows) bad("messages: no row was read")
    for (i = 1; i <= rows; i++) {
        slug = order[i]
        if (!made[slug]) bad(slug ": no bad input produces it")
        else if (!index(used, " D_" id[slug] " ")) bad(slug ": no source file uses D_" id[slug])
        else print "ok " slug
    }
    exit failed
}' "$@" || failed=1

# A sentence of the estimator: named in C, or a word of another table.
in_c=$(grep -rhoE '\bMESSAGE_[a-z0-9_]+\b' --include='*.[ch]' calc | sort -u | sed 's/^MESSAGE_//')
in_tables=$(find calc -name '*.def' ! -name messages.def -exec sed 's|//.*||' {} + | grep -oE '[a-z][a-z0-9_]+' | sort -u)
unused=$(sed -n 's/^MESSAGE(\([a-z0-9_]*\),.*/\1/p' calc/base/messages.def | sort |
    awk -v known="$in_c
$in_tables" 'BEGIN { n = split(known, word, "\n"); for (i = 1; i <= n; i++) used[word[i]] } !($0 in used)')
if [ "$unused" ]; then
    echo "not ok calc/base/messages.def: nothing uses" $unused
    failed=1
else
    echo 'ok calc/base/messages.def: every sentence is used'
fi
exit "${failed:-0}"
