#!/bin/sh
# The estimator against the allocations of the real frameworks: for every trace of a case in frameworks.tsv, the peak of the
# requested bytes in each forward, backward and optimizer step, and of a prompt, equals that of the trace, cuBLAS's workspaces aside; so does
# the peak of what is smaller than logits.
# NAME=case shows all phases of one case.
set -eu
traces=$ROOT/tests/calc/truth/frameworks
table=$ROOT/tests/calc/frameworks.tsv
work=$(mktemp -d "${TMPDIR:-/tmp}/frameworks.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0

# phases_of_trace MOST <trace: "PHASE PEAK" for each phase, live bytes without workspaces and what has MOST bytes or more. Of a workspace's
# size are results of products, too: what a product borrows it gives back before it returns, in the next line.
phases_of_trace() {
    awk -v workspace="$workspace" -v most="$1" '
        function counts(id, bytes, phase) {
            size[id] = bytes
            live += bytes
            if (live > peak[phase]) peak[phase] = live
        }
        held != "" { if ($1 != "f" || $2 != held) counts(held, workspace, phase); held = "" }
        $1 == "a" {
            phase = $5
            if (!(phase in peak)) { order[++n] = phase; peak[phase] = live }
            if ($3 >= most || $6 == "workspace") next
            if ($3 == workspace && $4 ~ /mm/) { held = $2; next }
            if ($3 == 1048576 && $4 ~ />_scaled_mm$/) next  # of cuBLASLt
            counts($2, $3, phase)
        }
        $1 == "f" && ($2 in size) { live -= size[$2]; delete size[$2] }
        END { for (i = 1; i <= n; i++) printf "%s %.0f\n", order[i], peak[order[i]] }'
}

phases_of_estimate() {
    awk -F , -v most="$1" '
        { gsub(/"[^"]*"/, "") }  # a name with a comma
        NR == 1 || $4 >= most || $6 ~ /workspace/ { next }
        !($9 in peak) { order[++n] = $9; peak[$9] = live }
        { live += $2 == "alloc" ? $4 : -$4; if (live > peak[$9]) peak[$9] = live }
        END { for (i = 1; i <= n; i++) printf "%s %.0f\n", order[i], peak[order[i]] }'
}

# A result of a workspace's size counts, what a product borrows does not.
workspace=7
if [ "$(printf 'a 1 7 mm fwd temp -\na 2 7 mm fwd temp -\nf 2\na 3 1 add fwd temp -\nf 1\n' | phases_of_trace 100)" = "fwd 8" ]; then
    echo "ok a result of a workspace's size counts"
else
    status=1
    echo "not ok a result of a workspace's size counts"
fi

# compare SLACK TOKENS TRACE ESTIMATE PHASES: what differs, nothing where all is well; so many phases are in both at least.
compare() {
    awk -v slack="$1" -v tokens="$2" -v show="${NAME:-}" -v least="$5" '
        NR == FNR { if ($1 ~ /^((fwd|bwd|step):it|eval:|prefill$)/) want[$1] = $2; next }
        $1 in want {
            both++
            over = $2 - want[$1]
            if (show) printf "    %s: %.0f, trace %.0f, %+.0f\n", $1, $2, want[$1], over >"/dev/stderr"
            if (over < -slack - 1024 || over > 16 * tokens + slack + 1024)
                printf "%s: %.0f, trace %.0f (%+.0f); ", $1, $2, want[$1], over
        }
        END { if (both < ("prefill" in want ? 1 : least)) printf "only %d phases in common", both }' "$3" "$4"
}

# The check is shown to fail: a peak that is 1,100 bytes too low.
printf 'fwd:it0.m0 5000\nbwd:it0.m0 9000\nfwd:it1.m0 5000\nbwd:it1.m0 9000\n' >"$work/a"
sed 's/9000/7900/' "$work/a" >"$work/b"
if [ -n "$(compare 0 8 "$work/a" "$work/b" 3)" ] && [ -z "$(compare 0 8 "$work/a" "$work/a" 3)" ]; then
    echo "ok a wrong peak is seen"
else
    status=1
    echo "not ok a wrong peak is seen"
fi

# framework_words ENVIRONMENT: the versions of a trace.
framework_words() {
    case $1 in old) echo torch=2.4 transformers=4.48 ;; new) echo torch=2.15 transformers=5.23 ;; esac
}

# words_of ENVIRONMENT WORD...: a word that begins with new: or old: holds for that environment alone; without:PHASE and most:BYTES are no
# words of the estimator.
words_of() {
    here=$1
    shift
    for word; do
        case $word in
        without:* | most:*) ;;
        "$here":*) echo "${word#*:}" ;;
        old:* | new:*) ;;
        *) echo "$word" ;;
        esac
    done
}

# results_as_workspaces <traces: the workspaces that are freed later than in the next line. A product frees what it borrows
# before it returns, a handle keeps its own for ever: the others are results of a workspace's size.
results_as_workspaces() {
    awk '$1 == "a" && $6 == "workspace" { borrowed[$2] = NR }
        $1 == "f" && $2 in borrowed && NR != borrowed[$2] + 1 { print "allocation " $2 }
        $1 == "f" { delete borrowed[$2] }'
}
if [ "$(printf 'a 1 9 addmm fwd workspace -\na 2 9 addmm fwd workspace -\nf 2\nf 1\n' | results_as_workspaces)" = "allocation 1" ]; then
    echo "ok a result that is taken for a workspace is seen"
else
    status=1
    echo "not ok a result that is taken for a workspace is seen"
fi
for trace in "$traces"/*.txt.gz; do
    [ -z "${NAME:-}" ] || continue
    wrong=$(gzip -dc "$trace" | results_as_workspaces | head -n 1)
    [ -z "$wrong" ] || { status=1; echo "not ok $(basename "$trace"): $wrong is no workspace"; }
done

grep -v '^#' "$table" | sed 1d >"$work/cases"
while IFS='	' read -r name words slack cause environments; do
    [ -z "${NAME:-}" ] || [ "$NAME" = "$name" ] || continue
    for trace in "$traces/$name"_L[0-9]*_${environments:-*}.txt.gz; do
        run=$(basename "$trace" .txt.gz)
        layers=${run##*_L} environment=${run##*_}
        layers=${layers%%_*}
        shape=$(awk -F '\t' -v run="$run" '$1 == run { print "batch_size=" $6, "seq_len=" $7 }' "$traces/cases.tsv")
        tokens=$(echo "$shape" | sed 's/[a-z_]*=//g' | awk '{ print $1 * $2 }')
        workspace=$(awk -F '\t' -v run="$run" '$1 == run { print $8 == "h100" ? 33554432 : 8519680 }' "$traces/cases.tsv")
        card=$(awk -F '\t' -v run="$run" '$1 == run { print $8 == "t4" ? "T4" : "A100_80GB" }' "$traces/cases.tsv")  # what a card lacks
        gzip -dc "$trace" >"$work/trace"
        # shellcheck disable=SC2046,SC2086
        vramcalc trace -f csv optimizer=adamw_foreach grad_clip=0 gradient_accumulation_steps=1 keep_logits=backward \
            framework=transformers evaluation=false $(framework_words "$environment") $(words_of "$environment" $words) \
            n_layer="$layers" $shape gpu="$card" >"$work/csv" || { status=1; echo "not ok $run: refused"; continue; }
        # Once whole, and once without logits and embeddings, which hide what happens in the blocks: what has 400 MB and more,
        # or as the case says, where a whole block is gathered.
        why=
        without=$(echo "$words" | tr ' ' '\n' | sed -n 's/^without://p')
        phases=3
        case $without in *"(fwd|bwd)"*) phases=2 ;; esac  # one iteration of two is left
        least=$(echo "$words" | tr ' ' '\n' | sed -n 's/^most://p')
        for most in 1e18 "${least:-4e8}"; do
            phases_of_trace "$most" <"$work/trace" | grep -Ev "^(${without:-nothing}) " >"$work/want"
            phases_of_estimate "$most" <"$work/csv" >"$work/have"
            why=$why$(compare "$slack" "$tokens" "$work/want" "$work/have" "$phases")
        done
        if [ -z "$why" ]; then echo "ok $run${slack:+ ($cause)}"; else status=1; echo "not ok $run: $why"; fi
    done
done <"$work/cases"
exit $status
