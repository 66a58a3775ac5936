#!/bin/sh
# Runs the console examples of calc/README.md: each "$ command" must print the lines below it. UPDATE=1 rewrites them.
set -eu
readme=$ROOT/calc/README.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$ROOT"/tests/cli/calc_read/* "$ROOT"/tests/cli/calc_snapshot/* "$work"  # the files that the examples name
cd "$work"
PATH=$BUILD:$PATH

# The README as it would be with what the commands print now.
block=no
while IFS= read -r line; do
    case $block$line in
    'no```console') block=yes; printf '%s\n' "$line" ;;
    'yes```') block=no; printf '%s\n' "$line" ;;
    'yes$ '*) printf '%s\n' "$line"; sh -c "${line#??}" 2>&1 </dev/null || true ;;
    yes*) ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$readme" >"$work/new.md"
if [ -n "${UPDATE:-}" ]; then cp "$work/new.md" "$readme"; fi
examples=$(grep -c '^\$ ' "$readme")
if cmp -s "$work/new.md" "$readme"; then
    echo "ok calc/README.md: $examples examples"
else
    echo "not ok calc/README.md: an example prints something else"
    diff "$readme" "$work/new.md" | sed 's/^/    /'
    exit 1
fi
