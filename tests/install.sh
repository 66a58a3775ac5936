#!/bin/sh
# make install below a folder of its own: the programs work from there, find their templates and words, and uninstall
# leaves nothing behind.
set -eu
status=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
try() {
    what=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok install: $what"
    else status=1; echo "not ok install: $what"; sed 's/^/    /' "$work/log" | head -n 8; fi
}
make -s BUILD="${MAKE_BUILD:-$BUILD}" MODE="${MODE:-release}" NVCC= prefix=/usr DESTDIR="$work/root" install >"$work/log" 2>&1 || { echo "not ok install: it fails"; cat "$work/log"; exit 1; }
usr=$work/root/usr
try 'the program runs' "$usr/bin/vramdoc" --version
try 'its manual page' grep -q '^\.TH vramdoc 1' "$usr/share/man/man1/vramdoc.1"
try 'its completion' bash -n "$usr/share/bash-completion/completions/vramdoc"
if command -v man >/dev/null; then
    clean_page() { [ -z "$(MANWIDTH=100 man --warnings -E UTF-8 -l "$usr/share/man/man1/$1.1" 2>&1 >/dev/null)" ]; }
    try 'the manual page of vramdoc is clean' clean_page vramdoc
    [ ! -f "$usr/share/man/man1/vramcalc.1" ] || try 'the manual page of vramcalc is clean' clean_page vramcalc
else
    echo "skip install: manual pages by man: man is not there"
fi
mkdir "$work/docs"
printf -- '---\ntitle: Installed\n---\n\nText.\n' >"$work/docs/page.md"
cd "$work"
try 'it builds a folder of Markdown' "$usr/bin/vramdoc" build -s docs -o out
try 'with its templates' grep -rqs '<main' out
# From any folder, as a user without root who owns nothing but the output, of a tree that is read only.
chmod 755 "$work" "$work/docs" && chmod -R a+rX "$work/root" && chmod 644 "$work/docs/page.md"
mkdir -m 777 "$work/elsewhere" && ln -s "$usr/bin/vramdoc" "$work/elsewhere/vramdoc"
as=''
if [ "$(id -u)" -eq 0 ]; then as='setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all'; fi
anywhere() { (cd "$1" && shift && env -i PATH=/usr/bin:/bin $as "$@"); }
outside() { (cd "$work" && find root docs -type f -exec sha256sum {} + | sort); }
before=$(outside)
try 'it builds from the root folder, as a user without root' anywhere / "$usr/bin/vramdoc" build -s "$work/docs" -o "$work/elsewhere/site"
try 'it builds by a relative path and a link to the program' anywhere "$work/elsewhere" ./vramdoc build -s ../docs -o ./again
try 'the same bytes' diff -r "$work/elsewhere/site" "$work/elsewhere/again"
try 'nothing else is changed' [ "$before" = "$(outside)" ]
alone() { [ "$(find "$work/elsewhere" -mindepth 1 -maxdepth 1 | wc -l)" -le 5 ]; }   # two sites, two caches, the link
try 'nor made' alone
denied() { ! anywhere / "$usr/bin/vramdoc" build -s "$work/docs" -o "$work/docs/out" && [ ! -e "$work/docs/out" ]; }
chmod 555 "$work/docs"
try 'it says when it may not write' denied
chmod 755 "$work/docs"
if [ -f "$usr/lib/libvram.a" ]; then
    printf '#include <vram.h>\nint main(void) { return vram_version() ? 0 : 1; }\n' >use.c
    try 'a program links libvram by pkg-config' sh -c 'PKG_CONFIG_PATH="$1/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$2" gcc -fsanitize="${3}" use.c -o use $(PKG_CONFIG_PATH="$1/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$2" pkg-config --cflags --libs libvram) && ./use' sh "$usr" "$work/root" "$(case ${MODE:-} in check) echo address,undefined ;; *) echo undefined ;; esac)"
fi
cd "$ROOT"
make -s BUILD="${MAKE_BUILD:-$BUILD}" NVCC= prefix=/usr DESTDIR="$work/root" uninstall
left=$(find "$work/root" -type f)
try 'uninstall leaves nothing' [ -z "$left" ]
exit $status
