#!/bin/sh
# Files of at most 500 lines, functions of at most 60, lines of at most 100 columns.
set -eu
[ "${MODE:-release}" = release ] || { echo "skip sizes: the sources are the same"; exit 0; }
status=0 small=0
for file in gen/*.c gen/*/*.c gen/*/*/*.c calc/*.c calc/*/*.c kernels/*/*.c kernels/*/*.cu gen/*.h gen/*/*.h gen/*/*/*.h calc/*.h calc/*/*.h kernels/*/*.h kernels/*/*.cuh tests/unit/*.[ch]; do
    [ -f "$file" ] || continue
    lines=$(wc -l <"$file")
    if [ "$lines" -gt 500 ]; then status=1; echo "not ok $file: $lines lines"
    else echo "ok $file: $lines lines"; fi
    case $file in tests/*) ;; *.c|*.cu) [ "$lines" -ge 150 ] || small=$((small + 1)) ;; esac
    if long=$(grep -nE "^.{101,}" "$file" | cut -d: -f1 | head -n 3) && [ -n "$long" ]; then
        status=1
        echo "not ok $file: longer than 100 columns in line" $long
    fi
done
echo "$small source files have fewer than 150 lines"
if command -v ctags-universal >/dev/null; then ctags=ctags-universal
else ctags=ctags; fi
if ! $ctags --version 2>/dev/null | grep -q Universal; then
    echo "skip length of functions: universal-ctags is not there"
    exit $status
fi
set -- $(ls gen/*.c gen/*/*.c gen/*/*/*.c calc/*.c calc/*/*.c kernels/*/*.c kernels/*/*.cu 2>/dev/null)
longest=$($ctags -x --languages=C,CUDA --kinds-C=f --_xformat='%n %e %F %N' "$@" | awk '$2 - $1 + 1 > 60 { print $3 ":" $1 " " $4 " has " $2 - $1 + 1 " lines" }')
if [ -n "$longest" ]; then
    status=1
    echo "$longest" | sed 's/^/not ok /'
else
    echo "ok no function is longer than 60 lines"
fi
exit $status
