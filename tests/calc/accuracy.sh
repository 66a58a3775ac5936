#!/bin/sh
# Recomputes calc/replay/accuracy.def, on which the tolerances of estimates rest; UPDATE=1 rewrites it.
set -eu
compile() { make -s -C "$ROOT" BUILD="$MAKE_BUILD" MODE="${MODE:-release}" "$MAKE_BUILD/tests/calc/lua" >&2; }
compile
export LUA_PATH="$ROOT/content/how-the-numbers-are-made/predicted-and-measured/?.lua"
work=$(mktemp)
trap 'rm -f "$work"' EXIT
"$BUILD/tests/calc/lua" "$ROOT/tests/calc/accuracy.lua" "$ROOT/tests/calc/measured.tsv" >"$work"
table=$ROOT/calc/replay/accuracy.def
if [ -n "${UPDATE:-}" ] && ! cmp -s "$work" "$table"; then
    cat "$work" >"$table"
    compile
fi
status=0
"$BUILD/tests/calc/lua" "$ROOT/tests/calc/accuracy.lua" check "$table" || status=1
if difference=$(diff -u "$table" "$work"); then
    echo "ok the tolerances are those of the measurements"
else
    echo "not ok the tolerances: UPDATE=1 FILTER=calc/accuracy ./build.sh test writes calc/replay/accuracy.def again"
    echo "$difference"
    status=1
fi
exit $status
