#!/bin/sh
# What the English pages tell a reader to type: each `$ vramcalc` line, and each in the middle of a sentence, ends with exit code 0 in
# a folder that has the files they name, and each script of this repository may be started. Other programs are not looked at.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
mkdir "$work/config"
printf 'batch_size = 12\nblock_size = 1024\ngradient_accumulation_steps = 5 * 8\n' >"$work/config/train_gpt2.py"
echo 'CUDA out of memory. Tried to allocate 6.14 GiB (GPU 0; 15.78 GiB total capacity; 10.16 GiB already allocated)' >"$work/error.txt"
cp "$ROOT/tests/cli/calc_snapshot/step2.pickle" "$work/snapshot.pickle"

commands() { # FILE: prints each command of ours once
    { sed -n 's/^\$ //p' "$1"; grep -ohE '`vramcalc [a-z-]+ [^`]*`' "$1" | tr -d '`'; } | grep -E '^(vramcalc |\./|tests/)' | sort -u
}
works() { # COMMAND
    case $1 in
    vramcalc\ *) (cd "$work" && sh -c "$1" </dev/null >log 2>&1) ;;
    *) test -x "$ROOT/${1%% *}" || { echo "${1%% *} is not executable" >"$work/log"; false; } ;;
    esac
}
find content -name en.md -exec cat {} + >"$work/pages"
commands "$work/pages" >"$work/list"
while IFS= read -r command; do
    if works "$command"; then echo "ok page_commands: $command"
    else status=1; echo "not ok page_commands: $command"; sed 's/^/    /' "$work/log" | head -n 5; fi
done <"$work/list"
# What fails is found: a field and a preset that do not exist, a file that is no program.
printf '$ vramcalc estimate preset=gpt2 no_such_field=1\n`vramcalc fit preset=nothing`\n$ tests/calc/measured.lua FILE\n' >"$work/wrong"
commands "$work/wrong" >"$work/wrong.list"
found=0
while IFS= read -r command; do works "$command" || found=$((found + 1)); done <"$work/wrong.list"
if [ "$found" -eq 3 ]; then echo 'ok page_commands: and what fails is found'
else status=1; echo "not ok page_commands: $found of 3 wrong commands were found"; fi
exit $status
