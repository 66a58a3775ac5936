#!/bin/sh
# own_site.sh FOLDER: prints where the project's own site is, as $BUILD/vramdoc builds it under --strict; no one may change it. In a
# run of all suites (OWN_SITE is a folder of the run) it is built once for all of them, else below FOLDER. Where that fails, the
# exit code is 1 and the messages are on stderr.
set -eu
ROOT=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$ROOT/build}
own=${OWN_SITE:-$1/own}
mkdir -p "$own"
exec 9>"$own/lock"
flock 9
if [ -z "${OWN_SITE:-}" ] || [ ! -e "$own/exit" ]; then
    rc=0
    SOURCE_DATE_EPOCH=1700000000 "$BUILD/vramdoc" build -q --strict -c "$ROOT/content/site.yaml" -s "$ROOT/content" -o "$own/site" >"$own/log" 2>&1 9>&- || rc=$?
    echo $rc >"$own/exit"
fi
if [ "$(cat "$own/exit")" -ne 0 ]; then
    cat "$own/log" >&2
    exit 1
fi
echo "$own/site"
