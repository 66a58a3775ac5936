#!/bin/sh
# Files of others in the output: no build removes or changes them, wherever it is killed; it says that they are there; and nothing
# is built among files of others unless that is asked for.
set -eu
status=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
good() { echo "ok foreign: $1"; }
bad() { status=1; echo "not ok foreign: $1"; sed 's/^/    /' "$work/log" | tail -n 8; }
try() { # try WHAT COMMAND...
    what=$1
    shift
    if "$@" >>"$work/log" 2>&1; then good "$what"; else bad "$what"; fi
}
build() { "$BUILD/vramdoc" build -s content "$@" >"$work/log" 2>&1; }
page() { mkdir -p "$(dirname "content/$1")"; printf -- '---\ntitle: %s\n---\n\nText %s.\n' "$1" "$2" >"content/$1"; }
# What others put there: a file, a hidden one, folders with and without a page beside it, an empty one, a link.
put_foreign() {
    mkdir -p "$1/.git/objects" "$1/guide" "$1/own/deep" "$1/empty"
    echo example.org >"$1/CNAME"
    echo ref >"$1/.git/HEAD"
    echo o >"$1/.git/objects/o"
    echo notes >"$1/guide/notes.txt"
    echo deep >"$1/own/deep/file"
    ln -sfn nowhere "$1/own/link"
    ln -sfn ../content "$1/link"
}
foreign() { (cd "$1" && cat CNAME .git/HEAD .git/objects/o guide/notes.txt own/deep/file && readlink own/link link && [ -d empty ] && ls -A own); }
ours() { (cd "$1" && find . \( -path ./.git -o -path ./own -o -name CNAME -o -name notes.txt \) -prune -o -type f -exec sha256sum {} + | sort -k 2); }

page a.md 1; page guide/b.md 1; page guide/gone.md 1
build -o clean
build -o out; put_foreign out
foreign out >wanted
keeps() { foreign out | diff wanted -; }
says() { grep -q "$1" log; }

# A full build over a site with files of others, a build of one page, one that has nothing to do.
build -o out
try 'a full build keeps them' keeps
try 'and says so' says ', 5 kept that the build did not write'
build -o out
try 'an unchanged site says so' says 'nothing has changed, 5 kept that the build did not write'
page a.md 2; build -o out
try 'a build of one page keeps them' keeps
try 'and says so, too' says ' 1 rendered, .*, 5 kept that'
rm content/guide/gone.md; build -o out -f
try 'a page that is gone is removed' test ! -e out/guide/gone.html
try 'and counted' says ', [1-9][0-9]* removed,'
rm -r content/guide; build -o out
try 'a folder of pages that is gone leaves what others put there' keeps
page guide/b.md 1; page a.md 1; page guide/gone.md 1; build -o out
ours out >now; ours clean >then
try 'the site itself is as it is without them' diff then now

# What is to be written where others have put something is an error, and nothing is changed.
echo mine >out/new.html; page new.md 1; build -o out --json || true
try 'a file of others in the way is named' says 'out/new.html: error\|"file":"out/new.html"'
try 'and stays' grep -q mine out/new.html
ours out | grep -v new.html >now
try 'with the site as it was' diff then now
rm out/new.html; mkdir out/new.html
if build -o out; then bad 'a folder in the way'; else good 'a folder in the way'; fi
rmdir out/new.html; build -o out
try 'once it is away, the page is written' test -f out/new.html
rm content/new.md; build -o out

# Among files of others nothing is built unasked. Hidden ones do not count.
mkdir -p other/sub hidden/.git foreign-manifest
echo x >other/sub/x; echo '{"name": "App"}' >foreign-manifest/vramdoc.json
if build -o other || ! says 'say --into'; then bad 'a folder with files is refused'; else good 'a folder with files is refused'; fi
try 'and is as it was' test "$(find other)" = "$(printf 'other\nother/sub\nother/sub/x')"
if build -o foreign-manifest || ! says 'vramdoc.json of another program'; then bad 'so is one with another manifest'; else good 'so is one with another manifest'; fi
try 'one with hidden names only is taken' build -o hidden
mkdir earlier; build -o earlier; sed 's/vramdoc.json/manifest.json/' earlier/vramdoc.json >earlier/manifest.json; rm earlier/vramdoc.json
try 'an output whose manifest has its earlier name is known' build -o earlier
try 'and gets the new one' test -f earlier/vramdoc.json -a ! -e earlier/manifest.json
try 'with --into it is built' build -o other --into
try 'among its files' test -f other/a.html -a -f other/sub/x
try 'and again without' build -o other -f
build -o foreign-manifest --into || true
try 'but not over one of them' grep -q '"App"' foreign-manifest/vramdoc.json

# An empty source is an error, and not the end of the site.
mkdir empty
for source in empty content/nothing; do
    if "$BUILD/vramdoc" build -s $source -o out >log 2>&1; then bad "an empty source: $source"; else good "an empty source: $source"; fi
done
mv content kept; mkdir content; echo x >content/file.txt
if build -o out || ! says '\[no-page\]'; then bad 'a source without pages'; else good 'a source without pages'; fi
rm -r content; mv kept content
ours out >now
try 'the site is as it was' diff then now

# Killed before each change that it makes, a full build, one over files of others and one of a single page leave those files where
# they are, at once and after the next build, which makes what a clean one makes.
make -s -C "$ROOT" BUILD="$MAKE_BUILD" MODE="${MODE:-release}" "$MAKE_BUILD/tests/hinder" >log 2>&1
hinder=$BUILD/tests/hinder
"$hinder" kill 9999999 true || { echo "skip foreign: killed builds: no process may be traced here"; exit $status; }
killed() { # killed WHAT PREPARE WORDS...: PREPARE makes out/ and content/; then `build WORDS` is killed at each step
    what=$1 prepare=$2 n=0 wrong=0
    shift 2
    while :; do
        n=$((n + 1)) rc=0
        rm -rf out .out.vramdoc-* content; cp -R kept content
        $prepare
        # The leak sanitizer does not work in a traced process.
        ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" "$hinder" kill $n "$BUILD/vramdoc" build -s content -o out "$@" >log 2>&1 || rc=$?
        [ $rc -eq 137 ] || break
        keeps >>log 2>&1 || { echo "step $n: lost" >>log; wrong=1; break; }
        build -o out --into || { echo "step $n: the next build fails" >>log; wrong=1; break; }
        keeps >>log 2>&1 || { echo "step $n: lost by the next build" >>log; wrong=1; break; }
        ours out >now; ours clean >then
        diff then now >>log || { echo "step $n: not the site of a clean build" >>log; wrong=1; break; }
        ls -A | grep '^\.out\.vramdoc-\(new\|stage\|old\)' >>log && { echo "step $n: leftovers" >>log; wrong=1; break; }
    done
    if [ $wrong -eq 0 ] && [ $rc -eq 0 ] && [ $n -gt 20 ]; then good "$what, killed at $((n - 1)) steps"; else bad "$what, killed at step $n (exit code $rc)"; fi
}
cp -R content kept
page added.md 1; page a.md 3; rm content/guide/gone.md
rm -rf clean; build -o clean; rm -rf kept; cp -R content kept
first() { mkdir out; put_foreign out; }
over() { page gone.md 1; page a.md 1; build -o out; put_foreign out; rm content/gone.md; page a.md 3; }
one() { over; page gone.md 1; page a.md 1; build -o out; rm content/gone.md; page a.md 3; }
killed 'the first build into a folder of others' first --into
killed 'a full build over them' over -f
killed 'a build of what changed' one
# With nothing of others there, the folders are exchanged: at each step the whole old site is there, or the whole new one.
keeps() { ours out | diff before - >>"$work/log" || ours out | diff then - >>"$work/log"; }
plain() { page gone.md 1; page a.md 1; build -o out; ours out >before; ours clean >then; rm content/gone.md; page a.md 3; }
killed 'a full build over a site of its own' plain -f
exit $status
