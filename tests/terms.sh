#!/bin/sh
# The term bases i18n/terms/LANGUAGE.tsv: each language of the site has one, and its documents and its catalog follow it
# (tests/terms.lua). A passage that its source has left behind is not looked at. And a base that is broken is noticed.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
BUILD=${BUILD:-$ROOT/build}
cd "$ROOT"
MAKE_BUILD=${MAKE_BUILD:-${BUILD#"$ROOT/"}}
make -s BUILD="$MAKE_BUILD" MODE="${MODE:-release}" "$MAKE_BUILD/tests/calc/lua" >&2
lua=$BUILD/tests/calc/lua
work=$(mktemp -d "${TMPDIR:-/tmp}/vramdoc-terms.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
languages=$(sed -n 's/^languages: \[\(.*\)\]$/\1/p' content/site.yaml | tr -d ',')
for language in $languages; do
    [ "$language" != en ] || continue
    if [ ! -f "i18n/terms/$language.tsv" ]; then echo "not ok terms: $language has no i18n/terms/$language.tsv"; status=1; continue; fi
    "$BUILD/vramdoc" i18n export --po all "$language" -c content/site.yaml -s content -o "$work/$language.po" >"$work/log" 2>&1 || true
    "$lua" tests/terms.lua "$language" "i18n/terms/$language.tsv" "$work/$language.po" || status=1
done

# A passage without its word, one with a word to avoid, and a row of three columns are found at their place.
printf 'allocator\tAllokator\t-\t-\npeak\tSpitze\tGipfel\t-\nbroken\trow\t-\n' >"$work/base.tsv"
cat >"$work/bad.po" <<'PO'
#: content/none/en.md:3
msgctxt "none#p1"
msgid "The allocator and the peak."
msgstr "Der Zuteiler und der Gipfel."
PO
"$lua" tests/terms.lua de "$work/base.tsv" "$work/bad.po" >"$work/found" 2>&1 && { echo 'not ok terms: bad passages pass'; status=1; }
for wanted in 'base.tsv:3:1: 3 columns' 'none/en.md:3:1: "allocator" is in the source' 'none/en.md:3:1: "gipfel" for "peak"'; do
    if grep -qF -- "$wanted" "$work/found"; then echo "ok terms: finds $wanted"; else echo "not ok terms: $wanted is not found"; status=1; fi
done
exit $status
