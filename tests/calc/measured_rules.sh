#!/bin/sh
# Runs measured_rules.lua and measured_spellings.lua: how the columns of a table of measurements are read. And that a broken table costs no good row.
set -eu
export LUA_PATH="$ROOT/content/how-the-numbers-are-made/predicted-and-measured/?.lua;$ROOT/tests/calc/?.lua"
make -s -C "$ROOT" BUILD="$MAKE_BUILD" MODE="${MODE:-release}" "$MAKE_BUILD/tests/calc/lua" >&2
status=0
for part in rules spellings; do "$BUILD/tests/calc/lua" "$ROOT/tests/calc/measured_$part.lua" || status=1; done
"$BUILD/tests/calc/lua" "$ROOT/tests/calc/measured_cells.lua" "$ROOT/tests/calc/measured.tsv" || status=1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{ head -n 3 "$ROOT/tests/calc/measured.tsv"; echo broken; sed -n 4p "$ROOT/tests/calc/measured.tsv"; } >"$work/t.tsv"
rc=0
sh "$ROOT/tests/calc/measured.sh" "$work/t.tsv" >"$work/out" 2>"$work/err" || rc=$?
if [ $rc -eq 1 ] && grep -q 't.tsv:4: error: 1 cells where' "$work/err" && [ "$(grep -c '^[0-9]' "$work/out")" -eq 3 ]; then
    echo "ok a broken line is named and costs no other"
else
    status=1
    echo "not ok a broken line: exit code $rc"; cat "$work/out" "$work/err"
fi
rc=0
sh "$ROOT/tests/calc/measured.sh" "$work/none.tsv" >"$work/out" 2>"$work/err" || rc=$?
if [ $rc -ne 0 ] && grep -q 'none.tsv' "$work/err"; then echo "ok a file that is not there"
else status=1; echo "not ok a file that is not there: exit code $rc"; fi
if sh "$ROOT/tests/bench/accuracy.sh" "$work/t.tsv" 2>/dev/null >"$work/out"; then rc=0; else rc=1; fi
if [ $rc -eq 1 ] && [ "$(grep -c '^by ' "$work/out")" -eq 5 ] && grep -q '^fms-acceleration  *3 ' "$work/out"; then
    echo "ok the errors by source, of a table with a broken line"
else
    status=1
    echo "not ok the errors by source: exit code $rc"; cat "$work/out"
fi
exit $status
