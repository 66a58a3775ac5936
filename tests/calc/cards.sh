#!/bin/sh
# Runs cards.lua: the pages of cards are those of the library's.
set -eu
make -s -C "$ROOT" BUILD="$MAKE_BUILD" MODE="${MODE:-release}" "$MAKE_BUILD/tests/calc/lua" >&2
cd "$ROOT"
exec "$BUILD/tests/calc/lua" tests/calc/cards.lua
