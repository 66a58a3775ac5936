#!/bin/sh
# What the sources must not do: unbounded string functions, formatting outside its one place, a second door to
# stderr, writable globals, and words that say that something is unfinished.
set -eu
status=0
# none WHAT PATTERN FILES...: no line of the files matches.
none() {
    what=$1 pattern=$2
    shift 2
    if found=$(grep -nE "$pattern" "$@" 2>/dev/null); then
        status=1
        echo "not ok $what"
        echo "$found" | head -n 20 | sed 's/^/    /'
    else
        echo "ok $what"
    fi
}
gen=$(find gen -name '*.[ch]')
# shellcheck disable=SC2046,SC2086
{
none 'no unbounded string function' '\b(strcpy|strcat|sprintf|vsprintf|gets|strtok)\(' $(find gen calc -name '*.[ch]')
none 'formatting only in gen/base/buf.c' '\bv?snprintf\(' $(echo "$gen" | grep -v '^gen/base/buf\.c$')
none 'memory that runs out ends with exit code 3' '\babort\(' $gen
none 'stderr only in gen/base' '(, |\()stderr\b|\bperror\(|STDERR_FILENO' $(echo "$gen" | grep -v '^gen/base/')
none 'nothing is left to do' '\b(TO''DO|FIX''ME|XX''X)\b' $(find gen calc kernels templates tests/unit tests/spec -type f)
}
if [ "${MODE:-release}" != release ]; then
    echo "skip no writable global: sanitizers write some of their own"
elif command -v objdump >/dev/null && [ -d "$BUILD/gen" ]; then
    # Sections .data and .bss of each object: a writable global would stand there.
    writable=$(find "$BUILD/gen" -name '*.o' ! -name buf.o -exec objdump -h {} + | awk '
        / file format / { file = $1 }
        ($2 == ".data" || $2 == ".bss") && $3 !~ /^0+$/ { print file " has writable data" }' | sort -u)
    if [ -n "$writable" ]; then status=1; echo "$writable" | sed "s,$BUILD/,,;s/^/not ok /"
    else echo "ok no writable global"; fi
fi
exit $status
