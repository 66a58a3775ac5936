#!/bin/sh
# vramprobe where there is no GPU: it says so, its records are valid, it loses nothing. Skipped where it was not built.
set -eu
probe=$BUILD/vramprobe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ ! -x "$probe" ]; then echo "skip probe: vramprobe was not built, nvcc is not here"; exit 0; fi
failed=0
case_of() { if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: wanted $3, got $2"; failed=1; fi; }
code() { rc=0; "$@" >"$work/out" 2>"$work/err" </dev/null || rc=$?; echo "$rc"; }

case_of "lists its experiments" "$(code "$probe" --list)" 0
grep -q '^max_batch ' "$work/out" || { echo "not ok list names max_batch"; failed=1; }
case_of "help" "$(code "$probe" --help)" 0
case_of "no arguments to run" "$(code "$probe" run)" 2
case_of "an unknown experiment" "$(code "$probe" run nothing -o "$work/x.json")" 2
if [ -e /dev/nvidia0 ]; then echo "skip no-device mode: a GPU is here"; else
    case_of "no GPU" "$(code "$probe" run -o "$work/none.json")" 77
    case_of "one clear line" "$(wc -l <"$work/err" | tr -d ' ')" 1
    case_of "its record says so" "$(grep -c '"status": "no-device"' "$work/none.json")" 1
    case_of "its record is valid" "$(code "$probe" validate "$work/none.json")" 0
    case_of "its record names no folder" "$(grep -c "$work" "$work/none.json" || true)" 0
    case_of "it names version and sources" "$(grep -cE '"version": "0"|"sources_sha256": "0000000000' "$work/none.json")" 0
    case_of "nothing is overwritten" "$(code "$probe" run -o "$work/none.json")" 3
    case_of "kernels cannot be checked" "$(code "$probe" --check)" 77
    case_of "merging" "$(code "$probe" merge "$work/none.json" "$work/none.json" -o "$work/both.json")" 0
    case_of "the merged record is valid" "$(code "$probe" validate "$work/both.json")" 0
fi
printf '{"schema": "vramprobe/1"' >"$work/cut.json"
case_of "a truncated record" "$(code "$probe" validate "$work/cut.json")" 3
printf '{"schema": "vramprobe/2"}' >"$work/other.json"
case_of "another schema" "$(code "$probe" validate "$work/other.json")" 3
case_of "a record that is not there" "$(code "$probe" validate "$work/absent.json")" 3
fixture=$ROOT/tests/kernels/fixtures/not-measured.json
case_of "comparing with the estimator" "$(code "$probe" compare "$fixture")" 0
case_of "what was compared" "$(tail -n 1 "$work/out" | cut -d: -f1)" "4 results, 8 figures"
sed '/max_memory_allocated_bytes/,/value/s/"value": 6/"value": 7/' "$fixture" >"$work/off.json"
case_of "a figure that is off" "$(code "$probe" compare "$work/off.json")" 1
if [ ! -e /dev/nvidia0 ]; then case_of "nothing to compare" "$(code "$probe" compare "$work/none.json")" 3; fi
printf 'n_layer = 2\nbatch_size = "many"\n' >"$work/bad.py"
case_of "a config file that is wrong" "$(code "$probe" run step --config "$work/bad.py" -o "$work/x.json")" 3
case_of "where it is wrong" "$(grep -c 'bad.py:2:' "$work/err")" 1
case_of "a config without an experiment" "$(code "$probe" run batch_size=2 -o "$work/x.json")" 2
printf 'abc' >"$work/odd.bin"
case_of "tokens of half a number" "$(code "$probe" run step --tokens "$work/odd.bin" -o "$work/x.json")" 3
exit $failed
