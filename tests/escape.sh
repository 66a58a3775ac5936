#!/bin/sh
# Attacks on the folder around the output: addresses in the front matter that would leave it, links in the output that lead out of
# it, a manifest that names files elsewhere. Nothing outside the output is made, changed or removed, with openat2 and without.
set -eu
status=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
good() { echo "ok escape: $1"; }
bad() { status=1; echo "not ok escape: $1"; sed 's/^/    /' "$work/log" | tail -n 8; }
make -s BUILD="$MAKE_BUILD" MODE="${MODE:-release}" "$MAKE_BUILD/tests/hinder" "$MAKE_BUILD/tests/unit/test_base_beneath"
hinder=$BUILD/tests/hinder
for error in 38 1; do
    if "$hinder" refuse $error "$BUILD/tests/unit/test_base_beneath" >"$work/log" 2>&1
    then good "files beneath a folder where openat2 fails with $error"; else bad "files beneath a folder where openat2 fails with $error"; fi
done

# The site lies three folders deep, among files that must not change.
mkdir -p "$work/a/b/site/content"
cd "$work/a/b/site"
for canary in page.html page.md x.html b.html ../page.html ../x.html ../../x.html ../../../x.html; do echo canary >"$canary"; done
printf -- '---\ntitle: Other\n---\n\nText.\n' >content/other.md
outside() { (cd "$work" && find . -path ./a/b/site/out -prune -o -path ./a/b/site/.out.vramdoc-cache -prune -o -path ./log -prune -o \
    -path ./a/b/site/content/page.md -prune -o -type f -exec sha256sum {} + | sort -k 2); }
before=$(mktemp)
trap 'rm -rf "$work" "$before"' EXIT
outside >"$before"

# attack NAME VALUE WANTED: VALUE is refused with exit code 1 (WANTED "no"), or WANTED is the file that is written below out/.
attack() {
    name=$1 value=$2 wanted=$3 rc=0
    printf -- '---\ntitle: Page\n%s: %s\n---\n\nText.\n' "$name" "$value" >content/page.md
    for how in '' "$hinder refuse 38"; do
        rm -rf out .out.vramdoc-cache
        rc=0
        $how "$BUILD/vramdoc" build -s content -o out >"$work/log" 2>&1 || rc=$?
        outside | diff "$before" - >>"$work/log" || { bad "$name: $value: a file outside of the output"; return; }
        if [ "$wanted" = no ]; then
            [ $rc -eq 1 ] && [ ! -e out ] && grep -q '^content/page.md:3:.*\[address-escapes\]$' "$work/log" || { bad "$name: $value: not refused"; return; }
        elif [ $rc -ne 0 ] || [ ! -f "out/$wanted" ]; then bad "$name: $value: no out/$wanted"; return
        fi
    done
    good "$name: $value"
}
for name in slug key; do
    attack $name '../page' no
    attack $name '../../../x' no
    attack $name 'a/../../b' no
    attack $name '/../x' no
    attack $name '..' no
    attack $name './../x' no
    attack $name '"a\0/../../x"' no
    attack $name '"x\n"' no
    attack $name '.git/hooks/post-checkout' no
    attack $name 'a/.htaccess' no
    attack $name '...' no
    attack $name '..\..\x' no
    attack $name "$work/x" "${work#/}/x.html"
    attack $name '//host/x' host/x.html
    attack $name '/intro' intro.html
    attack $name "'%2e%2e/x'" -2e-2e/x.html
    attack $name 'C:\x' C--x.html
    attack $name '.well-known/x' .well-known/x.html
done
attack slug '"/"' index.html
attack slug 'a//b/./c/' a/b/c.html
attack key '~/x' '~/x.html'
printf 'documents:\n  ../x: [page.md]\n' >content/site.yaml
printf -- '---\ntitle: Page\n---\n\nText.\n' >content/page.md
if "$BUILD/vramdoc" build -s content -o out >"$work/log" 2>&1 || ! grep -q 'setting-value' "$work/log"
then bad 'a key of the settings'; else good 'a key of the settings'; fi
rm content/site.yaml

# A folder of the output that is a link: nothing is written through it, and the link is not followed when files are removed.
build() { "$BUILD/vramdoc" build -s content -o out "$@" >"$work/log" 2>&1; }
printf -- '---\ntitle: Page\nslug: in/page\n---\n\nText.\n' >content/page.md
build
rm -r out/in; ln -s ../../b out/in
if build; then bad 'a link in the place of a folder: no error'
elif outside | diff "$before" - >>"$work/log"; then good 'a link in the place of a folder'
else bad 'a link in the place of a folder: a file outside of the output'; fi
rm out/in; build
ln -s ../../../page.html out/in/new.html; printf -- '---\ntitle: New\nslug: in/new\n---\n\nText.\n' >content/new.md
if build; then bad 'a link in the place of a file: no error'
elif outside | grep -v content/new.md | diff "$before" - >>"$work/log"; then good 'a link in the place of a file'
else bad 'a link in the place of a file: a file outside of the output'; fi
rm out/in/new.html content/new.md; build
# A link to the output is followed and stays one.
mv out real; ln -s real out; printf -- '---\ntitle: Page 2\n---\n\nText.\n' >content/page.md
if build -f && [ -L out ] && [ -f real/page.html ]; then good 'a link to the output stays one'; else bad 'a link to the output stays one'; fi
rm out; mv real out
# A manifest that someone has changed removes nothing elsewhere.
sed 's|^  "outputs": {|&\n    "../page.html": {"bytes": 1, "xxh3": "0"},\n    "/etc/hostname": {"bytes": 1},\n    "a/../../page.md": {"bytes": 1},|' out/vramdoc.json >x
mv x out/vramdoc.json
if build -f && outside | diff "$before" - >>"$work/log"; then good 'a manifest that names files elsewhere'; else bad 'a manifest that names files elsewhere'; fi
# A cache that the settings put elsewhere.
ln -s ../.. content/up
printf 'x\n' >content/file
for cache in ../../cache "$work/cache-of-somebody" up/cache file/cache; do
    printf 'cache: %s\n' "$cache" >content/site.yaml
    if build || [ -e "content/$cache" ] || [ -e "$cache" ] || ! grep -q 'setting-value' "$work/log"; then bad "cache: $cache"; else good "cache: $cache"; fi
done
exit $status
