#!/bin/sh
# vramdoc serve over real HTTP: pages, types, policy, reload on save, errors in the page, and who may not come in.
set -eu
status=0
work=$(mktemp -d)
trap 'for p in ${pid:-} ${events:-}; do kill $p 2>/dev/null || true; done; rm -rf "$work"' EXIT
command -v curl >/dev/null || { echo "skip serve: curl is not there"; exit 0; }
cd "$work"
good() { echo "ok serve: $1"; }
bad() { status=1; echo "not ok serve: $1"; sed 's/^/    /' said | tail -n 8; }
# try WHAT COMMAND...
try() {
    what=$1
    shift
    if "$@"; then good "$what"; else bad "$what"; fi
}
# soon COMMAND...: it succeeds within half a minute. Nothing here is given a fixed time: a loaded machine is only slower.
soon() {
    end=$(($(date +%s) + 30))
    until "$@"; do
        [ "$(date +%s)" -lt $end ] || return 1
        sleep 0.02
    done
}
mkdir -p content/en content/es
printf 'title: Served\nsource_language: en\n' >site.yaml
printf -- '---\ntitle: First\n---\n\nThe first words.\n' >content/en/first.md
printf -- '---\ntitle: Primera\n---\n\nLas primeras palabras.\n' >content/es/first.md
: >said
vramdoc serve -c site.yaml -s content -o out --port 0 2>said &
pid=$!
# shown PATH: the address that it prints, which ends with PATH.
shown() { url=$(sed -n "s,.*\\(http://127.0.0.1:[0-9]*\\)$1 shows.*,\\1,p" said); [ -n "$url" ]; }
if ! soon shown /; then bad 'it starts'; exit 1; fi
good 'it starts'
get() { curl -s -m 60 "$@"; }
header() { get -o /dev/null -D - "$@" | tr -d '\r'; }
shows() { get "$url/$1" | grep -q "$2"; }
lacks() { ! shows "$@"; }
# waits WHAT PATH TEXT: the page shows it soon.
waits() { try "$1" soon shows "$2" "$3"; }
code() { [ "$(get -o /dev/null -w '%{http_code}' "$@")" = "$want" ]; }

try 'a page' shows en/first.html 'The first words'
try 'another language' shows es/first.html 'primeras palabras'
try 'the reload script in a page' shows en/first.html 'src="/.vramdoc/reload.js"'
try 'the script itself' shows .vramdoc/reload.js EventSource
header "$url/en/first.html" >head
try 'its type' grep -qi '^content-type: text/html; charset=utf-8$' head
try 'its policy is that of the site' grep -qi "^content-security-policy: .*connect-src 'self'" head
style=$(get "$url/en/first.html" | grep -o 'href="[^"]*\.css"' | head -n 1 | cut -d '"' -f 2)
want=200
try 'its style sheet' code "$url/en/$style"
want=404
try 'a page that is not there' code "$url/en/absent.html"
try 'a path that climbs' code --path-as-is "$url/../site.yaml"
try 'a path that climbs, encoded' code --path-as-is "$url/%2e%2e/site.yaml"
want=403
try 'a foreign host name' code -H 'Host: evil.example' "$url/en/first.html"
for host in 'localhost:evil.example' 'localhost.evil.example' 'localhost:80:80' 'evil.example:localhost' 'localhost:' 'localhost:0' '127.0.0.1:99999' 'localhost.' '127.0.0.1 ,x'; do
    try "a host name that only begins well: $host" code -H "Host: $host" "$url/en/first.html"
done
try 'no host name' code --http1.0 -H 'Host:' "$url/en/first.html"
two_hosts() {
    : >answer
    { printf 'GET /en/first.html HTTP/1.1\r\nHost: %s\r\nHost: evil.example\r\n\r\n' "${url#http://}"; soon test -s answer; } \
        | curl -sN -m 60 "telnet://${url#http://}" >answer || true
    grep -q '^HTTP/1.1 4' answer
}
try 'two host names' two_hosts
want=200
try 'the own host name without a port' code -H 'Host: localhost' "$url/en/first.html"
try 'the own host name in capitals, through a tunnel' code -H 'Host: LOCALHOST:9999' "$url/en/first.html"
want=405
try 'no POST' code -X POST -d x "$url/en/first.html"
want=200
try 'HEAD' code -I "$url/en/first.html"
want=302
try 'a folder without its slash' code "$url/en"
listening=$(cat /proc/net/tcp | awk -v port="$(printf '%04X' "${url##*:}")" '$2 ~ ":" port "$" && $4 == "0A" { print $2 }')
try 'it listens on loopback only' [ "${listening%%:*}" = 0100007F ]

# The stream begins with a comment: from there on a reload is told.
curl -sN "$url/.vramdoc/events" >events &
events=$!
try 'a stream of events' soon grep -q '^: here' events
sed -i 's/first words/second words/' content/en/first.md
waits 'a saved page' en/first.html 'second words'
try 'open pages are told' soon grep -q '^event: reload' events
kill $events 2>/dev/null || true
events=''
printf -- '---\ntitle: New\n---\n\nIn a new folder.\n' >new.md
mkdir content/en/sub
cp new.md content/en/sub/new.md
waits 'a page in a new folder' en/sub/new.html 'In a new folder'
rm content/en/sub/new.md
try 'a page that was removed' soon lacks en/sub/new.html 'In a new folder'
printf -- '---\ntitle: [unclosed\n---\n\nThird words.\n' >content/en/first.md
waits 'an error is shown in the page' en/first.html 'content/en/first.md:.*error'
try 'with the last good text' shows en/first.html 'second words'
printf -- '---\ntitle: First\n---\n\nThird words.\n' >content/en/first.md
waits 'a repaired page' en/first.html 'Third words'
# A page may be there a moment before its build has ended and its messages are gone.
try 'without the error' soon lacks en/first.html 'id="vramdoc-problems"'
# As editors save: a new file over the old one.
sed 's/Third/Fourth/' content/en/first.md >content/en/.first.md.tmp
mv content/en/.first.md.tmp content/en/first.md
waits 'a page saved by rename' en/first.html 'Fourth words'
kill -TERM $pid
rc=0
wait $pid || rc=$?
pid=''
try 'it ends when told to' [ $rc -eq 0 ]

# A site that is published below a path is served there, too: its error page, which is shown anywhere, starts at that path.
printf 'title: Served\nsource_language: en\nbase_url: https://example.org/docs/own\n' >site.yaml
: >said
vramdoc serve -c site.yaml -s content -o out --port 0 2>said &
pid=$!
try 'it names the path' soon shown /docs/own/
try 'a page below the path' shows docs/own/en/first.html 'Fourth words'
style=$(get "$url/docs/own/absent/far/away.html" | grep -o 'href="[^"]*\.css"' | head -n 1 | cut -d '"' -f 2)
want=200
try 'the style sheet of its error page' code "$url$style"
want=302
try 'what is beside the path' code "$url/en/first.html"
try 'is sent below it' [ "$(get -o /dev/null -w '%{redirect_url}' "$url/en/first.html")" = "$url/docs/own/en/first.html" ]
try 'with its odd signs' [ "$(get -o /dev/null -w '%{redirect_url}' "$url/a%20b&c%C3%A4")" = "$url/docs/own/a%20b%26c%C3%A4" ]
try 'and never to another host' [ "$(get -o /dev/null -w '%{redirect_url}' --path-as-is "$url//evil.example")" = "$url/docs/own/evil.example" ]
try 'a path that only begins like it' code "$url/docs/owner"
try 'a folder below it' [ "$(get -o /dev/null -w '%{redirect_url}' "$url/docs/own/en")" = "$url/docs/own/en/" ]
want=404
try 'a path that climbs out of it' code --path-as-is "$url/docs/own/../../../site.yaml"
kill -TERM $pid
wait $pid || bad 'it ends again'
pid=''

# In a browser: what is saved is painted, in place or by loading again. How fast is the bench's business.
modules=$BUILD/browser
if [ -d "$modules/node_modules" ] && command -v node >/dev/null && [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
    painted() { BROWSER_MODULES=$modules node "$ROOT/tests/bench/screen.mjs" "$BUILD/vramdoc" site.yaml content en/first.md en/first.html 3 >said 2>&1; }
    try 'a saved page is painted by a browser' painted
else
    echo "skip serve: in a browser: chromium or the modules of tests/browser are not there"
fi
exit $status
