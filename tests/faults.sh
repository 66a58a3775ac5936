#!/bin/sh
# Faults from outside: a disk that is full, files that cannot be read, a build that is killed at any moment, workers that
# die. After each the last good site is as it was, and the next build makes exactly what a clean one makes.
set -eu
status=0
work=$(mktemp -d)
trap 'chmod -R u+rwX "$work" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
export SOURCE_DATE_EPOCH=1700000000

good() { echo "ok faults: $1"; }
bad() { status=1; echo "not ok faults: $1"; sed 's/^/    /' "$work/log" 2>/dev/null | head -n 20; }
build() { vramdoc build -q -c site.yaml -s content "$@" >"$work/log" 2>&1; }
# has TEXT: the last build said it.
has() { grep -q "$1" "$work/log"; }
digest() { (cd "$1" && find . -type f ! -name '.*' -exec sha256sum {} + | sort -k 2 | sha256sum); }
leftovers() { find "$1" -name '.vramdoc-tmp-*' | grep -q .; }

# A site of 60 documents in three languages, big enough to be hit in the middle.
printf 'title: Faults\nsource_language: en\n' >site.yaml
for lang in en es hi; do
    mkdir -p content/$lang
    i=0
    while [ $i -lt 60 ]; do
        printf -- '---\ntitle: Page %d\n---\n\n## Part\n\nSome text of page %d.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n' $i $i >content/$lang/p$i.md
        i=$((i + 1))
    done
done
build -o clean && good 'a clean build' || bad 'a clean build'
wanted=$(digest clean)

# Errors of input: exit code not 0, the site as it was.
build -o out
before=$(digest out)
expect_error() {
    what=$1 said=$2
    if build -o out; then bad "$what: no error"
    elif ! has "$said"; then bad "$what: not said: $said"
    elif [ "$(digest out)" != "$before" ]; then bad "$what: the last good site was changed"
    else good "$what"; fi
}
ln -s ../es content/es/loop
expect_error 'a loop of symbolic links' 'symlink-loop'
rm content/es/loop
ln -s nowhere.md content/es/dangling.md
expect_error 'a link that leads nowhere' 'io-read'
rm content/es/dangling.md
printf 'a\0b' >content/en/nul.md
expect_error 'a NUL byte' 'nul-byte'
printf 'a\377b' >content/en/nul.md
expect_error 'bad UTF-8' 'utf8-invalid'
head -c 100000000 /dev/zero | tr '\0' 'x' >content/en/nul.md
expect_error 'a page of 100 MB' 'file-too-large'
rm content/en/nul.md
{ printf 'title: x\n---\n'; } >content/en/odd.md
{ head -c 60000 /dev/zero | tr '\0' '|'; echo; head -c 60000 /dev/zero | sed 's/\x0/|-/g'; echo; i=0; while [ $i -lt 200 ]; do echo '|a|'; i=$((i + 1)); done; } >content/en/odd.md
expect_error 'a table that grows without bound' 'table-too-large'
rm content/en/odd.md
if [ "$(id -u)" -ne 0 ]; then
    touch content/en/p1.md
    chmod 000 content/en/p1.md
    expect_error 'an unreadable file' 'io-read'
    chmod 644 content/en/p1.md
elif command -v setpriv >/dev/null && chmod 755 "$work" && chmod -R a+rwX . && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
    touch content/en/p1.md
    chmod 000 content/en/p1.md
    chown -R 65534 .
    if setpriv --reuid=65534 --regid=65534 --clear-groups "$BUILD/vramdoc" build -q -c site.yaml -s content -o out >"$work/log" 2>&1; then
        bad 'an unreadable file: no error'
    elif ! has 'io-read'; then bad 'an unreadable file: not said'
    elif [ "$(digest out)" != "$before" ]; then bad 'an unreadable file: the site was changed'
    else good 'an unreadable file'; fi
    chmod 644 content/en/p1.md
else
    echo "skip faults: an unreadable file: root reads everything, and setpriv is not there"
fi
build -o out && [ "$(digest out)" = "$wanted" ] && good 'after all that, a clean site' || bad 'after all that, a clean site'

# Killed at any moment: whatever is left, the next build makes the clean site.
n=0 wrong=0
while [ $n -lt 25 ]; do
    n=$((n + 1))
    case $((n % 3)) in
    0) rm -rf out .vramdoc* ;;
    1) echo "Changed $n." >>content/en/p$n.md ;;
    2) git_like=content/es/p$n.md; if [ -f "$git_like" ]; then mv "$git_like" "$work/kept.md"; fi ;;
    esac
    vramdoc build -q -c site.yaml -s content -o out >"$work/log" 2>&1 &
    pid=$!
    sleep "0.0$((n * 7 % 9))$((n % 10))"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    if [ -f "$work/kept.md" ]; then mv "$work/kept.md" "content/es/p$n.md"; fi
    build -o out || { wrong=$((wrong + 1)); continue; }
    rm -rf clean cache2
    build -o clean --cache "$work/cache2" --fresh
    if [ "$(digest out)" != "$(digest clean)" ] || leftovers out; then wrong=$((wrong + 1)); fi
done
[ $wrong -eq 0 ] && good "killed $n times, repaired each time" || bad "killed $n times, $wrong times not repaired"

# A full disk: a file system of its own where that is allowed, else a limit of the size of files.
before=$(digest out)
if mkdir small && mount -t tmpfs -o size=256k tmpfs small 2>/dev/null; then
    if build -o small/site; then bad 'a full disk: no error'
    elif ! has 'io-write'; then bad 'a full disk: not said'
    else good 'a full disk is said'; fi
    mount -o remount,size=64m small
    if build -o small/site && [ "$(digest small/site)" = "$before" ]; then good 'room again: the site is whole'; else bad 'room again: the site is whole'; fi
    site=$(digest small/site)
    used=$(du -sk small | cut -f 1)
    # Hardly any room is left: a change to every page must fail and leave the good site.
    mount -o remount,size="$((used + 24))k" small
    for file in content/*/*.md; do echo 'More of it, and more, and more.' >>"$file"; done
    if build -o small/site; then bad 'a full disk under a good site: no error'
    elif [ "$(digest small/site)" != "$site" ]; then bad 'a full disk under a good site: it was changed'
    else good 'a full disk leaves the good site'; fi
    mount -o remount,size=64m small
    rm -rf clean cache2
    build -o clean --cache "$work/cache2" --fresh
    if build -o small/site && [ "$(digest small/site)" = "$(digest clean)" ]; then good 'and it is made whole with room'; else bad 'and it is made whole with room'; fi
    umount small
else
    echo "skip faults: a full disk: no right to mount a file system"
fi
# A write that is cut short, which needs no privilege: no file may grow beyond 2 kB.
before=$(digest out)
for file in content/en/*.md; do echo 'A line that changes every page.' >>"$file"; done
if (trap '' XFSZ; ulimit -f 4; build -o out); then bad 'a write that is cut short: no error'
elif ! has 'io-write'; then bad 'a write that is cut short: not said'
elif [ "$(digest out)" != "$before" ] || leftovers out; then bad 'a write that is cut short: the last good site was changed'
else good 'a write that is cut short leaves the good site'; fi
rm -rf clean cache2
build -o clean --cache "$work/cache2" --fresh
if build -o out && [ "$(digest out)" = "$(digest clean)" ]; then good 'and the next build is whole'; else bad 'and the next build is whole'; fi
# Memory that runs out, at whatever place: exit code 3 and a message, never a crash. Sanitizers need more than any such limit.
if [ "${MODE:-release}" = release ]; then
    { i=0; while [ $i -lt 3000 ]; do printf '## Part %d\n\nSome *words* of [it](a.md), `code` and more.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n' $i; i=$((i + 1)); done; } >big.md
    ended=0 wrong=''
    limit=20000
    while [ $limit -lt 400000 ]; do
        rc=0
        (ulimit -v $limit; exec vramdoc render big.md) >rendered 2>log || rc=$?
        case $rc in
        0 | 127) ;;   # enough; or not even for the program's libraries
        3) ended=$((ended + 1)); grep -q 'memory' log || wrong="$wrong $limit: not said;" ;;
        *) wrong="$wrong $limit: exit code $rc;" ;;
        esac
        limit=$((limit + 700))
    done
    if [ $ended -gt 3 ] && [ -z "$wrong" ]; then good "memory runs out at $ended places"; else bad "memory runs out at $ended places:$wrong"; fi
fi
mkdir closed && chmod 555 closed
if [ "$(id -u)" -ne 0 ]; then
    if build -o closed/site; then bad 'a folder that cannot be written: no error'
    elif has 'io-write'; then good 'a folder that cannot be written'
    else bad 'a folder that cannot be written: not said'; fi
fi
exit $status
