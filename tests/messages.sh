#!/bin/sh
# Every message of gen/base/diag.def is produced by a bad input of tests/sites, and nothing produces a message that is
# not there.
set -eu
status=0
sed -n 's/^X([A-Z0-9_]*, *[A-Z]*, *"\([a-z0-9-]*\)".*/\1/p' gen/base/diag.def >"${TMPDIR:-/tmp}/slugs.$$"
trap 'rm -f "${TMPDIR:-/tmp}/slugs.$$"' EXIT
while IFS= read -r slug; do
    if grep -qs "\[$slug\]$" tests/sites/*/wanted.diag tests/cli/*.txt; then echo "ok $slug"
    else status=1; echo "not ok $slug: no bad input produces it"; fi
done <"${TMPDIR:-/tmp}/slugs.$$"
exit $status
