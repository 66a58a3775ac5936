#!/bin/sh
# The estimator against the allocations of the real frameworks (frameworks.c says what is compared). NAME=case shows all phases of
# one case.
set -eu
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
MAKE_BUILD=${MAKE_BUILD:-${BUILD:-build}}
MAKE_BUILD=${MAKE_BUILD#"$ROOT/"}
make -s -C "$ROOT" BUILD="$MAKE_BUILD" MODE="${MODE:-release}" "$MAKE_BUILD/tests/calc/frameworks" >&2
case $MAKE_BUILD in /*) BUILD=$MAKE_BUILD ;; *) BUILD=$ROOT/$MAKE_BUILD ;; esac
exec "$BUILD/tests/calc/frameworks" "$ROOT"
