#!/bin/sh
# Who may include whom: the layers of gen/ point down only, calc/ is reached by its public headers, and the
# estimator's core includes nothing but five headers of the language.
set -eu
[ "${MODE:-release}" = release ] || { echo "skip arrows: the sources are the same"; exit 0; }
status=0
# The layers that know no site.
below='gen/base/*|gen/text/*'
# The headers of the project that a file may include, as patterns of case.
allowed() {
    case $1 in
    gen/base/*) echo 'gen/base/*' ;;
    # TOML is read by the code that reads it for the estimator.
    gen/text/*) echo 'gen/base/*|gen/text/*|calc/toml/*' ;;
    gen/site/kinds/*) echo "$below|gen/site/kinds/*" ;;
    gen/site/source/*) echo "$below|gen/site/incremental/*|gen/site/kinds/*|gen/site/source/*|kernels/record/*" ;;   # records are read as the probe writes them
    gen/site/documents/*) echo "$below|gen/site/incremental/*|gen/site/source/*|gen/site/documents/*" ;;
    gen/site/sandbox/*) echo 'gen/base/*|gen/site/sandbox/*' ;;
    gen/site/template/*) echo "$below|gen/site/source/*|gen/site/documents/*|gen/site/sandbox/*|gen/site/template/*" ;;
    gen/site/figures/*)
        echo "$below|gen/site/source/*|gen/site/documents/*|gen/site/sandbox/*|gen/site/template/*|gen/site/figures/*|calc/vram.h|calc/vram_lua.h" ;;
    gen/site/translation/*) echo "$below|gen/site/source/*|gen/site/translation/*" ;;
    gen/site/page/*)
        echo "$below|gen/site/source/*|gen/site/documents/*|gen/site/template/*|gen/site/figures/*|gen/site/translation/*|gen/site/page/*" ;;
    gen/site/incremental/*) echo 'gen/base/*|gen/site/incremental/*' ;;
    gen/site/search/*) echo "$below|gen/site/search/*" ;;
    gen/site/output/*)
        echo "$below|gen/site/source/*|gen/site/documents/*|gen/site/template/*|gen/site/page/*|gen/site/incremental/*|gen/site/search/*|gen/site/output/*" ;;
    gen/site/check/*) echo "$below|gen/site/documents/*|gen/site/check/*" ;;
    # The commands, each over the part that it starts.
    gen/*) echo "$below|gen/[!/]*.h|gen/*.def|gen/site/*" ;;
    calc/cli/*) echo 'calc/cli/*|calc/vram.h' ;;
    calc/lua/*|calc/vram_lua.h) echo 'calc/lua/*|calc/vram.h|calc/vram_lua.h' ;;
    calc/wasm/*) echo 'calc/wasm/*|calc/vram.h' ;;
    calc/python/*) echo 'calc/vram.h' ;;
    calc/toml/*) echo 'calc/toml/*' ;;
    calc/base/*) echo 'calc/base/*|calc/vram.h' ;;
    calc/model/*) echo 'calc/base/*|calc/model/*|calc/vram.h' ;;
    calc/parse/*) echo 'calc/base/*|calc/model/*|calc/parse/*|calc/toml/*|calc/vram.h' ;;
    calc/trace/*) echo 'calc/base/*|calc/model/*|calc/trace/*|calc/vram.h' ;;
    calc/replay/*) echo 'calc/base/*|calc/model/*|calc/trace/*|calc/replay/*|calc/vram.h' ;;
    calc/answer/*) echo 'calc/base/*|calc/model/*|calc/parse/*|calc/replay/*|calc/answer/*|calc/vram.h' ;;
    calc/write/*) echo 'calc/base/*|calc/model/*|calc/replay/*|calc/answer/*|calc/write/*|calc/vram.h' ;;
    # The public header and its parts; everyone else includes the whole.
    calc/vram.h|calc/vram/*) echo 'calc/vram/*' ;;
    # One file of the probe asks the estimator: to read configs and to print the comparison, never to measure.
    kernels/probe/estimator.[ch]) echo 'kernels/*|calc/vram.h' ;;
    kernels/probe/probe.c|kernels/probe/record_verbs.c) echo 'kernels/*' ;;
    kernels/probe/*) echo 'kernels/step/*|kernels/cuda/*|kernels/record/*|kernels/probe/[!e]*' ;;
    kernels/cuda/*) echo 'kernels/step/*|kernels/cuda/*' ;;
    kernels/step/*) echo 'kernels/step/*' ;;
    kernels/record/*) echo 'kernels/record/*' ;;
    esac
}

matches() {
    rest=$2
    while [ -n "$rest" ]; do
        pattern=${rest%%|*}
        # shellcheck disable=SC2254
        case $1 in $pattern) return 0 ;; esac
        [ "$pattern" = "$rest" ] && return 1
        rest=${rest#*|}
    done
    return 1
}

say() {
    status=1
    echo "not ok $1: $2"
}

for file in gen/*.[ch] gen/*/*.[ch] gen/*/*/*.[ch] calc/*.[ch] calc/*/*.[ch] kernels/*/*.[ch] kernels/*/*.cu kernels/*/*.cuh; do
    [ -f "$file" ] || continue
    good=1
    for header in $(sed -n 's/^# *include *"\([^"]*\)".*/\1/p' "$file"); do
        case $header in
        vram/*) where=$(dirname "$file")/$header ;;  # the public header, found from where it is installed
        */*) where=$header ;;
        *) where=$(dirname "$file")/$header ;;
        esac
        # A library's header in quotes (lua.h) is not of the project.
        [ -f "$where" ] || continue
        matches "$where" "$(allowed "$file")" || { good=0; say "$file" "may not include $header"; }
    done
    case $file in
    calc/cli/*|calc/lua/*|calc/wasm/*|calc/vram/base.h|calc/vram_lua.h|gen/*|kernels/*) ;;
    *)
        for header in $(sed -n 's/^# *include *<\([^>]*\)>.*/\1/p' "$file"); do
            case $header in
            stdint.h|stddef.h|stdbool.h|stdarg.h|limits.h) ;;
            *) good=0; say "$file" "the core may not include <$header>" ;;
            esac
        done ;;
    esac
    [ $good -eq 0 ] || echo "ok $file"
done

# No circles: a file with its header counts as one, and includes nothing that comes to it.
for tree in gen calc kernels; do
    circles=$(for file in $(find $tree -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh'); do
        own=${file%.*}
        sed -n 's/^# *include *"\([^"]*\)\.h".*/\1/p' "$file" | while read -r other; do
            [ -f "$other.h" ] || other=$(dirname "$file")/$other
            if [ "$other" != "$own" ] && [ -f "$other.h" ]; then echo "$own $other"; fi
        done
    done | tsort 2>&1 >/dev/null || true)
    if [ -z "$circles" ]; then echo "ok $tree has no circle of files"
    else say "$tree" "has a circle of files: $(echo "$circles" | tr '\n' ' ')"; fi
done

# Only the Markdown renderer's files know cmark-gfm, and what it publishes: the headers in its folder are its own.
for file in $(grep -lE '#include <cmark' gen/*.c gen/*/*.[ch] gen/*/*/*.[ch] 2>/dev/null); do
    ! grep -q '#include <cmark-gfm/' "$file" || say "$file" "may not include a private header of cmark-gfm"
    case $file in
    gen/text/markdown*) echo "ok $file knows cmark-gfm" ;;
    *) say "$file" "only gen/text/markdown* may know cmark-gfm" ;;
    esac
done
exit $status
