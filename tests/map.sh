#!/bin/sh
# The map of CONTRIBUTING.md names every folder of the sources, and everything that it names is there: files and folders, macros and
# functions, suites of tests, what ./build.sh does. templates/README.md names every variable of templates. Nothing lies at the top that nobody put there on purpose.
set -eu
[ "${MODE:-release}" = release ] || { echo "skip map: the sources are the same"; exit 0; }
status=0
say() { if [ "$2" = yes ]; then echo "ok map: $1"; else status=1; echo "not ok map: $1: $3"; fi; }
for folder in gen/*/ gen/site/*/ calc/*/ kernels/*/; do
    case $folder in gen/site/ | */__pycache__/ | kernels/slurm/) continue ;; esac
    if grep -q "\`$folder\`" CONTRIBUTING.md; then say "$folder" yes; else say "$folder" no 'CONTRIBUTING.md does not say what it is for'; fi
done

# Words in capitals within a name stand for something else.
is_pattern() { case $1 in *NAME*|*KIND*|*TAG*|*FOLDER*|*LANGUAGE*|*DOCUMENT*) true ;; *) false ;; esac; }

# missing NAME: what is wrong with it; nothing when it is there or says nothing about the sources.
missing() {
    is_pattern "$1" && return
    case $1 in
        content/measurements/) ;;  # the first record makes this folder
        ./build.sh\ *) grep -q "^${1#* })" build.sh || echo 'build.sh does not know it' ;;
        *FILTER=[a-z]*)
            word=${1##*FILTER=} word=${word%% *}
            [ "$word" = word ] || find tests -path "*$word*" | grep -q . || echo 'no test has that name' ;;
        *' '*|*[\<\>=\{]*|.def|module_verb) ;;
        */*) ls -d $1 >/dev/null 2>&1 || echo 'no such file or folder' ;;
        *.[a-z]*) find gen calc kernels tests content .clang-format -name "$1" | grep -q . || echo 'no file has that name' ;;
        [A-Z][A-Z]*|*_*) grep -rqw -- "$1" gen calc kernels templates || echo 'no source has that word' ;;
    esac
}
grep -o '`[^`]*`' CONTRIBUTING.md | tr -d '`' | sort -u >"${TMPDIR:-/tmp}/map.$$"
trap 'rm -f "${TMPDIR:-/tmp}/map.$$"' EXIT
while read -r name; do
    why=$(missing "$name")
    if [ -z "$why" ]; then say "$name" yes; else say "$name" no "$why"; fi
done <"${TMPDIR:-/tmp}/map.$$"

# Each variable of templates is in their README, whose path is the argument.
undocumented() {
    for list in page site; do
        sed -n 's/^    {"\([a-z_]*\)", .*/\1/p' "gen/site/template/view_$list.c" | while read -r name; do
            grep -q "\`$name\`" "$1" || echo "$list.$name"
        done
    done
}
why=$(undocumented templates/README.md | tr '\n' ' ')
if [ -z "$why" ]; then say 'variables of templates' yes; else say 'variables of templates' no "templates/README.md does not say what these are: $why"; fi
if undocumented LICENSE | grep -qx page.title; then say 'not there: page.title' yes; else say 'not there: page.title' no 'nothing was said'; fi

# What a mistyped command left beside the folders ("-o json"), where git says which files are kept.
tops=' .ci .clang-format .github .gitignore CHANGELOG.md CONTRIBUTING.md LICENSE Makefile README.md SECURITY.md build.sh calc content gen
    i18n kernels site templates tests '
stray() { sed 's|^"||; s|/.*||' | sort -u | while read -r top; do case $tops in *[[:space:]]"$top"[[:space:]]*) ;; *) echo "$top" ;; esac; done; }
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    why=$(git ls-files | stray)
    if [ -z "$why" ]; then say 'the top folder' yes; else say 'the top folder' no "what is this: $why"; fi
fi
if [ "$(printf 'gen/main.c\njson\n' | stray)" = json ]; then say 'not there: json' yes; else say 'not there: json' no 'nothing was said'; fi

# And this script sees what is not there.
for name in gen/absent/ 'gen/absent_*.c' absent.c ABSENT_ROW absent_function 'FILTER=absentsuite' './build.sh absent'; do
    if [ -n "$(missing "$name")" ]; then say "not there: $name" yes; else say "not there: $name" no 'nothing was said'; fi
done
exit $status
