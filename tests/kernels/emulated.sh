#!/bin/sh
# Runs every kernel without a GPU: as plain C++, a block's threads as fibers (tests/kernels/emulated). Compares them with
# their references, trains beside the CPU reference, and runs the experiments. Needs no nvcc.
set -eu
[ "${MODE:-release}" = release ] || { echo "skip emulated: the release build runs them"; exit 0; }
command -v g++ >/dev/null || { echo "skip emulated: g++ is not here"; exit 0; }
out=${MAKE_BUILD:-$BUILD}/emulated
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! nice make -s -j2 -f tests/kernels/emulated/Makefile OUT="$out" >"$log" 2>&1; then
    tail -n 30 "$log"
    echo "not ok emulated: the kernels do not compile as C++"
    exit 1
fi
# The same inputs each time; another number gives others.
nice "$out/gpu_test" "${SEED:-1}"
