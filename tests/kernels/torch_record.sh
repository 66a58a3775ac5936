#!/bin/sh
# kernels/torch_record.py where PyTorch or a GPU is missing: it says so, and refuses what cannot be run.
set -eu
command -v python3 >/dev/null || { echo "skip torch_record: python3 is not here"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
case_of() { if [ "$2" = "$3" ]; then echo "ok $1"; else echo "not ok $1: wanted $3, got $2"; failed=1; fi; }
record() { rc=0; PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/kernels/torch_record.py" "$@" >"$work/out" 2>"$work/err" || rc=$?; echo "$rc"; }

case_of "nothing asked for" "$(record)" 2
case_of "a config that cannot be" "$(record --config '{"n_embd": 512}' -o "$work/r.json")" 2
case_of "it names the reason" "$(grep -c 'n_embd=512 cannot be divided among n_head=12' "$work/err")" 1
case_of "no jobs at once" "$(record --cited --jobs 0 -o "$work/r.json")" 2
case_of "JSON that is cut off" "$(record --config '{"n_embd"' -o "$work/r.json")" 2
case_of "flash attention in fp32" "$(record --config '{"dtype": "float32"}' -o "$work/r.json")" 2
# What is planned: each checkpointed run both ways, nothing twice, what has to be compiled after what has not.
case_of "the plan" "$(cd "$ROOT/kernels" && PYTHONDONTWRITEBYTECODE=1 python3 - <<'END' 2>&1
import torch_configs, torch_record
options = torch_record.parse(["--cited", "--accuracy", "../tests/calc/truth/nanogpt.json", "--max-batch"])
jobs = torch_record.planned(options)
names = [torch_configs.key(*job) for job in jobs]
late = [(e == "framework_max_batch", c["compile"] != "none") for e, c in jobs]
ways = [{c["use_reentrant"] for _, c in jobs if c["checkpointing"] == "block" and c["compile"] == "none"}]
rows = sum(c["loop"] == "reference" for _, c in jobs)
print(len(set(names)) == len(names), late == sorted(late), ways == [{True, False}], rows)
END
)" "True True True 26"
# What was measured before the time on a GPU was over becomes a record without one.
mkdir "$work/state"
case_of "nothing to collect" "$(record --cited --collect --state "$work/state" -o "$work/c.json")" 3
case_of "what is there is collected" "$(cd "$ROOT/kernels" && PYTHONDONTWRITEBYTECODE=1 python3 - "$work" <<'END' 2>&1
import json, sys
import torch_configs, torch_record
work = sys.argv[1]
state, out = work + "/state", work + "/c.json"
config = torch_configs.cited()[0]
kept = torch_record.result("framework_step", config, "ok", {"max_memory_allocated_bytes": torch_record.value("B", 5)})
torch_record.write_json("%s/%s.json" % (state, torch_configs.key("framework_step", config)), kept)
torch_record.write_json(state + "/provenance.json", {"id": "old", "device": {"name": "H200"}})
sys.argv[1:] = ["--cited", "--collect", "--state", state, "-o", out]
code = torch_record.main()
record = json.load(open(out))
options = torch_record.parse(["--cited", "--state", state])
timed = torch_record.finished(torch_record.os.path.join(state, torch_configs.key("framework_step", config) + ".json"), options)
sys.argv[0] = "/a/b/torch_record.py"
assert torch_record.command() == ["torch_record.py", "--cited", "--collect", "--state", "state", "-o", "c.json"]
waits = torch_record.run_job(0, [("framework_step", config)], options, 0)
print(code, record["id"], record["device"]["name"], len(record["results"]), timed, waits)
END
)" "1 results of 38 in $work/c.json
0 c H200 1 False False"
: >"$work/there.json"
case_of "a record that is there" "$(record --cited -o "$work/there.json")" 3
if [ -e /dev/nvidia0 ]; then echo "skip no GPU: one is here"; else
    case_of "no GPU" "$(record --cited --accuracy "$ROOT/tests/calc/truth/nanogpt.json" -o "$work/r.json")" 77
    case_of "one clear line" "$(wc -l <"$work/err" | tr -d ' ')" 1
fi
exit $failed
