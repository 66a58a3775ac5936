#!/bin/sh
# Makes the traces and the tables of defaults again: make.sh [ENVIRONMENT...] (default: every requirements/*.txt).
#   TRUTH_VENVS=folder   where the virtual environments live (.cache/vram-truth of the home), about 6 GB each
#   CASES='name name'    only these cases of cases.tsv
#   KEEP=1               leaves the environments there; else each is deleted after use
# It needs Python 3.11 and 3.12, a C++ compiler and PyPI. Nothing else in the repository needs any of them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../calc/truth/frameworks
venvs=${TRUTH_VENVS:-${XDG_CACHE_HOME:-$HOME/.cache}/vram-truth}
mkdir -p "$out" "$venvs"
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(cd "$here/requirements" && ls ./*.txt | sed 's,^\./,,;/\.alone\.txt$/d;s/\.txt$//')
for env; do
    wanted=$here/requirements/$env.txt
    python=$(sed -n 's/^# python: //p' "$wanted")
    if [ ! -x "$venvs/$env/bin/python" ]; then
        "$python" -m venv "$venvs/$env"
        "$venvs/$env/bin/pip" install -q -r "$wanted"
        if [ -f "${wanted%.txt}.alone.txt" ]; then
            "$venvs/$env/bin/pip" install -q --no-deps -r "${wanted%.txt}.alone.txt"
        fi
    fi
    sh "$here/setup.sh" "$venvs/$env"
    # shellcheck disable=SC2086
    sh "$here/run.sh" "$venvs/$env" "$here/cases.py" "$env" "$out" ${CASES:-}
    sh "$here/run.sh" "$venvs/$env" "$here/defaults.py" "$env" "$out/../defaults"
    [ -n "${KEEP:-}" ] || rm -rf "${venvs:?}/$env"
done
"${PYTHON:-python3}" "$here/summary.py" "$out"
