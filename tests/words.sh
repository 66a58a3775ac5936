#!/bin/sh
# The words of the interface: complete for pages in 25 languages, with every plural category that the language has; the
# calculator's words come all together or not at all.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
BUILD=${BUILD:-$ROOT/build}
work=$(mktemp -d "${TMPDIR:-/tmp}/vramdoc-words.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
status=0
good() { echo "ok words: $1"; }
bad() { status=1; echo "not ok words: $1"; if [ -f log ]; then head -n 5 log; fi; }

languages='ar bn cs de en es fa fr hi id it ja ko nl pl pt pt-BR ru sv th tr uk vi zh-Hans zh-Hant'
# site LANGUAGES...: a page in each of them, with marks whose words come from the catalog.
site() {
    rm -rf content out
    mkdir -p content/index
    printf 'git: false\nlanguages: [%s]\n' "$(echo "$*" | sed 's/ /, /g')" >site.yaml
    for tag in "$@"; do printf -- '---\ntitle: A\n---\n\n> [!TIP]\n> b\n\n- [ ] c\n' >"content/index/$tag.md"; done
}
vram() { "$BUILD/vramdoc" build -c site.yaml -s content -o out -t "$ROOT/templates" --i18n "${I18N:-$ROOT/i18n}" "$@" >log 2>&1; }

# shellcheck disable=SC2086
site $languages
if vram --strict && ! grep -q "catalog" log; then good 'complete for pages in 25 languages'; else bad 'some are missing'; fi
for tag in $languages; do
    if [ ! -s "$ROOT/i18n/$tag.json" ]; then bad "$tag has no catalog"; continue; fi
    # What a reader of the language meets in English: loanwords are few.
    [ "$tag" != en ] || continue
    same=$(sed '/"unit\.MiB"/,$d' "$ROOT/i18n/$tag.json" | grep -Fx -f "$ROOT/i18n/en.json" | grep -c '": "' || true)
    if [ "$same" -le 5 ]; then good "$tag is translated"; else bad "$tag: $same words are those of English"; fi
done

# A tag with a region finds the words of its script.
for pair in zh-TW:深色:zh-Hant zh-HK:搜尋:zh-Hant zh-CN:搜索:zh-Hans zh:搜索:zh-Hans pt-PT:Pesquisar:pt es-MX:Buscar:es; do
    tag=${pair%%:*} word=${pair#*:} word=${word%:*}
    site en "$tag"
    if vram --strict && grep -q "$word" "out/$tag/index.html"; then good "$tag has the words of ${pair##*:}"
    else bad "$tag has not the words of ${pair##*:}"; fi
done

# How long a page takes to read: in a script without spaces by its signs, not by code, figures and addresses.
site en ja
code=$(printf '\n```text\n'; printf 'x %.0s' $(seq 3000); printf '\n```\n')
mkdir -p content/long
{ printf -- '---\ntitle: B\n---\n\nSigns and PyTorch.\n%s\n' "$code"; } >content/long/en.md
{ printf -- '---\ntitle: B\n---\n\n'; printf '%600s' '' | sed 's/ /字/g'; printf ' PyTorch\n%s\n' "$code"; } >content/long/ja.md
if vram --strict && grep -q '約 2 分' out/ja/long.html; then good 'signs are read, code is not'; else bad 'signs are read as words'; fi

# A page word that is missing is named; so is one of the calculator's, but only where there are others of them.
cp -R "$ROOT/i18n" words
I18N=words
sed -i '/"nav\.home"/d' words/pl.json
sed -i '/"calc\.undo"/d;/"records\.gpu"/d' words/de.json
site en de pl
vram || true
cat >wanted <<'END'
words/de.json: warning: message missing in the language's catalog: calc.undo [catalog-missing]
words/de.json: warning: message missing in the language's catalog: records.gpu [catalog-missing]
words/pl.json: warning: message missing in the language's catalog: nav.home [catalog-missing]
END
grep catalog log | sort >sorted || true
if diff wanted sorted >log; then good 'what is missing is named'; else bad 'what is missing is not named'; fi
exit $status
