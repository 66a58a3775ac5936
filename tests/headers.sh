#!/bin/sh
# Every header compiles alone, and the estimator's public header compiles as C++ too.
set -eu
[ "${MODE:-release}" = release ] || { echo "skip headers: the sources are the same"; exit 0; }
flags="-std=c11 -D_GNU_SOURCE -I. -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags libcmark-gfm lua5.4 yaml-0.1 jansson)"
status=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# check HEADER COMPILER WORDS...
check() {
    header=$1
    shift
    echo "#include \"$header\"" >"$tmp/x"
    if "$@" "$tmp/x" 2>"$tmp/log"; then echo "ok $header ($1)"
    else status=1; echo "not ok $header ($1): does not compile alone"; sed 's/^/    /' "$tmp/log"; fi
}

for header in gen/*.h gen/*/*.h gen/*/*/*.h calc/*.h calc/*/*.h kernels/*/*.h; do
    [ -f "$header" ] || continue
    # The compiler of CUDA knows where its own headers are; the probe's build compiles those files.
    case $header in kernels/*) ! grep -q '#include <cu' "$header" || continue ;; esac
    # shellcheck disable=SC2086
    check "$header" gcc -x c $flags
done
for header in calc/vram.h calc/vram/*.h; do
    if command -v g++ >/dev/null; then check "$header" g++ -x c++ -I. -Wall -Wextra -Werror -fsyntax-only
    else echo "skip $header as C++: g++ is not there"; fi
done
exit $status
