#!/bin/sh
# Runs every fuzz target for some seconds: sh tests/fuzz/run.sh BUILD SECONDS. FILTER=text picks targets, JOBS=N runs
# N of them at once (2). Seeds are tests/fuzz/seeds/NAME/*; what is found to be new is kept in BUILD/corpus/NAME, and
# an input that breaks something in BUILD/found/NAME-*, to be kept as a seed once it is repaired.
set -eu
cd "$(dirname "$0")/../.."
build=$1 seconds=$2 passed=0 failed=0 running=0
mkdir -p "$build/found" "$build/log"

fuzz() {
    name=$1
    mkdir -p "$build/corpus/$name"
    seeds=''
    if [ -d "tests/fuzz/seeds/$name" ]; then seeds=tests/fuzz/seeds/$name; fi
    dictionary=''
    if [ -f "tests/fuzz/$name.dict" ]; then dictionary=-dict=tests/fuzz/$name.dict; fi
    # shellcheck disable=SC2086
    if "$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=8192 \
        -print_final_stats=1 -artifact_prefix="$build/found/$name-" $dictionary "$build/corpus/$name" $seeds \
        >"$build/log/$name" 2>&1 </dev/null; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/log/$name")
        echo "ok fuzz $name: $runs inputs in $seconds s"
    else
        echo "not ok fuzz $name: see $build/log/$name"
        grep -E '^(SUMMARY|==.*ERROR|.*runtime error)' "$build/log/$name" | head -n 3 | sed 's/^/    /'
        return 1
    fi
}

# Waits for the targets that run, and counts them.
count() {
    for pid in $pids; do
        if wait "$pid"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    done
    pids='' running=0
}

pids=''
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    case $name in *"${FILTER:-}"*) ;; *) continue ;; esac
    if [ ! -x "$build/tests/fuzz/fuzz_$name" ]; then echo "not ok fuzz $name: not compiled"; failed=$((failed + 1)); continue; fi
    fuzz "$name" &
    pids="$pids $!" running=$((running + 1))
    if [ $running -ge "${JOBS:-2}" ]; then count; fi
done
count
if [ $((passed + failed)) -eq 0 ]; then failed=1; echo "not ok fuzz: no target has such a name"; fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
