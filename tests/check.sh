#!/bin/sh
# The hostile build: sanitizers, 4-byte first buffers, 64-byte arena chunks, other hash order. Runs the tests on it, and
# compares what it writes, byte by byte, with what the release build writes, for any number of workers and any order of
# jobs. ./build.sh check calls it.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
hostile=$BUILD/check alike=0 differ=0
ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
SOURCE_DATE_EPOCH=1700000000
export ASAN_OPTIONS UBSAN_OPTIONS SOURCE_DATE_EPOCH
make -s -j"${JOBS:-2}" BUILD="$BUILD" all
make -s -k -j"${JOBS:-2}" BUILD="$hostile" MODE=check NVCC= all
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# same NAME BUILD-WORDS...: compares the site of the release build with that of the hostile one, which uses 1, 2 and 5
# workers and takes the documents in another order each time.
same() {
    name=$1
    shift
    "$BUILD/vramdoc" build -q "$@" -o "$work/release" --cache "$work/cache" --fresh >"$work/log" 2>&1 || true
    for jobs in 1 2 5; do
        rm -rf "$work/hostile"
        if ! "$hostile/vramdoc" build -q "$@" -o "$work/hostile" --cache "$work/cache" --fresh --shuffle -j $jobs >"$work/log" 2>&1; then
            echo "not ok $name -j $jobs: the hostile build fails"
            head -n 30 "$work/log" | sed 's/^/    /'
            differ=$((differ + 1))
        elif ! diff -r "$work/release" "$work/hostile" >"$work/log"; then
            echo "not ok $name -j $jobs: not the same bytes"
            head -n 20 "$work/log" | sed 's/^/    /'
            differ=$((differ + 1))
        else
            echo "ok $name -j $jobs: the same bytes"
            alike=$((alike + 1))
        fi
    done
    rm -rf "$work/release" "$work/hostile"
}

same site -c content/site.yaml -s content
make -s BUILD="$BUILD" "$BUILD/tests/bench/corpus"
"$BUILD/tests/bench/corpus" 12 40 500 "$work/corpus"
same corpus -c "$work/corpus/site.yaml" -s "$work/corpus/content"
BUILD=$hostile MODE=check PASSED=$alike FAILED=$differ sh tests/run.sh "$@"
