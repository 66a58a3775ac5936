#!/bin/sh
# Measures vramdoc beside hugo and the floor on a real tree: ./build.sh bench TREE [TREE...]. TREE has a folder a language
# (TREE/de/..., or TREE/de/docs/...), such as the docs folder of a clone of fastapi/fastapi. Its Markdown is copied; front matter,
# shortcodes and template marks are taken out of the copy, so that all three read the same plain pages with their code.
#   RUNS=5   paired runs: in each all programs run once, one after the other; medians of times and of ratios within a run
#   BEFORE=PROGRAM   another vramdoc to run along
set -eu
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
make -s BUILD="$BUILD" "$BUILD/tests/bench/floor" "$BUILD/tests/bench/measure"
RUNS=${RUNS:-5} measure=$BUILD/tests/bench/measure vramdoc=$BUILD/vramdoc
work=$(mktemp -d "${BENCH_TMPFS:-/dev/shm}/vramdoc-tree.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Without a first block of ---, and with what generators would run made plain text.
defuse() {
    awk 'NR == 1 && $0 == "---" { front = 1; next }
         front { if ($0 == "---") front = 0; next }
         { gsub(/[{][{]/, "{ {"); gsub(/[}][}]/, "} }"); gsub(/[{]%/, "{ %"); gsub(/%[}]/, "% }"); print }' "$1" >"$2"
}

# copy TREE: its Markdown to $work/in/content/LANG, and settings for both programs; languages in $languages.
copy() {
    rm -rf "$work/in"
    languages=''
    for folder in "$1"/*/; do
        tag=$(basename "$folder")
        case $tag in [a-z][a-z] | [a-z][a-z]-* | [a-z][a-z][a-z]) ;; *) continue ;; esac
        [ ! -d "$folder/docs" ] || folder=$folder/docs/
        (cd "$folder" && find . -name '*.md' ! -path '*/.*' ! -path '*/_*' | sort) >"$work/list"
        [ -s "$work/list" ] || continue
        languages="$languages $tag"
        while IFS= read -r file; do
            mkdir -p "$work/in/content/$tag/$(dirname "$file")"
            # Hugo takes index.md for a folder without other pages: all have the name of a section's page.
            case $file in */index.md) to=${file%index.md}_index.md ;; *) to=$file ;; esac
            defuse "$folder/$file" "$work/in/content/$tag/$to"
        done <"$work/list"
    done
    mkdir -p "$work/in/layouts/_default"
    {
        printf "baseURL = 'https://bench.example/'\ndefaultContentLanguage = 'en'\ndefaultContentLanguageInSubdir = true\n"
        printf "disableKinds = ['taxonomy', 'term', 'RSS', 'sitemap', '404', 'robotsTXT']\nuglyURLs = true\n"
        printf "[markup.highlight]\nnoClasses = false\n"
        weight=0
        for tag in $languages; do
            weight=$((weight + 1))
            printf "[languages.%s]\ncontentDir = 'content/%s'\nweight = %s\n" "$tag" "$tag" "$weight"
        done
    } >"$work/in/hugo.toml"
    cat >"$work/in/layouts/_default/single.html" <<'END'
<!DOCTYPE html>
<html lang="{{ .Lang }}">
<head><meta charset="utf-8"><title>{{ .Title }}</title></head>
<body><nav><ul>{{ range .AllTranslations }}<li><a href="{{ .RelPermalink }}" lang="{{ .Lang }}">{{ .Lang }}</a></li>{{ end }}</ul></nav>
<main><h1>{{ .Title }}</h1>
{{ .Content }}</main></body></html>
END
    cp "$work/in/layouts/_default/single.html" "$work/in/layouts/_default/list.html"
    cp "$work/in/layouts/_default/single.html" "$work/in/layouts/index.html"
    printf 'title: Bench\nsource_language: en\ngit: false\n' >"$work/in/site.yaml"
    printf 'title: Bench\nsource_language: en\ngit: false\nsearch: none\n' >"$work/in/plain.yaml"
}

# one NAME COMMAND...: its wall seconds, added to the list of the run; the output of the last time is gone before it.
one() {
    name=$1
    shift
    rm -rf "$work/out" "$work/cache"
    result=$(NO_PSS=1 "$measure" "$@" 2>"$work/log") || true
    case $result in
    *' 0') printf '%s %s %s\n' "$run" "$name" "${result%% *}" >>"$work/times" ;;
    *) echo "failed: $*: $result"; head -n 5 "$work/log"; exit 1 ;;
    esac
}

# Medians of seconds, and of each one's seconds over the floor's and of hugo's over each one's within a run.
show() {
    awk '
        { t[$1, $2] = $3; if (!($2 in seen)) { seen[$2] = 1; names[++n] = $2 } if ($1 > runs) runs = $1 }
        function median(list, count,   i, k, x) {
            for (i = 2; i <= count; i++) for (k = i; k > 1 && list[k - 1] > list[k]; k--) { x = list[k]; list[k] = list[k - 1]; list[k - 1] = x }
            return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
        }
        END {
            for (i = 1; i <= n; i++) {
                for (r = 1; r <= runs; r++) { s[r] = t[r, names[i]]; f[r] = s[r] / t[r, "floor"]; if (("hugo") in seen) h[r] = t[r, "hugo"] / s[r] }
                printf "%-24s %7.3f s  %5.2f x floor", names[i], median(s, runs), median(f, runs)
                if (("hugo") in seen) printf "  hugo takes %5.2f x as long", median(h, runs)
                print ""
            }
        }' "$work/times"
}

echo "$(nproc) processors, $($vramdoc --version), $(hugo version 2>/dev/null | cut -c1-30), medians of $RUNS paired runs"
for tree; do
    copy "$tree"
    build="build -q -k plain -s $work/in/content -o $work/out --cache $work/cache"
    # shellcheck disable=SC2086
    "$vramdoc" $build -c "$work/in/site.yaml" 2>"$work/log" || { echo "$tree: it does not build"; head -n 5 "$work/log"; exit 1; }
    mv "$work/out" "$work/site"
    echo
    echo "$tree: $(find "$work/in/content" -name '*.md' | wc -l) pages in $(echo "$languages" | wc -w) languages," \
        "$(find "$work/in/content" -name '*.md' -exec cat {} + | wc -c) bytes; $(find "$work/site" -type f | wc -l) files," \
        "search $(find "$work/site" -path '*/search*' -name '*.js' ! -path '*/assets/*' -exec cat {} + | wc -c) bytes"
    : >"$work/times"
    for run in $(seq "$RUNS"); do
        rm -rf "$work/floor"
        one floor "$BUILD/tests/bench/floor" "$work/in/content" "$work/site" "$work/floor"
        # shellcheck disable=SC2086
        {
            one vramdoc "$vramdoc" $build -c "$work/in/site.yaml"
            one vramdoc-without-search "$vramdoc" $build -c "$work/in/plain.yaml"
            [ -z "${BEFORE:-}" ] || one before "$BEFORE" $build -c "$work/in/site.yaml"
            [ -z "${BEFORE:-}" ] || one before-without-search "$BEFORE" $build -c "$work/in/plain.yaml"
        }
        ! command -v hugo >/dev/null || one hugo hugo --quiet -s "$work/in" -d "$work/out"
    done
    show
    rm -rf "$work/site" "$work/floor"
done
