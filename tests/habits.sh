#!/bin/sh
# What the sources must not do: unbounded string functions, formatting outside its one place, a second door to
# stderr, writable globals, and words that say that something is unfinished.
set -eu
status=0
bad() { status=1; echo "not ok $1"; }
# none WHAT PATTERN FILES...: no line of the files matches. A pattern or a file that grep cannot read is a failure.
none() {
    what=$1 pattern=$2 rc=0
    shift 2
    found=$(grep -nE -e "$pattern" /dev/null "$@" 2>&1) || rc=$?
    if [ $# -eq 0 ]; then bad "$what: there is no file to read"
    elif [ $rc -eq 1 ]; then echo "ok $what"
    else
        bad "$what"
        echo "$found" | head -n 20 | sed 's/^/    /'
    fi
}
# First this script itself: each of these must be refused.
refused() { if (none "$@") | grep -q '^not ok'; then echo "ok refused: $1"; else bad "not refused: $1"; fi; }
refused 'a line that matches' '^none\(\)' tests/habits.sh
refused 'a pattern that is wrong' '(' tests/habits.sh
refused 'a file that is not there' 'x' tests/habits.sh tests/absent.c
refused 'no file at all' 'x'

c=$(find gen calc kernels \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \))
gen=$(find gen -name '*.[ch]')
# shellcheck disable=SC2046,SC2086
{
none 'no unbounded string function' '\b(strcpy|strcat|sprintf|vsprintf|gets|strtok)\(' $c
none 'formatting only in gen/base/buf.c' '\bv?snprintf\(' $(echo "$gen" | grep -v '^gen/base/buf\.c$')
none 'memory that runs out ends with exit code 3' '\babort\(' $gen
none 'stderr only in gen/base' '(, |\()stderr\b|\bperror\(|STDERR_FILENO' $(echo "$gen" | grep -v '^gen/base/')
none 'of the page: VRAM_SMALL is its small module, __wasm__ what has neither English nor files' '__wasm__' $(find calc -name '*.[ch]' -o -name '*.def' |
    grep -vE '^calc/(base/(message|mem)|model/(gpus|presets|config)|parse/(parse|agreement|model_by_name)|write/visit(_objects)?|answer/oom)\.c$')
none 'frameworks by name only in their tables' 'framework *[!=]= *FRAMEWORK_([^A]|A[^U])' $(find calc -name '*.[ch]')
none 'plain technical English' '\b(lets? go of|answers true|so man[y]|made ane[w]|ane[w]|of lat[e]|nobod[y])\b' $c $(find gen calc kernels -name '*.def') \
    $(find README.md CONTRIBUTING.md calc gen kernels templates -name '*.md')
none 'nothing is left to do' '\b(TO''DO|FIX''ME|XX''X)\b' $(find gen calc kernels templates tests/unit tests/spec -type f ! -name '*.pyc')
}

# unsaid WORDS: the messages of the library that no other file of it has, neither as MESSAGE_id nor in a table.
unsaid() {
    sed -nE 's/^MESSAGE\(([a-z0-9_]+),.*/\1/p' calc/base/messages.def | sort | comm -23 - "$1"
}
said=$(mktemp)
find calc \( -name '*.[ch]' -o -name '*.def' \) ! -name messages.def -exec grep -ohE '\b(MESSAGE_)?[a-z][a-z0-9_]+\b' {} + |
    sed 's/^MESSAGE_//' | sort -u >"$said"
if found=$(unsaid "$said") && [ -z "$found" ]; then echo "ok every message of the library is said somewhere"
else bad "a message of the library that no file says"; echo "$found" | head -n 20 | sed 's/^/    /'; fi
grep -vx bad_enum "$said" >"$said.less"
if [ "$(unsaid "$said.less")" = bad_enum ]; then echo "ok found: a message that no file says"
else bad "not found: a message that no file says"; fi
rm "$said" "$said.less"

# writable FOLDER: its objects with something in .data or .bss, where a writable global would be. buf.o has the one that
# says how a program ends when memory runs out.
writable() {
    find "$1" -name '*.o' ! -path '*/gen/base/buf.o' -exec objdump -h {} + | awk '
        / file format / { file = $1 }
        ($2 == ".data" || $2 == ".bss") && $3 !~ /^0+$/ { print file " has writable data" }' | sort -u
}
for tree in gen calc; do
    what="no writable global in $tree"
    if [ "${MODE:-release}" != release ]; then echo "skip $what: sanitizers write some of their own"
    elif ! command -v objdump >/dev/null; then echo "skip $what: objdump is not there"
    elif [ -z "$(find "$BUILD/$tree" -name '*.o' 2>/dev/null | head -n 1)" ]; then bad "$what: no object in $BUILD/$tree"
    elif found=$(writable "$BUILD/$tree") && [ -z "$found" ]; then echo "ok $what"
    else bad "$what"; echo "$found" | sed "s,$BUILD/,    ,"; fi
done
exit $status
