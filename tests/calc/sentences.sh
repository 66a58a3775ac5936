#!/bin/sh
# Sentences are data: a vramcalc in which every English sentence of the library is replaced by its id and arguments
# differs in those sentences alone. Exit codes, places, colours, numbers, JSON and the order of advice stay.
set -eu
cd "$ROOT"
if [ "${MODE:-release}" != release ]; then echo "skip sentences: the release build is compared"; exit 0; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
gcc -std=c11 -O1 -ffreestanding -DMESSAGES_AS_IDS -I. -c calc/base/message.c -o "$work/message.o"
objects=''
for source in calc/*/*.c; do
    case $source in calc/lua/*|calc/wasm/*|calc/python/*|calc/base/message.c) ;; *) objects="$objects $BUILD/${source%.c}.o" ;; esac
done
# shellcheck disable=SC2086
gcc $objects "$work/message.o" -o "$work/vramcalc" -lm
cat >"$work/english.mjs" <<'END'
// #id{field=...|name=value} back into the sentence of messages.def; blanks are not compared.
import { readFileSync } from 'node:fs';
const table = new Map();
for (const [, id, , text] of readFileSync('calc/base/messages.def', 'utf8')
    .matchAll(/^MESSAGE\((\w+), (\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)/gm))
    table.set(id, [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((m) => m[1]).join(''));
const text = readFileSync(0, 'utf8').replace(/#(\w+)\{([^}]*)\}/g, (all, id, list) => {
    const args = new Map(list.split('|').map((a) => [a.slice(0, a.indexOf('=')), a.slice(a.indexOf('=') + 1)]));
    return table.has(id) ? table.get(id).replace(/\{(\w+)\}/g, (hole, name) => args.get(name) ?? hole) : all;
});
process.stdout.write(text.replace(/\s+/g, ' '));
END
check() {
    if [ "$2" = "$3" ]; then echo "ok $1"; else failed=1; echo "not ok $1: $4"; fi
}
n=0
while IFS= read -r words; do
    n=$((n + 1))
    a=0 b=0
    (cd tests/cli/calc_errors && eval "exec -a vramcalc '$BUILD/vramcalc' $words") >"$work/a" 2>&1 </dev/null || a=$?
    (cd tests/cli/calc_errors && eval "exec -a vramcalc '$work/vramcalc' $words") >"$work/b" 2>&1 </dev/null || b=$?
    check "exit code of $words" "$a" "$b" "$a became $b"
    if ! grep -q '#[a-z_]*{' "$work/b" && grep -qE 'error|note|because|roofline' "$work/a"; then
        case $words in *"-f csv"*|estimate\ nofile*) ;; *) failed=1; echo "not ok $words: no sentence has an id" ;; esac
    fi
    node "$work/english.mjs" <"$work/b" >"$work/english"
    tr -s ' \t\r\n' ' ' <"$work/a" >"$work/was"
    check "words of $words" "$(cat "$work/was")" "$(cat "$work/english")" "$(diff "$work/was" "$work/english" | tail -n 1 | cut -c1-200)"
done <<'END'
estimate preset=oom-gpt2
estimate preset=oom-gpt2 -f json
estimate preset=gpt2 -g T4 -f json
estimate preset=llama-3.1-8b lora_rank=8 use_reentrant=false checkpointing=block n_gpu=4
estimate preset=gpt2 eval_only=1 dtype=bfloat16 -g V100
estimate config.json -g A100 -f json
advise preset=oom-gpt2
advise preset=oom-gpt2 compile=none -f json
advise preset=llama-3.1-8b task=inference -g 4090
advise preset=gpt2 batch_size=4 -f csv
fit preset=oom-gpt2
fit preset=gpt2
max-batch preset=llama-2-70b -g T4
max-batch preset=llama-2-70b -g T4 -f json
solve seq_len preset=gpt2 batch_size=1 -g 4090
solve batch_size preset=llama-2-70b -g T4 -f json
solve dtype preset=gpt2 -g T4
cards preset=llama-3.1-405b batch_size=64
compare preset=gpt2
compare preset=gpt2 -f json
sweep preset=gpt2 n_head=7,12
sweep preset=gpt2 n_head=7,12 -f json
sweep preset=gpt2 batch_size=9:1
explain-oom "CUDA out of memory. Tried to allocate 6.14 GiB."
explain-oom "CUDA out of memory. Tried to allocate 6.14 GiB." preset=gpt2 batch_size=32
explain-oom "CUDA error: out of memory" -f json
explain-oom "nothing out of memory"
estimate n_embd=512 n_head=12
estimate preset=qwen3-0.6b compile=2.5 checkpointing=block -f json
estimate batch_sise=4
estimate dropout=2
estimate dtype=foo
estimate gpu_memory=x
estimate preset=gtp2
estimate -g "RTX 407"
estimate slip.conf
estimate call.py
estimate head.py n_head=7
estimate other.json
estimate negative.json
estimate binary.conf
END
# Colours, on a terminal.
if command -v script >/dev/null; then
    for words in 'fit preset=oom-gpt2' 'fit preset=nanogpt-30m' 'estimate preset=oom-gpt2' 'advise preset=oom-gpt2'; do
        for which in "$BUILD/vramcalc" "$work/vramcalc"; do
            TERM=xterm script -qec "$which $words" /dev/null </dev/null | tr -d '\r' | grep -o "$(printf '\033')\[[0-9;]*m" |
                tr '\n' ' ' >"$work/$(basename "$(dirname "$which")").colours" || true
        done
        was=$(cat "$work/$(basename "$BUILD").colours") now=$(cat "$work/$(basename "$work").colours")
        check "colours of $words" "$was" "$now" "they depend on words"
        check "there are colours in $words" 1 "$(case $was in *1\;3*|*1m*) echo 1 ;; esac)" "none"
    done
else
    echo "skip colours: script is not there"
fi
# Every field that a sentence is about is one.
keys=$(sed -n 's/^FIELD([A-Z]*, \([a-z_0-9]*\),.*/\1/p' calc/model/fields.def; echo gpu; echo preset)
for key in $(cat calc/*/*.c | tr -d '\n' | grep -oE 'ABOUT\("[^)]*\)' | grep -oE '"[a-z_0-9]+"' | tr -d '"' | sort -u); do
    case " $(echo $keys) " in *" $key "*) echo "ok $key is a field" ;; *) failed=1; echo "not ok $key is no field" ;; esac
done
exit $failed
