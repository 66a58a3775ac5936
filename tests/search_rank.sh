#!/bin/sh
# The queries of tests/search/queries.tsv over the built site: the wanted section is among the first three hits for nine of ten (the
# first for those of headings.tsv), and everything that a query loads until its eight hits are shown has 15 kB (brotli) at most. TREES
# names a folder with built sites of other trees, vitepress-docs and opensource-guide.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
BUILD=${BUILD:-$ROOT/build}
[ "${MODE:-release}" = release ] || { echo "skip search_rank: the release build has the same index"; exit 0; }
if ! command -v node >/dev/null; then echo 'skip search_rank: node is not there'; exit 0; fi
work=$(mktemp -d "${TMPDIR:-/tmp}/vramdoc-rank.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
say() {
    if [ "$1" -eq 0 ]; then echo "ok search_rank: $2"; else status=1; echo "not ok search_rank: $2"; sed 's/^/    /' "$work/log"; fi
}
own=$(sh "$ROOT/tests/own_site.sh" "$work")
ENGINE=$(ls "$own"/assets/search.*.js)
export ENGINE

# check NAME BYTES SITE=FOLDER...: bytes are the most that a query may load.
check() {
    name=$1 bytes=$2
    shift 2
    node "$ROOT/tests/search/rank.mjs" "$ROOT/tests/search/queries.tsv" "$@" >"$work/log" 2>&1 || true
    # "69 of 70 among the first three, 64 first; bytes: median 10601, most 14402"
    set -- $(tail -n 1 "$work/log" | tr -c '0-9\n' ' ')
    [ $# -eq 5 ] && [ "$2" -gt 0 ] && [ $(($1 * 10)) -ge $(($2 * 9)) ] && rc=0 || rc=1
    say $rc "$name: ${1:-0} of ${2:-0} queries find their section"
    [ $# -eq 5 ] && [ "$5" -le "$bytes" ] && rc=0 || rc=1
    say $rc "$name: a query loads ${5:-?} bytes at most"
}
check 'the project' 15000 content="$own"
node "$ROOT/tests/search/rank.mjs" "$ROOT/tests/search/headings.tsv" content="$own" >"$work/log" 2>&1 || true
# shellcheck disable=SC2046
set -- $(tail -n 1 "$work/log" | tr -c '0-9\n' ' ')
[ $# -eq 5 ] && [ "$2" -gt 0 ] && [ "$3" -eq "$2" ] && rc=0 || rc=1
say $rc 'an entry of the glossary that is named like the query is first'
# Of 1,600 pages in one language, with words that are nearly everywhere.
make -s BUILD="${MAKE_BUILD:-$BUILD}" "${MAKE_BUILD:-$BUILD}/tests/bench/corpus"
"$BUILD/tests/bench/corpus" 1600 1 7000 "$work/large"
"$BUILD/vramdoc" build -q -c "$work/large/site.yaml" -s "$work/large/content" -o "$work/large/site" >"$work/log" 2>&1
node "$ROOT/tests/search/loaded.mjs" "$work/large/site" "" "$ENGINE" 40000 memory 'optimizer state' 'peak of the allocator cache' gradiant >"$work/log" && rc=0 || rc=1
say $rc '1,600 pages: a query loads 40 kB at most and finds eight sections'
if [ -z "${TREES:-}" ]; then echo 'skip search_rank: sites of other trees (TREES names no folder of them)'
else check 'other trees' 40000 vitepress-docs="$TREES/vitepress-docs" opensource-guide="$TREES/opensource-guide"; fi
exit $status
