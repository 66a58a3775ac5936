#!/bin/sh
# Every C, CUDA and C++ file is laid out as .clang-format says, by clang-format 14: other versions lay out some lines in
# another way, so with those it is skipped.
set -eu
status=0
for program in clang-format-14 clang-format; do
    if command -v $program >/dev/null && $program --version | grep -q 'version 14\.'; then format=$program; break; fi
done
if [ -z "${format:-}" ]; then echo "skip format: clang-format 14 is not there"; exit 0; fi
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
for tree in kernels tests; do
    # shellcheck disable=SC2046
    laid_out $tree $(find $tree \( -name '*.[ch]' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' \) | sort)
done
exit $status
