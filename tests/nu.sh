#!/bin/sh
# Every page of the site, with and without an address of its own, and of the browser tests' small site, by the Nu HTML checker
# (npm's vnu-jar, in Debian's default-jre-headless): no error and no warning. What it says of the content security policy is left out
# by name: it looks at files, where 'self' means nothing, and takes data blocks for scripts.
set -eu
[ "${MODE:-release}" = release ] || { echo "skip nu: the release build has the same pages"; exit 0; }
ROOT=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
BUILD=${BUILD:-$ROOT/build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
for program in java node npm; do
    command -v $program >/dev/null || { echo "skip nu: $program is not there"; exit 0; }
done
(cd "$ROOT" && sh tests/browser/run.sh modules) >/dev/null 2>&1 || true
jar=$BUILD/browser/node_modules/vnu-jar/build/dist/vnu.jar
[ -f "$jar" ] || { echo "skip nu: vnu-jar could not be installed from npm"; exit 0; }
work=$(mktemp -d "${TMPDIR:-/tmp}/vramdoc-nu.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0

# Compiled quickly, with one thread for its memory: 14 s of processor time a site instead of 21.
java='java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss8m -jar'
# check NAME FOLDER: every *.html below it.
check() {
    pages=$(find "$2" -name '*.html' | wc -l)
    $java "$jar" --format gnu --stdout --skip-non-html "$2" 2>"$work/err" | grep -vE 'Content Security Policy|This document appears to be written in' >"$work/log" || true
    if [ "$pages" -gt 1 ] && [ ! -s "$work/log" ] && ! grep -qE "Exception|Error" "$work/err"; then echo "ok nu: $1, $pages pages"
    else
        status=1
        echo "not ok nu: $1, $pages pages"
        sed "s,.*$2/,    ," "$work/log" | head -n 20
        head -n 3 "$work/err"
    fi
}
cd "$ROOT"
own=$(sh tests/own_site.sh "$work")
"$BUILD/vramdoc" build -q -c content/site.yaml -s content -o "$work/hosted" --base-url https://example.org/vram >/dev/null 2>&1
"$BUILD/vramdoc" build -q -c tests/browser/fixture/site.yaml -s tests/browser/fixture/content -o "$work/fixture" >/dev/null 2>&1
check 'the site' "$own"
check 'the site at an address' "$work/hosted"
check 'the fixture' "$work/fixture"
# A fault is found, or what is above says nothing.
printf '<!doctype html><html lang="en"><title>x</title><p><div id="a"></div><div id="a"></div>' >"$work/bad.html"
if $java "$jar" --format gnu --stdout "$work/bad.html" 2>/dev/null | grep -q 'error'; then echo 'ok nu: a fault is found'
else status=1; echo 'not ok nu: a fault is not found'; fi
exit $status
