#!/bin/sh
# The same questions asked of the command, of Lua, of Python and of the page's module: the answers are the same (places.mjs).
set -eu
command -v node >/dev/null || { echo "skip places: node is not there"; exit 0; }
[ -e "$BUILD/vram-whole.wasm" ] || { echo "skip places: vram-whole.wasm was not built"; exit 0; }
[ "${MODE:-release}" = release ] || { echo "skip places: a sanitized library wants the sanitizers' own program"; exit 0; }
make -s -C "$ROOT" BUILD="$MAKE_BUILD" MODE="${MODE:-release}" "$MAKE_BUILD/tests/calc/lua" package >&2
exec node "$ROOT/tests/calc/places.mjs"
