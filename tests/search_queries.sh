#!/bin/sh
# The queries of tests/search/queries.tsv are a hundred, and the sections that they want are there: in the project's own
# site, in each language that is asked in, and in the trees of others where TREES names a folder of their clones.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
BUILD=${BUILD:-$ROOT/build}
work=$(mktemp -d "${TMPDIR:-/tmp}/vramdoc-queries.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
good() { echo "ok search: $1"; }
bad() { status=1; echo "not ok search: $1"; }
queries=$work/queries tab=$(printf '\t')
grep -v '^#' "$ROOT/tests/search/queries.tsv" >"$queries"

# count WANTED PATTERN: how many lines begin so.
count() {
    n=$(grep -c "^$2" "$queries" || true)
    if [ "$n" -eq "$1" ]; then good "$1 queries: $2"; else bad "$n queries, not $1: $2"; fi
}
# The hundred, and one for a fault that was found later.
count 102 ''
count 32 "content${tab}en$tab"
for tag in de es fr hi; do count 10 "content$tab$tag$tab"; done
for tag in zh-Hans ja ar; do count 10 "[^$tab]*$tab$tag$tab"; done
if twice=$(cut -f1-3 "$queries" | sort | uniq -d) && [ -n "$twice" ]; then bad "twice: $twice"; else good 'no query is there twice'; fi

own=$(sh "$ROOT/tests/own_site.sh" "$work" 2>"$work/log") || { bad 'the site does not build'; head -n 5 "$work/log"; }
missing=0
while IFS=$tab read -r site language query wanted difficulty; do
    [ "$site" = content ] || continue
    if [ -z "$query" ] || [ -z "$difficulty" ]; then bad "a row without a query or its difficulty: $wanted"; fi
    for section in $wanted; do
        page=$own/$language/${section%%#*}.html id=${section#*#}
        [ -f "$page" ] || page=$own/$language/${section%%#*}/index.html
        case $section in *'#'*) ;; *) id=main ;; esac
        if ! grep -q "id=\"$id\"" "$page" 2>/dev/null; then missing=1; bad "$language \"$query\" wants $section, which is not there"; fi
    done
done <"$queries"
[ $missing -ne 0 ] || good 'every wanted section of the site is there'

if [ -z "${TREES:-}" ]; then
    echo 'skip search: sections of other trees (TREES names no folder of their clones)'
    exit $status
fi
# heading FILE ID: with the id written behind it, or made of its text.
heading() {
    sed -n 's/^##* *//p' "$1" | awk -v id="$2" '
        { line = $0
          if (match(line, /\{#[^}]*\}/) && substr(line, RSTART + 2, RLENGTH - 3) == id) found = 1
          gsub(/<[^>]*>| *\{#[^}]*\}|\([^)]*\)|؟|[.:!?()"]/, "", line); gsub(/^ +| +$/, "", line); gsub(/ +/, "-", line)
          if (tolower(line) == tolower(id)) found = 1 }
        END { exit !found }'
}
missing=0
while IFS=$tab read -r site language query wanted _; do
    case $site in
    content) continue ;;
    vitepress-docs) folder=$TREES/vitepress/docs/${language%-Hans} ;;
    opensource-guide) folder=$TREES/opensource.guide/_articles/$language ;;
    *) bad "an unknown site: $site"; continue ;;
    esac
    for section in $wanted; do
        page=$folder/${section%%#*}.md
        case $section in
        *'#'*) heading "$page" "${section#*#}" || { missing=1; bad "$language \"$query\" wants $section, which is not there"; } ;;
        *) [ -f "$page" ] || { missing=1; bad "$language \"$query\" wants $section, which is not there"; } ;;
        esac
    done
done <"$queries"
[ $missing -ne 0 ] || good 'every wanted section of other trees is there'
exit $status
