#!/bin/sh
# Measures vramdoc beside hugo and the floor (floor.c), on corpora made by corpus.c; nothing is asserted here but the
# estimator's own limits. ./build.sh bench calls it.
#   BENCH=quick   small corpora, one run each
#   BENCH=middle  1,600 pages of 7 kB in 13 languages, 38,000 of 0.5 kB in 40; BENCH=full (the default) adds 1k, 10k and
#                 100k pages of 7 kB in 10 languages
#   RUNS=3        the best of this many; OUTPUTS="tmpfs disk" where sites are written
#   HUGO=no       leaves hugo out
# With folders of real trees it is tree.sh that measures.
# Times are wall seconds; memory is the peak sum over all processes with shared pages once, from a run of its own.
set -eu
[ $# -eq 0 ] || exec sh "$(dirname "$0")/tree.sh" "$@"
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
make -s BUILD="$BUILD" "$BUILD/tests/bench/corpus" "$BUILD/tests/bench/floor" "$BUILD/tests/bench/measure"
BENCH=${BENCH:-full} RUNS=${RUNS:-3} OUTPUTS=${OUTPUTS:-tmpfs disk}
[ "$BENCH" != quick ] || RUNS=1
measure=$BUILD/tests/bench/measure vramdoc=$BUILD/vramdoc
memory=$(mktemp -d "${BENCH_TMPFS:-/dev/shm}/vramdoc-bench.XXXXXX")
disk=$(mktemp -d "${BENCH_DISK:-$BUILD}/bench.XXXXXX")
trap 'rm -rf "$memory" "$disk"' EXIT
trap 'exit 130' INT TERM
if [ "${HUGO:-yes}" = no ] || ! command -v hugo >/dev/null; then hugo=no; else hugo=yes; fi

seconds='' peak=''
# best PREPARE COMMAND...: the best wall time of RUNS runs, PREPARE (a shell word) before each.
best() {
    prepare=$1
    shift
    seconds=''
    for _ in $(seq "$RUNS"); do
        eval "$prepare"
        set -- "$@"
        result=$(NO_PSS=1 "$measure" "$@" 2>"$memory/log") || true
        case $result in *' 0') ;; *) echo "failed: $*: $result"; head -n 5 "$memory/log"; exit 1 ;; esac
        seconds=$(echo "$seconds ${result%% *}" | awk '{ print ($2 == "" || $1 < $2) ? $1 : $2 }')
    done
}
peak_of() {
    eval "$1"
    shift
    peak=$("$measure" "$@" 2>/dev/null | awk '{ print $2 }')
}
row() { printf '%-34s %10s s %9s MB   %s\n' "$1" "$2" "$3" "$4"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf (b > 0) ? "%.2f" : "-", a / b }'; }

# corpus NAME DOCUMENTS LANGUAGES BYTES: all measures of one corpus.
corpus() {
    name=$1 pages=$(($2 * $3)) in=$memory/in
    rm -rf "$in"
    "$BUILD/tests/bench/corpus" "$2" "$3" "$4" "$in"
    for output in $OUTPUTS; do
        if [ "$output" = tmpfs ]; then place=$memory; else place=$disk; fi
        # A big site on a disk is measured once: it is the disk that is measured.
        [ "$output" = tmpfs ] || [ "$pages" -lt 20000 ] || [ "${DISK_ALL:-}" ] || continue
        out=$place/out
        echo
        echo "$name: $pages pages in $3 languages, $output"
        build="$vramdoc build -q -c $in/site.yaml -s $in/content -o $out --cache $place/cache"
        # shellcheck disable=SC2086
        {
            best 'rm -rf "$out" "$place/cache"' $build
            full=$seconds
            peak_of 'rm -rf "$out" "$place/cache"' $build
            full_peak=$peak
            best : $build
            same=$seconds
            best 'echo "One more line, $(date +%N)." >>"$in/content/en/s00/d3.md"' $build
            one=$seconds
        }
        if [ "$output" = tmpfs ] && [ "$pages" -lt 20000 ] && [ -d "$BUILD/browser/node_modules" ]; then
            screen=$(BROWSER_MODULES=$BUILD/browser node tests/bench/screen.mjs "$vramdoc" "$in/site.yaml" "$in/content" en/s00/d3.md en/s00/d3.html 2>/dev/null) || screen=''
        fi
        best 'rm -rf "$place/floor"' "$BUILD/tests/bench/floor" "$in/content" "$out" "$place/floor"
        floor=$seconds
        rm -rf "$place/floor"
        files=$(find "$out" -type f | wc -l)
        row "floor" "$floor" - "reads, parses, renders, writes $files files"
        row "vramdoc" "$full" "$full_peak" "$(ratio "$full" "$floor") x floor, $(awk -v s="$full" -v n="$pages" 'BEGIN { printf "%.0f", s / n * 1e6 }') us a page"
        row "vramdoc, nothing changed" "$same" - "$(ratio "$same" "$full") of a full build"
        row "vramdoc, one page changed" "$one" - "$(ratio "$one" "$full") of a full build"
        [ -z "${screen:-}" ] || echo "saved page on screen by vramdoc serve: ${screen% *} ms, at worst ${screen#* } ms"
        screen=''
        rm -rf "$out" "$place/cache"
        if [ $hugo = yes ]; then
            runs=$RUNS
            [ "$pages" -lt 20000 ] || RUNS=1
            best 'rm -rf "$out"' hugo --quiet -s "$in" -d "$out"
            RUNS=$runs
            peak_of 'rm -rf "$out"' hugo --quiet -s "$in" -d "$out"
            row "hugo" "$seconds" "$peak" "vramdoc is $(ratio "$seconds" "$full") x faster"
            rm -rf "$out"
        fi
    done
}

echo "$(nproc) processors, $($vramdoc --version), $(hugo version 2>/dev/null | cut -c1-30), best of $RUNS"
if [ "$BENCH" = quick ]; then
    corpus 'small, 7 kB' 10 13 7000
    corpus 'small, 0.5 kB' 50 40 500
else
    corpus '1,600 of 7 kB' 123 13 7000
    corpus '38,000 of 0.5 kB' 950 40 500
fi
if [ -d "$BUILD/browser/node_modules" ]; then
    echo
    cp -R content "$memory/own"
    own=$(BROWSER_MODULES=$BUILD/browser node tests/bench/screen.mjs "$vramdoc" "$memory/own/site.yaml" "$memory/own" about/en.md en/about.html 2>/dev/null) || own='- -'
    echo "the project's own site: saved page on screen after ${own% *} ms, at worst ${own#* } ms"
    if [ -f "$BUILD/vram.wasm" ] && "$vramdoc" build -q -c "$memory/own/site.yaml" -s "$memory/own" -o "$memory/page" >/dev/null 2>&1; then
        echo "the calculator, $(BROWSER_MODULES=$BUILD/browser CHROMIUM=$(command -v "${CHROMIUM:-chromium}") node tests/browser/bench.mjs "$memory/page")"
    fi
else
    echo "(no browser in $BUILD/browser: ./build.sh test puts it there; saved-to-screen times are left out)"
fi
if [ "$BENCH" = full ]; then
    corpus '1k of 7 kB' 100 10 7000
    corpus '10k of 7 kB' 1000 10 7000
    corpus '100k of 7 kB' 10000 10 7000
fi
if [ -f tests/bench/bench_calc.c ]; then
    echo
    make -s BUILD="$BUILD" "$BUILD/tests/bench/bench_calc"
    "$BUILD/tests/bench/bench_calc"
    if [ -f "$BUILD/vram.wasm" ] && command -v node >/dev/null; then BUILD=$BUILD node tests/bench/bench_wasm.mjs; fi
fi
