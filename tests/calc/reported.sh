#!/bin/sh
# Prints every publicly reported measurement of reported.tsv beside what vramcalc predicts: predicted, measured, the
# difference, and why where it is off. A row with a tolerance fails beyond it; a row without one must say why.
set -eu
V=$BUILD/vramcalc
tab=$(printf '\t')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# figure CONFIG FIELD: MiB with one place, or a word.
figure() {
    # shellcheck disable=SC2086
    case $2 in
    fits) rc=0; "$V" fit $1 >/dev/null || rc=$?
        case $rc in 0) echo true ;; 1) echo false ;; *) echo "exit code $rc" ;; esac ;;
    explain)
        echo "CUDA out of memory. Tried to allocate 786.00 MiB" >"$work/oom"
        "$V" explain-oom "$work/oom" $1 --format json | awk -F'[ ,]+' '/"bytes":/ && !found { found = 1
            printf "%.1f\n", int(($3 + 2097151) / 2097152) * 2 }' ;;
    logits) "$V" estimate $1 --format json | awk -F'[ ,]+' '/^    "logits":/ { printf "%.1f\n", $3 / 1048576 }' ;;
    *) "$V" estimate $1 --format json | awk -F'[ ,]+' -v key="\"$2\":" '/^  "/ && $2 == key { printf "%.1f\n", $3 / 1048576 }' ;;
    esac
}

compare() {
    awk -v p="$1" -v m="$2" -v t="$3" -v why="$4" 'BEGIN {
        if (p == m) { print "ok +0.0 %"; exit }
        if (p + 0 == 0) { print "no wrong"; exit }
        d = (p - m) / m * 100
        good = t == "" ? (why != "") : (d <= t + 0 && d >= -t)
        printf "%s %+.1f %%\n", good ? "ok" : "no", d
    }'
}

while IFS="$tab" read -r id what config field measured tolerance source why; do
    case $id in '#'*) continue ;; esac
    tolerance=${tolerance# } why=${why# }  # a blank stands for an empty column: read joins tabs
    case $source in https://*) ;; *) echo "not ok reported $id: no source"; status=1; continue ;; esac
    if [ "$config" = - ]; then
        if [ -n "$why" ]; then echo "ok reported $id: $what: measured $measured MiB; $why"
        else echo "not ok reported $id: no configuration, and it does not say why"; status=1; fi
        continue
    fi
    predicted=$(figure "$config" "$field") || predicted=0
    verdict=$(compare "$predicted" "$measured" "$tolerance" "$why")
    line="reported $id: $what: predicted $predicted, measured $measured, difference ${verdict#* }${why:+; $why}"
    case $verdict in
    ok*) echo "ok $line" ;;
    *) echo "not ok $line"; status=1 ;;
    esac
done <<EOF
$(sed 's/		/	 	/g' "$ROOT/tests/calc/reported.tsv")
EOF
exit $status
