#!/bin/sh
# The site and a small one with every feature, built afresh and looked at in Debian's chromium. Prints lines as tests/run.sh
# wants them. The two packages of package.json are installed below $BUILD, once; CHROMIUM names another browser. With the
# word "modules" it does no more than that.
set -eu
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
modules=$BUILD/browser
for program in node npm "${CHROMIUM:-chromium}"; do
    command -v "$program" >/dev/null || { echo "skip browser: $program is not there"; exit 0; }
done
mkdir -p "$modules"
if ! cmp -s tests/browser/package-lock.json "$modules/package-lock.json"; then
    cp tests/browser/package.json tests/browser/package-lock.json "$modules/"
    if ! (cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund) >"$modules/npm.log" 2>&1; then
        rm -f "$modules/package-lock.json"
        echo "not ok browser: npm ci failed, see $modules/npm.log"
        exit 1
    fi
fi
[ "${1:-}" != modules ] || exit 0
export BUILD
site=$(sh tests/own_site.sh "$modules" 2>"$modules/build.log") ||
    { echo "not ok browser: the site cannot be built"; grep -A 2 'error:' "$modules/build.log"; exit 1; }
"$BUILD/vramdoc" build -c tests/browser/fixture/site.yaml -s tests/browser/fixture/content -o "$modules/fixture" >"$modules/build.log" 2>&1 ||
    { echo "not ok browser: the fixture cannot be built"; grep -A 2 'error:' "$modules/build.log"; exit 1; }
BROWSER_MODULES=$modules CHROMIUM=$(command -v "${CHROMIUM:-chromium}") PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
export BROWSER_MODULES CHROMIUM PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD
exec node tests/browser/main.mjs "$site" "$modules/fixture"
