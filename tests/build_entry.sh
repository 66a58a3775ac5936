#!/bin/sh
# build.sh in a folder of its own, whose name has a space: what it asks for where it may not install, and what clean leaves.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clone="$work/a clone"
mkdir -p "$clone/templates" "$clone/i18n" "$clone/site" "$clone/.site.vramdoc-cache" "$work/bin"
cp "$ROOT/build.sh" "$ROOT/Makefile" "$clone/"
cd "$clone"
unset BUILD MODE CFLAGS
failed=0
case_of() { if [ "$2" = "$3" ]; then echo "ok build.sh: $1"; else echo "not ok build.sh: $1: wanted '$3', got '$2'"; failed=1; fi; }

# Programs and words beside each other, where the folder's name has a space.
touch templates/page.html
make -s build/templates >"$work/log" 2>&1 || cat "$work/log"
case_of "templates are found beside the programs" "$(ls build/templates 2>&1)" page.html
cp -a "$clone" "$work/a copy"
make -s -C "$work/a copy" build/templates >"$work/log" 2>&1 || cat "$work/log"
case_of "a copy finds its own" "$(readlink "$work/a copy/build/templates")" "$work/a copy/templates"

# A header that changes is compiled again, also when it changed while someone was compiling.
mkdir -p gen/base
echo '#define ANSWER 1' >gen/base/answer.h
printf '#include "gen/base/answer.h"\nint answer(void);\nint answer(void) { return ANSWER; }\n' >gen/base/answer.c
# newer FILE THAN: writes FILE until its time is the later one; clocks of file systems go in steps.
cat >"$work/bin/newer" <<'END'
#!/bin/sh
until [ -n "$(find "$1" -newer "$2")" ]; do echo "#define ANSWER $$" >"$1"; done
END
# A compiler that has read the header when someone writes it, and writes the object last.
cat >"$work/bin/slow" <<'END'
#!/bin/sh
gcc "$@" || exit 1
newer gen/base/answer.h build/gen/base/answer.o.begun
until [ -n "$(find build/gen/base/answer.o -newer gen/base/answer.h)" ]; do touch build/gen/base/answer.o; done
END
chmod +x "$work/bin/newer" "$work/bin/slow"
compiled() { make BUILD=build build/gen/base/answer.o "$@" 2>&1 | grep -c -e ' -c gen/base/answer.c' || true; }
case_of "a file is compiled" "$(PATH="$work/bin:$PATH" compiled CC=slow)" 1
case_of "again, its header changed meanwhile" "$(compiled)" 1
case_of "not again" "$(compiled)" 0
"$work/bin/newer" gen/base/answer.h build/gen/base/answer.o
case_of "again, its header changed" "$(compiled)" 1
case_of "again, with other flags" "$(compiled CFLAGS=-DOTHER)" 1
case_of "not again, with the same" "$(compiled CFLAGS=-DOTHER)" 0
case_of "again, without them" "$(compiled)" 1
case_of "again, for another MODE" "$(compiled MODE=check)" 1
case_of "again, by another compiler" "$(compiled MODE=check CC="gcc -pipe")" 1
# BUILD may be written with or without the folders above it, where no name has a space.
mkdir -p "$work/plain/gen/base"
cp Makefile "$work/plain"
cp gen/base/answer.* "$work/plain/gen/base"
cd "$work/plain"
compiled >/dev/null
"$work/bin/newer" gen/base/answer.h build/gen/base/answer.o
case_of "again, its header changed, by BUILD's whole name" \
    "$(make BUILD="$PWD/build" "$PWD/build/gen/base/answer.o" 2>&1 | grep -c -e ' -c gen/base/answer.c' || true)" 1
"$work/bin/newer" gen/base/answer.h build/gen/base/answer.o
case_of "again, its header changed, by BUILD's name here" "$(compiled)" 1
cd "$clone"
rm -r gen build/gen

# A machine with no package, no root and no sudo: one line to run, and nothing is tried.
for program in sh dirname tr grep; do ln -s "$(command -v $program)" "$work/bin/$program"; done
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
printf '#!/bin/sh\necho 1000\n' >"$work/bin/id"
printf '#!/bin/sh\ntouch "%s"\n' "$work/apt-ran" >"$work/bin/apt-get"
chmod +x "$work"/bin/dpkg-query "$work"/bin/id "$work"/bin/apt-get
rc=0
PATH="$work/bin" ./build.sh </dev/null >"$work/log" 2>&1 || rc=$?
case_of "exit code without root" "$rc" 3
case_of "the last line is what to run" "$(tail -n 1 "$work/log" | cut -d' ' -f1-9)" \
    "no root here; please run: apt-get install --no-install-recommends -y"
for package in gcc make libyaml-dev libicu-dev lld; do
    case_of "$package is asked for" "$(tail -n 1 "$work/log" | grep -cw -e "$package")" 1
done
case_of "nothing is installed" "$(ls "$work/apt-ran" 2>/dev/null || true)" ''

touch site/.gitignore site/index.html build/vramdoc templates/vram.js templates/vram.wasm.js .site.vramdoc-cache/state
./build.sh clean >"$work/log" 2>&1 || cat "$work/log"
case_of "what clean leaves" "$(find . -type f | sort | tr '\n' ' ')" './Makefile ./build.sh ./site/.gitignore ./templates/page.html '
exit $failed
