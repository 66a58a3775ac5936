#!/bin/sh
# Every C, CUDA and C++ file is laid out as .clang-format says, by clang-format 14: other versions lay out some lines in
# another way, so with those it is skipped.
#   sh tests/format.sh             compares the trees that are laid out
#   sh tests/format.sh -i TREE...  lays trees out; then their names belong in the list below
set -eu
[ "${MODE:-release}" = release ] || { echo "skip format: the sources are the same"; exit 0; }
trees="gen calc kernels tests"
status=0
for program in clang-format-14 clang-format; do
    if command -v $program >/dev/null && $program --version | grep -q 'version 14\.'; then format=$program; break; fi
done
if [ -z "${format:-}" ]; then echo "skip format: clang-format 14 is not there"; exit 0; fi
files_of() { find "$1" \( -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' \) | sort; }
if [ "${1:-}" = -i ]; then
    shift
    # A list of macros over several lines is broken by one line a round.
    for tree; do
        for _ in $(seq 30); do
            # shellcheck disable=SC2046
            if $format --dry-run -Werror $(files_of "$tree") 2>/dev/null; then break; fi
            # shellcheck disable=SC2046
            $format -i $(files_of "$tree")
        done
    done
    exit 0
fi
# laid_out NAME FILES...: prints the first lines that it would change.
laid_out() {
    name=$1
    shift
    if $format --dry-run -Werror "$@" 2>"$log"; then echo "ok $name: $# files"
    else
        status=1
        echo "not ok $name: run $format -i on these"
        sed -n 's/^\([^ :]*:[0-9]*\):.*error: code should be.*/    \1/p' "$log" | head -n 20
    fi
}
log=$(mktemp)
odd=$(mktemp --suffix=.c)
trap 'rm -f "$log" "$odd"' EXIT
echo 'int  x;' >"$odd"
if (laid_out odd --style=file:.clang-format "$odd") | grep -q '^not ok'; then echo "ok a file with two spaces is refused"
else status=1; echo "not ok a file with two spaces is not refused"; fi
for tree in $trees; do
    # shellcheck disable=SC2046
    laid_out "$tree" $(files_of "$tree")
done
exit $status
