#!/bin/sh
# A query is divided into words, and its letters are folded, by the rule that the index was made by: the generator's code and the
# page's give the same terms of the same lines.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
BUILD=${BUILD:-$ROOT/build}
MAKE_BUILD=${MAKE_BUILD:-$BUILD}
if ! command -v node >/dev/null; then echo 'skip search_terms: node is not there'; exit 0; fi
make -s BUILD="$MAKE_BUILD" "$MAKE_BUILD/tests/search/terms"
work=$(mktemp -d "${TMPDIR:-/tmp}/vramdoc-terms.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0

# wanted LINE TERMS: what both have to make of it.
wanted() {
    printf '%s\n' "$1" >>"$work/lines"
    printf '%s\n' "$2" >>"$work/wanted"
}
wanted 'The Größe of Straße, ŒUVRE: naïve Æther' 'the grosse of strasse oeuvre naive aether'
wanted '12,288 MiB and 6.14 GiB, 1.048.576; 1 048 576, a b 7' '12288 mib and 614 gib 1048576 1048576 7'
wanted "l'allocateur d’un x" 'allocateur un'
wanted 'max (memory) allocated fp16 8bit' 'max memory allocated fp16 8bit'
wanted 'Ёлка Київ ΆΛΦΑς' 'елка киів αλφασ'
wanted 'मेमोरी ख़त्म ज़्यादा साइज़ १२' 'मेमोरी खत्म ज्यादा साइज 12'
wanted 'أُسامة إلى المدوّنة مكتبة ١٢٣' 'اسامه الي المدونه مكتبه 123'
wanted '自定义主题 RTL支持 字' '自定 定义 义主 主题 rtl 支持 字'
wanted 'サーバーを、 サ' 'サー ーバ バー ーを サ'
wanted 'ภาษาไทย ខ្មែរ မြန်မာ' 'ภา าษ ษา าไ ไท ทย ខ្ ្ម មែ ែរ မြ ြန န် ်မ မာ'
wanted '한국어 설명서' '한국어 설명서'
wanted 'ＡＢＣ１２３ ﬂuß' 'abc123 fluss'
wanted 'soft­hyphen zero‍width' 'softhyphen zerowidth'
"$BUILD/tests/search/terms" <"$work/lines" >"$work/generator"
node "$ROOT/tests/search/terms.mjs" <"$work/lines" >"$work/page"
for side in generator page; do
    if diff "$work/wanted" "$work/$side" >"$work/log"; then echo "ok search_terms: what the $side makes of chosen lines"
    else status=1; echo "not ok search_terms: what the $side makes of chosen lines"; sed 's/^/    /' "$work/log"; fi
done

# The words of all catalogs and of the project's own pages, in 25 languages; hyphens join words in the index only.
cat "$ROOT"/i18n/*.json "$ROOT"/content/*/*.md "$ROOT"/tests/search/queries.tsv | tr '_-' '  ' >"$work/lines"
"$BUILD/tests/search/terms" <"$work/lines" >"$work/generator"
node "$ROOT/tests/search/terms.mjs" <"$work/lines" >"$work/page"
if [ "$(wc -l <"$work/page")" -gt 1000 ] && diff "$work/generator" "$work/page" >"$work/log"; then
    echo "ok search_terms: the same terms of $(wc -l <"$work/page") lines"
else status=1; echo 'not ok search_terms: other terms of the same lines'; head -n 10 "$work/log"; fi
exit $status
