#!/bin/sh
# Each setting of tests/settings.tsv is on the pages that it names, in every language. With SETTINGS=FOLDER, of wheels (or sdists) unpacked as
# FOLDER/FRAMEWORK/, the framework's file has it, too: that is how the table was read, and how a newer version is held against it.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$ROOT"
status=0 rows=0 files=0
tab=$(printf '\t')
bad() { status=1; echo "not ok settings: $1"; }

grep -v '^#' tests/settings.tsv >"${TMPDIR:-/tmp}/settings.$$"
trap 'rm -f "${TMPDIR:-/tmp}/settings.$$"' EXIT
while IFS=$tab read -r framework version setting file text documents; do
    rows=$((rows + 1))
    [ -n "$documents" ] || { bad "row $rows: six columns are wanted"; continue; }
    for document in $documents; do
        for page in content/"$document"/*.md; do
            grep -qF -e "$setting" "$page" || bad "$page does not have '$setting' of $framework $version"
        done
    done
    [ -n "${SETTINGS:-}" ] || continue
    if grep -qF -e "$text" "$SETTINGS/$framework/$file" 2>/dev/null; then files=$((files + 1))
    else bad "$framework/$file does not have '$text'"; fi
done <"${TMPDIR:-/tmp}/settings.$$"
[ "$rows" -ge 60 ] || bad "$rows rows only"
[ $status -ne 0 ] || echo "ok settings: $rows settings are on their pages, in every language"
if [ -z "${SETTINGS:-}" ]; then echo "skip settings: the frameworks' files (SETTINGS=FOLDER of unpacked wheels)"
elif [ $status -eq 0 ]; then echo "ok settings: $files are in the frameworks' files"; fi
exit $status
