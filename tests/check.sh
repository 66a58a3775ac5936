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

# same NAME PROGRAM:JOBS... -- BUILD-WORDS...: compares the site of the release build with those of PROGRAM ("hostile" or "release")
# with so many workers, which take the documents in another order each time.
same() {
    name=$1 others=''
    shift
    while [ "$1" != -- ]; do others="$others $1"; shift; done
    shift
    "$BUILD/vramdoc" build -q "$@" -o "$work/first" --cache "$work/cache" --fresh >"$work/log" 2>&1 || true
    for other in $others; do
        jobs=${other#*:} other=${other%:*} folder=$BUILD rc=0
        if [ "$other" = hostile ]; then folder=$hostile; fi
        rm -rf "$work/$other"
        "$folder/vramdoc" build -q "$@" -o "$work/$other" --cache "$work/cache" --fresh --shuffle -j "$jobs" >"$work/log" 2>&1 || rc=$?
        if [ $rc -ne 0 ]; then
            echo "not ok $name -j $jobs: the $other build fails"
            head -n 30 "$work/log" | sed 's/^/    /'
            differ=$((differ + 1))
        elif ! diff -r "$work/first" "$work/$other" >"$work/log"; then
            echo "not ok $name -j $jobs: not the same bytes in the $other build"
            head -n 20 "$work/log" | sed 's/^/    /'
            differ=$((differ + 1))
        else
            echo "ok $name -j $jobs: the same bytes in the $other build"
            alike=$((alike + 1))
        fi
    done
    rm -rf "$work/first" "$work/release"
}

# A hostile build of the site takes four times a release build's processor time: workers and order are those of both. It is also the
# site of the tests below (own_site.sh).
same site release:1 hostile:2 release:5 -- --strict -c content/site.yaml -s content
mkdir "$work/own"
mv "$work/hostile" "$work/own/site" && echo 0 >"$work/own/exit"
make -s BUILD="$BUILD" "$BUILD/tests/bench/corpus"
"$BUILD/tests/bench/corpus" 12 40 500 "$work/corpus"
same corpus hostile:1 hostile:2 hostile:5 -- -c "$work/corpus/site.yaml" -s "$work/corpus/content"
rm -rf "$work/hostile"
export OWN_SITE="$work/own"
BUILD=$hostile MODE=check PASSED=$alike FAILED=$differ sh tests/run.sh "$@"
