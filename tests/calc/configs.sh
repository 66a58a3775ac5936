#!/bin/sh
# Real configuration files: reads each of tests/calc/configs.tsv in a folder that has them at REPOSITORY/PATH, and compares fields,
# or the places of errors, with what is wanted. A key that no table knows is a failure, unless the row says how many there are.
#   sh tests/calc/configs.sh FOLDER    or CONFIGS=FOLDER FILTER=configs ./build.sh test
# Without a folder nothing is done.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$ROOT/build}
folder=${1:-${CONFIGS:-}}
if [ -z "$folder" ]; then
    echo "skip configs: CONFIGS names no folder of configuration files"
    exit 0
fi
out=$(mktemp)
alone=$(mktemp -d)
trap 'rm -rf "$out" "$out.err" "$alone"' EXIT
status=0

# field KEY: of the configuration in the report, as it is written there.
field() { sed -n '/"config": {/,$p' "$out" | sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" | head -n 1; }

# What differs from what is wanted, or nothing.
differences() {
    errors=$(sed -n "s|^$1:\([0-9]*:[0-9]*\): error:.*|error:\1|p" "$out.err" | sort -u | tr '\n' ' ')
    wanted=$(echo "$2" | tr ' ' '\n' | grep '^error:' | sort -u | tr '\n' ' ' || true)
    [ "$errors" = "$wanted" ] || echo "errors at $errors"
    unknown=$(grep -cE 'is no (key|section) of|is not read' "$out.err" || true)
    known=$(echo "$2" | tr ' ' '\n' | sed -n 's/^unknown://p')
    [ "$unknown" -eq "${known:-0}" ] || echo "$unknown unknown keys"
    for pair in $2; do
        case $pair in error:*|unknown:*) continue ;; esac
        got=$(field "${pair%%=*}")
        [ "$got" = "${pair#*=}" ] || echo "${pair%%=*} is $got"
    done
}

tab=$(printf '\t')
while IFS="$tab" read -r format repository commit path given wanted beside; do
    case $format in '#'*|'') continue ;; esac
    file=$folder/$repository/$path
    if [ ! -f "$file" ]; then echo "skip $repository/$path: not there (commit $commit)"; continue; fi
    # with nothing near it but what the row names: another file of the folder must not decide
    file=$alone/$repository/$path
    for one in "$path" $beside; do
        mkdir -p "$(dirname "$alone/$repository/$one")"
        cp "$folder/$repository/$one" "$alone/$repository/$one"
    done
    # shellcheck disable=SC2046,SC2086
    (cd "$ROOT/tests/cli/calc_read" && "$BUILD/vramcalc" estimate $(echo "$given" | sed 's/^-$//') "$file" --format json) >"$out" 2>"$out.err" || true
    found=$(differences "$file" "$wanted")
    rm -rf "${alone:?}/$repository"
    if [ -z "$found" ]; then echo "ok $format $path"
    else status=1; echo "not ok $format $path: $(echo "$found" | tr '\n' ';')"; fi
done <"$ROOT/tests/calc/configs.tsv"
exit $status
