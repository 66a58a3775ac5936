#!/bin/sh
# The installed face of libvram: headers that compile alone as C and as C++, a C++ program that links, the pkg-config file.
set -eu
cd "$ROOT"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
# check NAME COMMAND...
check() {
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok $name"
    else failed=1; echo "not ok $name: $(tail -n 1 "$work/log")"; cat "$work/log"; fi
}
mkdir "$work/include"
cp -R calc/vram.h calc/vram_lua.h calc/vram "$work/include"
for header in vram vram_lua; do
    printf '#include "%s.h"\n' $header >"$work/$header.c"
    check "$header.h as C11" gcc -std=c11 -Wall -Wextra -Werror -pedantic -I"$work/include" -c "$work/$header.c" -o "$work/$header.o"
done
# A sanitized library wants the sanitizers' own.
sanitizers=''
if [ "${MODE:-release}" = check ]; then sanitizers=-fsanitize=address,undefined; fi
if command -v g++ >/dev/null; then
    for std in c++11 c++20; do
        # shellcheck disable=SC2086
        check "a program in $std" g++ -std=$std $sanitizers -Wall -Wextra -Werror -pedantic -I"$work/include" \
            tests/calc/use_vram.cc "$BUILD/libvram.a" -o "$work/use_vram"
        check "it runs ($std)" "$work/use_vram"
    done
else
    echo "skip C++: g++ is not there"
fi
# The header's first example, as it is there.
{
    printf '#include <stdio.h>\n#include "vram.h"\nint main(void)\n{\n'
    sed -n '/^#ifndef/q;s,^//     ,,p' calc/vram.h
    printf 'return 0;\n}\n'
} >"$work/example.c"
# shellcheck disable=SC2086
check "the header's first example" gcc -std=c11 $sanitizers -Wall -Wextra -Werror -I"$work/include" "$work/example.c" \
    "$BUILD/libvram.a" -o "$work/example"
check "it prints a number" sh -c "'$work/example' | grep -qE '^[0-9]{9,}\$'"
# What leaves the library is what the header marks.
sed -n 's/^VRAM_API .*[ *]\(vram_[a-z0-9_]*\)(.*/\1/p' calc/vram/*.h | sort >"$work/declared"
nm -g --defined-only "$BUILD/libvram.a" | sed -n 's/.* [A-Z] //p' | sort >"$work/exported"
check "exported is what vram.h declares" diff "$work/declared" "$work/exported"
check "nothing else is asked for" test -z "$(nm -u "$BUILD/vram.o" | grep -vE ' (mem(cpy|set|move|cmp)|_GLOBAL_OFFSET_TABLE_|__(asan|ubsan|stack_chk)[a-z0-9_]*)$')"
sed -e "s,@prefix@,$work," -e 's,@version@,1.2.3,' calc/libvram.pc.in >"$work/libvram.pc"
check "pkg-config file is valid" pkg-config --validate "$work/libvram.pc"
flags=$(PKG_CONFIG_PATH=$work pkg-config --cflags --libs libvram)
check "pkg-config gives the flags" test "$(echo $flags)" = "-I$work/include -L$work/lib -lvram"
exit $failed
