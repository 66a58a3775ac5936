#!/bin/sh
# measured.sh FILE.tsv: prints for each row of a table of measurements the words of the estimator, its figure and the error, or why
# the row cannot be said; the last lines are the sums by class. Any file with the columns of measured.tsv will do.
# Without a file it is a test: the project's own tables are held to the limits of measured_limits.lua, measured_more.tsv, measured_generation.tsv, measured_revisions.tsv, measured_world.tsv, measured_world2.tsv, measured_world3.tsv and measured_world4.tsv are not on the page.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$here/../.." && pwd)
# make knows a folder by the name that ./build.sh gives it.
MAKE_BUILD=${MAKE_BUILD:-${BUILD:-build}}
MAKE_BUILD=${MAKE_BUILD#"$ROOT/"}
make -s -C "$ROOT" BUILD="$MAKE_BUILD" MODE="${MODE:-release}" "$MAKE_BUILD/tests/calc/lua" >&2
case $MAKE_BUILD in /*) BUILD=$MAKE_BUILD ;; *) BUILD=$ROOT/$MAKE_BUILD ;; esac
export LUA_PATH="$ROOT/content/how-the-numbers-are-made/predicted-and-measured/?.lua"
if [ $# -gt 0 ]; then exec "$BUILD/tests/calc/lua" "$here/measured.lua" "$1"; fi
exec "$BUILD/tests/calc/lua" "$here/measured_limits.lua" "$here"
