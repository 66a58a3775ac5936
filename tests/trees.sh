#!/bin/sh
# Real documentation trees: builds each of tests/trees.tsv in a folder of clones, and compares what came out with what is
# wanted: exit code 0, languages, pages, translations, start page, messages about links, and no syntax of another generator as
# prose.
# A clone lies at FOLDER/NAME or at FOLDER/OWNER+NAME.
#   sh tests/trees.sh FOLDER [TREE...]    or TREES=FOLDER FILTER=trees ./build.sh test
# Without a folder nothing is done. KEEP=DIR keeps the sites and the messages.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
BUILD=${BUILD:-$ROOT/build}
case $BUILD in /*) ;; *) BUILD=$ROOT/$BUILD ;; esac
folder=${1:-${TREES:-}}
if [ -z "$folder" ]; then
    echo "skip trees: TREES names no folder of clones"
    exit 0
fi
[ $# -eq 0 ] || shift
work=${KEEP:-}
if [ -z "$work" ]; then
    work=$(mktemp -d "${TMPDIR:-/tmp}/vramdoc-trees.XXXXXX")
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
status=0

# number KEY: of the line of JSON that ends a build; 0 without one.
number() { grep '"result"' "$log" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" | grep . || echo 0; }
messages() { grep -c "\"id\":\"$1" "$log" || true; }

# The languages that pages of the site are in.
languages() { find "$out" -name '*.html' -exec grep -ho '<html lang="[^"]*"' {} + 2>/dev/null | sed 's/.*lang="//;s/"//' | sort -u | tr '\n' ' ' | sed 's/ $//'; }

# Title of the start page, behind its redirect.
home() {
    page=$out/index.html
    [ -f "$page" ] || return 0
    to=$(sed -n 's/.*http-equiv="refresh"[^>]*url=\([^"]*\)".*/\1/p' "$page" | head -n 1)
    [ -z "$to" ] || page=$out/$to
    sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p' "$page" 2>/dev/null | head -n 1
}

# How many pages of ours show syntax of another generator as prose: outside of code, scripts and the head. What looks like an
# element is one only in kinds that have them, and not behind a letter (a type, Vec<T>) or in a title.
raw() {
    case $kind in docusaurus|starlight|vitepress) elements='|(^|[^A-Za-z])&lt;\\/?[A-Z][A-Za-z]*[ \\/&]' ;; *) elements='' ;; esac
    grep -rlZ '<meta name="generator"\|<main id="main"' --include='*.html' "$out" | sort -z | xargs -0 -r awk -v elements="$elements"  '
        BEGIN { RS = "<"; marks = "\\{%|%\\}|\\{\\{|\\}\\}|(^|\n):::|(^|\n)(!!!|\\?\\?\\?\\+?|///) [a-z]|(^|\n)import [A-Za-z{*][^\n]* from [\"&\047]|\\{: ?[.#]|\\{ ?#[a-z]|--8&lt;--" elements }
        FNR == 1 { if (bad) n++; bad = 0; inside = 0 }
        {
            split($0, part, ">")
            tag = tolower(part[1]); sub(/[ \n\/].*/, "", tag)
            if (tag ~ /^(pre|code|script|style|head|math|svg|nav|h1)$/) { inside++; next }
            if ($0 ~ /^\/(pre|code|script|style|head|math|svg|nav|h1)>/) { if (inside) inside-- }
            if (inside) next
            text = substr($0, index($0, ">") + 1)
            if (text ~ marks) {
                if (!bad && ENVIRON["V"]) print FILENAME ": " text > "/dev/stderr"
                bad = 1
            }
        }
        END { if (bad) n++; print n + 0 }' | awk '{ n += $1 } END { print n + 0 }'
}

# differs WHAT GOT WANTED
differs() { [ "$2" = "$3" ] || why="$why; $1: $2, not $3"; }

one() {
    out=$work/$tree log=$work/$tree.log why='' code=0
    source=$folder/$(echo "$repository" | tr / +)  # where two have one name
    [ -d "$source" ] || source=$folder/${repository##*/}
    if [ ! -d "$source" ]; then echo "skip trees/$tree: no clone of https://github.com/$repository"; return; fi
    if [ -e "$source/.git" ] && [ "$(git -C "$source" rev-parse HEAD 2>/dev/null)" != "$commit" ]; then
        echo "skip trees/$tree: its clone is not at $commit"
        return
    fi
    rm -rf "$out" "$work/$tree.cache"
    timeout -k 5 600 "$BUILD/vramdoc" build --json -s "$source/$place" -o "$out" --cache "$work/$tree.cache" >"$log" 2>&1 || code=$?
    differs 'exit code' $code 0
    differs languages "$(languages)" "$wanted_languages"
    differs pages "$(number pages)" "$pages"
    translations=$(number translations)
    differs translations "$translations" "$wanted_translations"
    about_links=$(messages link-)
    if [ "$links" != '?' ] && [ "$about_links" -gt "$links" ]; then why="$why; $about_links messages about links, not $links"; fi
    title=$(home)
    case $title in *"$home_title"*) ;; *) why="$why; start page \"$title\", not \"$home_title\"" ;; esac
    shown=$(raw)
    differs 'pages with raw syntax' "$shown" "${wanted_raw:-0}"
    printf '    %-22s %-10s exit %s, %s languages, %s pages, %s translations, %s messages (%s about links), %s ms\n' "$tree" "$kind" \
        $code "$(number languages)" "$(number pages)" "$translations" "$(grep -c '"id"' "$log" || true)" "$about_links" "$(number ms)"
    if [ -z "$why" ]; then echo "ok trees/$tree"
    else status=1; echo "not ok trees/$tree: ${why#; }"; fi
}

# A tab is white space to read: an empty field would be lost, and there is none.
tab=$(printf '\t')
while IFS=$tab read -r tree repository commit place kind wanted_languages pages wanted_translations links home_title addresses wanted_raw; do
    case $tree in '#'*|'') continue ;; esac
    if [ $# -gt 0 ]; then case " $* " in *" $tree "*) ;; *) continue ;; esac; fi
    : "$addresses"
    one </dev/null
done <"$ROOT/tests/trees.tsv"
exit $status
