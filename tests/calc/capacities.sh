#!/bin/sh
# Runs capacities.lua: the table of what CUDA offers of each card, made again from its observations.
set -eu
make -s -C "$ROOT" BUILD="$MAKE_BUILD" MODE="${MODE:-release}" "$MAKE_BUILD/tests/calc/lua" >&2
cd "$ROOT"
exec "$BUILD/tests/calc/lua" tests/calc/capacities.lua
