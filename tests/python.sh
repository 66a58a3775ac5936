#!/bin/sh
# The Python package calc/python: its ABI held against the header, its answers against vramcalc, the wheel as it is installed.
set -eu
for module in cffi pytest; do
    python3 -c "import $module" 2>/dev/null || { echo "skip python: $module is not here"; exit 0; }
done
[ "${MODE:-release}" = release ] || { echo "skip python: a sanitized library wants the sanitizers' own program"; exit 0; }
make -s -C "$ROOT" BUILD="$MAKE_BUILD" package >&2
rc=0
cd "$ROOT/tests/python"
PYTHONPATH="$BUILD/python" PYTHONDONTWRITEBYTECODE=1 python3 -m pytest -v --tb=short -p no:cacheprovider . >"${TMPDIR:-/tmp}/python.$$" 2>&1 || rc=$?
sed -n 's/^\([^ ]*\) PASSED.*/ok \1/p;s/^\([^ ]*\) FAILED.*/not ok \1: see below/p;s/^\([^ ]*\) ERROR.*/not ok \1: see below/p;s/^\([^ ]*\) SKIPPED *(\(.*\)).*/skip \1: \2/p' "${TMPDIR:-/tmp}/python.$$"
[ $rc -eq 0 ] || cat "${TMPDIR:-/tmp}/python.$$"
rm -f "${TMPDIR:-/tmp}/python.$$"
exit $rc
