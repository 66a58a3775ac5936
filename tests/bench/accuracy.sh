#!/bin/sh
# Prints how far the estimator is from public measurements on GPUs, by source, kind of run, framework and figure.
# ./build.sh bench accuracy calls it; another table with the same columns may be named.
set -eu
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
make -s BUILD="$BUILD" "$BUILD/tests/calc/lua"
export LUA_PATH="$PWD/content/how-the-numbers-are-made/predicted-and-measured/?.lua"
exec "$BUILD/tests/calc/lua" tests/bench/accuracy.lua "${1:-tests/calc/measured.tsv}"
