#!/bin/sh
#SBATCH --job-name=vramprobe-merge
#SBATCH --ntasks=1
#SBATCH --time=00:10:00
# Merges the records of an array by kind of GPU: PROBE FOLDER. What is no valid record is named and left out.
set -eu
probe=$1 folder=$2
rm -f "$folder"/merged-*.json "$folder"/list-*
for record in "$folder"/part-*.json; do
    "$probe" validate "$record" || continue
    name=$(sed -n '/"device": {/,/}/s/^ *"name": "\(.*\)",*$/\1/p' "$record" | head -n 1)
    [ -n "$name" ] || name=no-device
    printf '%s\n' "$record" >>"$folder/list-$(printf %s "$name" | tr 'A-Z' 'a-z' | tr -c 'a-z0-9\n' '-')"
done
for list in "$folder"/list-*; do
    [ -e "$list" ] || { echo "no valid record in $folder" >&2; exit 1; }
    # shellcheck disable=SC2046  # a name of a record has no spaces
    "$probe" merge $(cat "$list") --force -o "$folder/merged-${list##*/list-}.json"
    rm "$list"
done
ls "$folder"/merged-*.json
