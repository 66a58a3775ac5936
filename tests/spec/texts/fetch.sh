#!/bin/sh
# Puts the texts of the two specifications below the folder that is given: commonmark.txt from npm's commonmark-spec,
# gfm.txt from the documentation of Debian's cmark-gfm. What cannot be had is left out, with one line.
set -eu
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
gfm=/usr/share/doc/cmark-gfm/spec.txt.gz
if [ -f "$gfm" ]; then gzip -dc "$gfm" >"$folder/gfm.txt"
else echo "$gfm is not there: install Debian's cmark-gfm (minimal images leave documentation out)"; fi
if ! cmp -s "$here/package-lock.json" "$folder/package-lock.json" || [ ! -f "$folder/commonmark.txt" ]; then
    cp "$here/package.json" "$here/package-lock.json" "$folder/"
    if command -v npm >/dev/null && (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund) >"$folder/npm.log" 2>&1; then
        cp "$folder/node_modules/commonmark-spec/spec.txt" "$folder/commonmark.txt"
    else
        rm -f "$folder/package-lock.json"
        echo "npm cannot give commonmark-spec (see $folder/npm.log)"
    fi
fi
