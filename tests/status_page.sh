#!/bin/sh
# The page of all translations, for `status: true`: what it counts, when it is written again, and that it is a good page.
set -eu
ROOT=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
BUILD=${BUILD:-$ROOT/build}
work=$(mktemp -d "${TMPDIR:-/tmp}/vramdoc-status.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
status=0
good() { echo "ok $1"; }
bad() { status=1; echo "not ok $1"; if [ -f out/status.html ]; then sed -n '/<tbody/,/<.tbody/p' out/status.html | sed 's/^/    /'; fi; cat log; }
vram() { "$BUILD/vramdoc" "$@" >log 2>&1; }
build() { vram build -q -c site.yaml -s content -o out; }
row() { grep -o "<tr><th scope=\"row\">$1</th>.*" out/status.html | sed 's/<[^>]*>/|/g;s/||*/|/g'; }
says() { if [ "$(row "$2")" = "$3" ]; then good "$1"; else bad "$1"; fi; }
mkdir -p content/a content/b
printf 'git: false\nlanguages: [en, de, es]\nstatus: true\n' >site.yaml
printf -- '---\ntitle: First\n---\n\nOne.\n\nTwo.\n' >content/a/en.md
printf -- '---\ntitle: Erstes\n---\n\nEins.\n\nZwei.\n' >content/a/de.md
printf -- '---\ntitle: Primero\n---\n\nUno.\n\nDos.\n' >content/a/es.md
printf -- '---\ntitle: Second\n---\n\nThree.\n' >content/b/en.md
vram i18n accept -c site.yaml -s content a de
build
says 'what is accepted, what never was' First '|First|✓|2 / 2|never accepted|'
says 'what is not translated' Second '|Second|✓|not translated|not translated|'
sed -i 's/Two/Too/' content/a/en.md
build
says 'it follows the original' First '|First|✓|1 / 2|never accepted|'
vram i18n accept -c site.yaml -s content -y a de
build
says 'it follows what is accepted' First '|First|✓|2 / 2|never accepted|'
cp out/status.html before.html
rm -rf out .out.vramdoc-cache
build
if cmp -s before.html out/status.html; then good 'the same from a clean build'; else bad 'the same from a clean build'; fi
if vram check --strict out && ! grep -q status log; then good 'it is a good page'; else bad 'it is a good page'; fi
# Blocks that a page includes are its own.
mkdir -p tree/docs tree/parts
printf 'status: true\nkind: mkdocs\n' >tree/site.yaml
printf 'site_name: Parts\nmarkdown_extensions:\n  - pymdownx.snippets:\n      base_path: [parts]\nplugins:\n  - i18n:\n      languages:\n        - {locale: en, default: true}\n        - {locale: de}\n' >tree/mkdocs.yml
printf '# First\n\n--8<-- "en.md"\n\nLast.\n' >tree/docs/index.md
printf '# Erstes\n\n--8<-- "de.md"\n\nLetztes.\n' >tree/docs/index.de.md
printf 'One.\n\nTwo.\n' >tree/parts/en.md
printf 'Eins.\n\nZwei.\n' >tree/parts/de.md
(cd tree && vram i18n accept -c site.yaml -s . index de && sed -i 's/Two/Too/' parts/en.md && vram build -q -c site.yaml -s . -o ../out -f)
says 'what pages include is compared' First '|First|2 / 3|✓|'
sed -i 's/^status.*/source_language: de/;s/\[en, de/[de, en/' site.yaml
build
if [ ! -e out/status.html ]; then good 'none without the setting'; else bad 'none without the setting'; fi
exit $status
