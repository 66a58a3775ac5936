#!/bin/sh
# Measures everything on the GPU that is here: checks the kernels, runs the probe, and PyTorch where it is installed; then
# shows which figures of the pages changed, and the estimator's figures next to the measured ones. ./build.sh probe calls it.
# Call it again until it says that it is done: measurements are kept in $BUILD/vramprobe.d and $BUILD/torch_record.d.
# Exit status: 0, 1 when a kernel or a figure is off, 75 call again, 77 no GPU.
# usage: kernels/measure.sh [SECONDS]   start no new run after that many seconds (420)
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
seconds=${1:-420}
begun=$(date +%s)
left() { left=$((seconds - $(date +%s) + begun)); [ $left -gt 0 ] && echo $left || echo 0; }
probe=$BUILD/vramprobe
records=content/measurements
mkdir -p "$records"

rc=0
"$probe" --check >"$BUILD/probe-check.txt" 2>&1 || rc=$?
if [ $rc -ne 0 ]; then
    grep -v '^ok' "$BUILD/probe-check.txt" >&2
    [ $rc -eq 77 ] || echo "a kernel does not agree with its reference: nothing is measured with it" >&2
    exit $rc
fi
echo "kernels agree with their references ($(grep -c '^ok' "$BUILD/probe-check.txt") comparisons)"

# Once for this build, where the tool is: no access out of bounds.
sanitized=$BUILD/probe-sanitized.txt
if command -v compute-sanitizer >/dev/null && [ ! "$sanitized" -nt "$probe" ]; then
    if timeout 300 compute-sanitizer --error-exitcode 9 "$probe" --check 1 >"$sanitized" 2>&1; then
        echo "compute-sanitizer finds nothing"
    else
        rc=$?
        grep -v '^ok' "$sanitized" | head -n 40 >&2
        rm -f "$sanitized"
        [ $rc -eq 124 ] || { echo "compute-sanitizer finds something in the kernels" >&2; exit 1; }
    fi
fi

# A record's name: the GPU and the day of the first call.
name=$BUILD/vramprobe-name
if [ ! -s "$name" ]; then
    gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1 | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9\n' '-')
    printf '%s-%s\n' "${gpu:-gpu}" "$(date -u +%Y-%m-%d)" >"$name"
fi
record=$records/$(cat "$name")
commit=$(git rev-parse HEAD 2>/dev/null || true)
origin=
if [ -n "$commit" ]; then
    [ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] && dirty=--clean || dirty=--dirty
    origin="--commit $commit"
fi
site=
[ ! -x "$BUILD/vramdoc" ] || site=1
[ -z "$site" ] || [ -s "$BUILD/figures-before.txt" ] || "$BUILD/vramdoc" figures -s content >"$BUILD/figures-before.txt" 2>/dev/null || true

# shellcheck disable=SC2086  # options are words
"$probe" run $origin ${dirty:-} --force --seconds "$(left)" --state "$BUILD/vramprobe.d" -o "$record.json" || exit $?

if python3 -c 'import torch, sys; sys.exit(0 if torch.cuda.is_available() else 1)' 2>/dev/null; then
    [ "${dirty:-}" = --dirty ] && torch_dirty=--dirty || torch_dirty=
    # shellcheck disable=SC2086
    python3 kernels/torch_record.py --cited --accuracy tests/calc/truth/nanogpt.json --max-batch $origin $torch_dirty --force \
        --seconds "$(left)" --state "$BUILD/torch_record.d" -o "$record-torch.json" || exit $?
else
    echo "PyTorch with CUDA is not here: the framework itself is not measured"
fi
"$probe" validate "$record"*.json

if [ -n "$site" ]; then
    "$BUILD/vramdoc" build -c content/site.yaml -s content -o site
    "$BUILD/vramdoc" figures -s content >"$BUILD/figures-after.txt" 2>/dev/null || true
    echo "figures that changed (- was, + is), with the pages that cite them:"
    diff -U0 "$BUILD/figures-before.txt" "$BUILD/figures-after.txt" | grep '^[-+] ' || echo "  none"
fi
echo "the estimator next to the measurements:"
rc=0
"$probe" compare "$record"*.json || rc=$?
rm -f "$BUILD/figures-before.txt" "$name"
echo "done. To contribute this card, add $record*.json in a pull request."
exit $rc
