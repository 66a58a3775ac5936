#!/bin/sh
# Recomputes calc/replay/accuracy.def and accuracy_kinds.def, on which the tolerances of estimates rest; UPDATE=1 rewrites them.
set -eu
compile() { make -s -C "$ROOT" BUILD="$MAKE_BUILD" MODE="${MODE:-release}" "$MAKE_BUILD/tests/calc/lua" >&2; }
compile
export LUA_PATH="$ROOT/content/how-the-numbers-are-made/predicted-and-measured/?.lua"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
accuracy() { "$BUILD/tests/calc/lua" "$ROOT/tests/calc/accuracy.lua" "$1" "$ROOT/tests/calc"; }
accuracy kinds >"$work/accuracy_kinds.def"
accuracy regimes >"$work/accuracy.def"
for table in accuracy accuracy_kinds; do
    if [ -n "${UPDATE:-}" ] && ! cmp -s "$work/$table.def" "$ROOT/calc/replay/$table.def"; then
        cat "$work/$table.def" >"$ROOT/calc/replay/$table.def"
    fi
done
compile
status=0
accuracy check || status=1
for table in accuracy accuracy_kinds; do
    if difference=$(diff -u "$ROOT/calc/replay/$table.def" "$work/$table.def"); then
        echo "ok the tolerances are those of the measurements: $table.def"
    else
        echo "not ok the tolerances: UPDATE=1 FILTER=calc/accuracy ./build.sh test writes calc/replay/$table.def again"
        echo "$difference"
        status=1
    fi
done
exit $status
