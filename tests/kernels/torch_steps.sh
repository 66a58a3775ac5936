#!/bin/sh
# torch_record.py from one end to the other on PyTorch without a GPU (torch_without_gpu): it trains, its record is valid, a
# search is gone on with. Skipped without PyTorch.
set -eu
python3 -c 'import torch' 2>/dev/null || { echo "skip torch_steps: PyTorch is not here"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
case_of() { if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: wanted $3, got $2"; failed=1; fi; }
export PYTHONPATH="$ROOT/tests/kernels/torch_without_gpu${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
record() { rc=0; python3 "$@" >"$work/out" 2>"$work/err" || rc=$?; echo "$rc"; }
tiny='"batch_size": 2, "block_size": 16, "n_layer": 2, "n_head": 2, "n_embd": 16, "vocab_size": 64'

case_of "configs of every kind" "$(record "$ROOT/kernels/torch_record.py" --config "{$tiny}" \
    --config "{$tiny, \"checkpointing\": \"block\", \"bias\": true, \"dropout\": 0.1}" \
    --config "{$tiny, \"checkpointing\": \"block\", \"use_reentrant\": true}" \
    --config "{$tiny, \"attention\": \"math\", \"dtype\": \"float32\", \"loop\": \"reference\"}" \
    --config "{$tiny, \"compile\": \"inductor\", \"dtype\": \"float16\", \"optimizer\": \"adamw_foreach\"}" \
    --state "$work/state" -o "$work/r.json")" 0
case_of "all of them run" "$(grep -c '"status": "ok"' "$work/r.json")" 6
case_of "they learn something" "$(python3 -c "
import json, sys
print(all(0 < r['values']['loss_last']['value'] < 5 for r in json.load(open(sys.argv[1]))['results']))" "$work/r.json")" True
if [ -x "$BUILD/vramprobe" ]; then
    case_of "the record is valid" "$(rc=0; "$BUILD/vramprobe" validate "$work/r.json" >/dev/null || rc=$?; echo $rc)" 0
fi
cat >"$work/search.py" <<END
import sys
sys.path.insert(0, "$ROOT/kernels")
import torch_configs, torch_record
torch_configs.SMALL = torch_configs.GPT2 = {$tiny}
sys.exit(torch_record.main())
END
export PRETENDED_LIMIT=3
search() { record "$work/search.py" --max-batch --cap-mib 512 --seconds "$1" --state "$work/tries" -o "$work/s.json"; }
case_of "a search without time is left for later" "$(search 0)" 75
case_of "and gone on with" "$(search 500)" 0
case_of "what it finds" "$(grep -A3 '"max_batch_size"' "$work/s.json" | grep -c '"value": 3')" 2
exit $failed
