#!/bin/sh
# Runs every test from the repository's root and counts. ./build.sh test calls it; so may you, after compiling.
#   FILTER=text   only suites and cases whose name contains text ("unit", "cli/render", "bad-yaml")
#   WITHOUT=text  none of those whose name contains text
#   UPDATE=1      rewrites wanted outputs of tests/sites and tests/cli; read the diff before you commit
#   BUILD=folder  where the compiled things are (build)
#   V=1           shows the whole output of what passed too
# A suite is one of these, found by its place; a new one needs no entry anywhere:
#   tests/unit/test_*.c   a cmocka program, linked with libgen.a (gen/ but main.c, calc/lua/*.c), libvram.a, libraries
#   tests/spec/spec_*.c   a program, linked alike, that prints the lines below
#   tests/*.sh, tests/{cli,spec,calc,kernels}/*.sh   a script: likewise
#   tests/cli/*.txt       "$ command" lines, each followed by what it wants to print (both streams) and, when its
#                         exit code is not 0, "[exit N]"; all run in one fresh folder that holds a copy of
#                         tests/cli/NAME/ if that is there; vramdoc and vramcalc are found; $ROOT is the repository;
#                         lines that begin with "%%" are comments
#   tests/sites/NAME/     copied to a fresh folder and built there by `vramdoc build` with the words of its file
#                         `args` (else: -c site.yaml if there is one, -s content) and -o out; setup.sh runs before, what
#                         cannot be kept in git is made by it. Every file of wanted/ must be in out/ with the same bytes,
#                         and out/ must hold exactly the files of wanted.list, if that is there.
#   tests/sites/bad-*/    the same, with stderr equal to wanted.diag and exit code 1 (or that of wanted.exit); with a
#                         file release.only it is skipped when MODE is another
#   tests/wasm/*.mjs      node; prints the lines below (calc.mjs is what they share)
#   tests/browser/run.sh  the site in Debian's chromium; prints the lines below
# A script or program is run with BUILD and ROOT set, prints one line a case, "ok NAME", "not ok NAME: why" or
# "skip NAME: why", and exits not 0 when something failed. More lines may explain. A suite's line ends with its seconds and
# those of processor time. The last line here is "N passed, N failed, N skipped"; the exit code is 1 when something failed.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
# make knows no names with a space: it gets the folder as it was named, not where it is.
MAKE_BUILD=$BUILD
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
ROOT=$PWD FILTER=${FILTER:-} WITHOUT=${WITHOUT:-} UPDATE=${UPDATE:-} V=${V:-} LC_ALL=C.UTF-8
export BUILD MAKE_BUILD ROOT UPDATE LC_ALL
unset SOURCE_DATE_EPOCH NO_COLOR MAKEFLAGS MAKELEVEL
PATH=$BUILD:$PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/vramdoc-tests.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# What check.sh has counted before.
passed=${PASSED:-0} failed=${FAILED:-0} skipped=0
unset PASSED FAILED

wanted() {
    if [ -n "$WITHOUT" ]; then case $1 in *"$WITHOUT"*) return 1 ;; esac; fi
    case $1 in *"$FILTER"*) true ;; *) false ;; esac
}

# seconds: says in $work/took how long it is since it was last asked: "in 12.3 s, 9.5 of CPU".
seconds() {
    times >"$work/times"
    awk 'FILENAME == ARGV[1] { wall = $1 }
        FILENAME == ARGV[2] && FNR == 2 { for (i = 1; i <= 2; i++) { split($i, part, "[ms]"); cpu += 60 * part[1] + part[2] } }
        FILENAME == ARGV[3] { printf "in %.1f s, %.1f of CPU\n", wall - $1, cpu - $2 }
        END { print wall, cpu >ARGV[3] }' /proc/uptime "$work/times" "$work/clock" >"$work/took"
}

echo 0 0 >"$work/clock"
seconds
# Where own_site.sh builds the project's own site, unless check.sh has built it.
export OWN_SITE="${OWN_SITE:-$work/own}"

# report NAME PASSED FAILED SKIPPED LOG [SECONDS]: one line a suite; the log when something failed.
report() {
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
    if [ "$3" -gt 0 ] || [ -n "$V" ]; then sed 's/^/    /' "$5"
    else grep '^skip ' "$5" | sed 's/^/    /' || true; fi
    seconds
    printf '%-44s %s passed, %s failed, %s skipped %s\n' "$1" "$2" "$3" "$4" "${6:-$(cat "$work/took")}"
}

# count_lines NAME RC LOG [SECONDS]: counts what a suite printed that ended with RC.
count_lines() {
    p=$(grep -c '^ok ' "$3" || true) f=$(grep -c '^not ok ' "$3" || true) s=$(grep -c '^skip ' "$3" || true)
    if [ "$2" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; echo "not ok $1: exit code $2" >>"$3"; fi
    if [ $((p + f + s)) -eq 0 ]; then f=1; echo "not ok $1: it checked nothing" >>"$3"; fi
    report "$1" "$p" "$f" "$s" "$3" "${4:-}"
}

# run_lines NAME LIMIT_S COMMAND...: a suite that prints ok / not ok / skip lines.
run_lines() {
    name=$1 limit=$2 rc=0
    shift 2
    timeout -k 5 "$limit" "$@" >"$work/log" 2>&1 </dev/null || rc=$?
    count_lines "$name" "$rc" "$work/log"
}

# cmocka's sum of one kind, over all groups of the program in $work/log.
tests_listed() { sed -n "s/^\[  $1 *\] [^0-9]*\([0-9][0-9]*\) test(s), listed.*/\1/p" "$work/log" | awk '{ n += $1 } END { print n + 0 }'; }

run_unit() {
    name=unit/$(basename "$1" .c) rc=0
    timeout -k 5 300 "$BUILD/${1%.c}" >"$work/log" 2>&1 </dev/null || rc=$?
    p=$(grep -c '^\[       OK \]' "$work/log" || true)
    f=$(tests_listed FAILED) s=$(tests_listed SKIPPED)
    if [ $rc -ne 0 ] && [ "$f" -eq 0 ] || [ $((p + f + s)) -eq 0 ]; then f=$((f + 1)); echo "exit code $rc" >>"$work/log"; fi
    report "$name" "$p" "$f" "$s" "$work/log"
}

# Runs the "$ " lines of a transcript and writes the transcript as it came out, comments where they were.
replay() {
    while IFS= read -r line; do
        case $line in
        '$ '*)
            printf '%s\n' "$line"
            rc=0
            timeout -k 5 120 sh -c "${line#??}" </dev/null >"$work/out" 2>&1 || rc=$?
            cat "$work/out"
            [ ! -s "$work/out" ] || [ -z "$(tail -c 1 "$work/out")" ] || echo '[no newline]'
            [ $rc -eq 0 ] || echo "[exit $rc]" ;;
        '%%'*) printf '%s\n' "$line" ;;
        esac
    done
}

run_transcript() {
    name=cli/$(basename "$1" .txt) folder=$work/cli
    rm -rf "$folder"
    if [ -d "${1%.txt}" ]; then cp -R "${1%.txt}" "$folder"; else mkdir "$folder"; fi
    (cd "$folder" && replay <"$ROOT/$1") >"$work/now"
    if [ -n "$UPDATE" ]; then cp "$work/now" "$1"; fi
    compare_commands "$name" "$1" "$work/now" >"$work/log"
    count_lines "$name" 0 "$work/log"
}

# compare_commands NAME WANTED NOW: a case for each command, with what it prints up to the next one. Both files have the
# same commands; what is before the first is compared with that one.
compare_commands() {
    awk -v name="$1" '
        FNR == 1 { file++; n = 1; started = 0 }
        /^\$ / { if (started) n++; started = 1; command[n] = substr($0, 3); if (n > last) last = n }
        { text[file, n] = text[file, n] $0 "\n" }
        function show(lines, sign) { gsub(/\n/, "\n" sign, lines); return sign substr(lines, 1, length(lines) - 1) }
        END {
            for (i = 1; i <= last; i++) {
                if (text[1, i] == text[2, i]) { print "ok " name ": " command[i]; continue }
                print "not ok " name ": " command[i]
                print show(text[1, i], "-") show(text[2, i], "+")
            }
        }' "$2" "$3"
}

# Builds a site in a copy; its parts are compared into $work/log.
run_site() {
    site=${1%/} name=${1%/} folder=$work/site
    name=${name#tests/}
    rm -rf "$folder"
    cp -R "$site" "$folder"
    : >"$work/log"
    if [ -f "$site/release.only" ] && [ "${MODE:-release}" != release ]; then
        echo "skip $name: a sanitized build has no such limit" >"$work/log"
        report "$name" 0 0 1 "$work/log"
        return
    fi
    case $name in sites/bad-*) want=1 ;; *) want=0 ;; esac
    if [ -f "$site/wanted.exit" ]; then want=$(cat "$site/wanted.exit"); fi
    rc=0
    (
        cd "$folder"
        unset UPDATE   # a worked example would rewrite what it prints
        rm -rf wanted wanted.*
        if [ -f setup.sh ]; then sh ./setup.sh; fi
        if [ -f args ]; then args=$(cat args)
        elif [ -f site.yaml ]; then args='-c site.yaml -s content'
        else args='-s content'; fi
        # shellcheck disable=SC2086
        SOURCE_DATE_EPOCH=1800000000 timeout -k 5 120 vramdoc build $args -o out >stdout 2>stderr
    ) || rc=$?
    bad=''
    if [ $rc -ne "$want" ]; then bad="exit code $rc, not $want"; cat "$folder/stderr" >>"$work/log"; fi
    if [ -f "$site/wanted.diag" ]; then
        if [ -n "$UPDATE" ]; then cp "$folder/stderr" "$site/wanted.diag"; fi
        diff -u "$site/wanted.diag" "$folder/stderr" >>"$work/log" || bad="$bad wanted.diag"
    elif [ -s "$folder/stderr" ] && [ $rc -eq "$want" ]; then
        bad="$bad messages that are not wanted"; cat "$folder/stderr" >>"$work/log"
    fi
    if [ -d "$site/wanted" ]; then
        (cd "$site/wanted" && find . -type f | sort) >"$work/files"
        while IFS= read -r file; do
            if [ -n "$UPDATE" ] && [ -f "$folder/out/$file" ]; then cp "$folder/out/$file" "$site/wanted/$file"; fi
            diff -u "$site/wanted/$file" "$folder/out/$file" >>"$work/log" 2>&1 || bad="$bad $file"
        done <"$work/files"
    fi
    if [ -f "$site/wanted.list" ]; then
        (cd "$folder/out" 2>/dev/null && find . -type f ! -name '.*' | sort) >"$work/files" || true
        if [ -n "$UPDATE" ]; then cp "$work/files" "$site/wanted.list"; fi
        diff -u "$site/wanted.list" "$work/files" >>"$work/log" || bad="$bad wanted.list"
    fi
    if [ -z "$bad" ]; then report "$name" 1 0 0 "$work/log"
    else echo "not ok $name: $bad" >>"$work/log"; report "$name" 0 1 0 "$work/log"; fi
}

# Compiles what this run needs; one program that does not compile does not hide the others.
programs=''
for source in tests/unit/test_*.c tests/spec/spec_*.c; do
    if [ -f "$source" ] && wanted "${source#tests/}"; then programs="$programs $MAKE_BUILD/${source%.c}"; fi
done
# shellcheck disable=SC2086
if [ -n "$programs" ] && ! make -s -k -j"${JOBS:-2}" BUILD="$MAKE_BUILD" MODE="${MODE:-release}" $programs; then
    for program in $programs; do  # an older one would pass in the place of what does not compile
        make -s BUILD="$MAKE_BUILD" MODE="${MODE:-release}" "$program" 2>/dev/null || rm -f "$program"
    done
fi

seconds
if [ -n "$programs" ]; then printf '%-44s %s\n' 'compiling the tests' "$(cat "$work/took")"; fi

# Without the program nothing of what follows can pass, and no wanted output may be rewritten.
if [ ! -x "$BUILD/vramdoc" ]; then
    echo "not ok: $BUILD/vramdoc is not there" >"$work/log"
    report build 0 1 0 "$work/log"
    UPDATE=''
fi
# The browser's suite is the longest: it runs beside all others, and is counted after them. serve.sh uses the modules that it
# has made ready.
beside=''
if [ -f tests/browser/run.sh ] && wanted browser; then
    sh tests/browser/run.sh modules >"$work/log" 2>&1 </dev/null || true
    (
        rc=0 work=$work/beside
        mkdir "$work"
        echo 0 0 >"$work/clock"
        seconds
        timeout -k 5 1800 sh tests/browser/run.sh >"$work/log" 2>&1 </dev/null || rc=$?
        seconds
        echo $rc >"$work/rc"
    ) &
    beside=$!
fi
for source in tests/unit/test_*.c; do
    [ -f "$source" ] && wanted "${source#tests/}" || continue
    run_unit "$source"
done
for source in tests/spec/spec_*.c; do
    [ -f "$source" ] && wanted "${source#tests/}" || continue
    name=${source%.c}
    run_lines "${name#tests/}" 300 "$BUILD/$name"
done
for script in tests/*.sh tests/cli/*.sh tests/spec/*.sh tests/calc/*.sh tests/kernels/*.sh; do
    name=${script#tests/} name=${name%.sh}
    case $name in run | check | own_site) continue ;; esac
    [ -f "$script" ] && wanted "$name" || continue
    run_lines "$name" 600 sh "$script"
done
for transcript in tests/cli/*.txt; do
    [ -f "$transcript" ] && wanted "cli/$(basename "$transcript" .txt)" || continue
    run_transcript "$transcript"
done
for site in tests/sites/*/; do
    [ -d "$site" ] && wanted "${site#tests/}" || continue
    run_site "$site"
done
for script in tests/wasm/*.mjs; do
    case $script in */calc.mjs) continue ;; esac
    [ -f "$script" ] && wanted "${script#tests/}" || continue
    if [ "${MODE:-release}" != release ]; then
        echo "skip ${script#tests/}: every build has the same module" >"$work/log"; report "${script#tests/}" 0 0 1 "$work/log"
    elif command -v node >/dev/null; then run_lines "${script#tests/}" 300 node "$script"
    else echo "skip ${script#tests/}: node is not there" >"$work/log"; report "${script#tests/}" 0 0 1 "$work/log"; fi
done

if [ -n "$beside" ]; then
    wait "$beside" || true
    grep '^# ' "$work/beside/log" | sed 's/^/    /' || true   # where its time went
    count_lines browser "$(cat "$work/beside/rc")" "$work/beside/log" "$(cat "$work/beside/took")"
fi

if [ $((passed + failed + skipped)) -eq 0 ]; then failed=1; echo "not ok: no test has such a name"; fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
