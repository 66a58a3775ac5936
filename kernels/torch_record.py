#!/usr/bin/env python3
"""Measures training runs in PyTorch itself, eager and compiled, and writes a record (vramprobe.schema.json).

Each config runs in a process of its own, so that its memory is its own. Results are kept one by one in a state
folder: a call that ends early, or is killed, is continued by the next one with the same folder. With --jobs several run
at once, of which memory is measured and no time; a call without it adds the times. --collect writes the record of what
the folder holds, where the time on a GPU was over before everything was measured.

  torch_record.py --cited --accuracy tests/calc/truth/nanogpt.json -o content/measurements/NAME.json
  torch_record.py --config '{"batch_size": 8, "compile": "inductor"}' -o record.json
  torch_record.py --max-batch --cap-mib 12282 -o record.json

  torch_record.py --cited --collect --state DIR -o record.json

Exit status: 0 done, 75 more is left (call again), 77 no GPU, 2 wrong arguments, 3 a file cannot be written.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import statistics
import subprocess
import sys
import time

import torch_configs
from torch_device import (MIB, Nvml, ProcessMemory, device_record, host_record, no_device, software_record,
                          sources_sha256)

VERSION = "1"
PROTOCOLS = {"framework_step": 1, "framework_max_batch": 1}
PROVENANCE = "provenance.json"
HERE = os.path.dirname(os.path.abspath(__file__))


def utc():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def value(unit, reading):
    """A value of a record: one reading, or the median of samples with min, max and median absolute deviation."""
    if not isinstance(reading, list):
        return {"unit": unit, "value": reading}
    middle = statistics.median(reading)
    return {"unit": unit, "value": middle, "min": min(reading), "max": max(reading), "samples": reading,
            "mad": statistics.median([abs(sample - middle) for sample in reading])}


def result(experiment, config, status, values, message=None):
    out = {"experiment": experiment, "engine": torch_configs.engine(config), "protocol": PROTOCOLS[experiment],
           "config": config, "status": status, "values": values, "finished_utc": utc()}
    if message:
        out["message"] = message
    return out


def open_gpu():
    """torch, NVML, and the process's memory watched from before the context exists; ends with 77 without a GPU."""
    try:
        import torch
    except ImportError:
        no_device("PyTorch is not installed")
    if not torch.cuda.is_available():
        no_device("PyTorch sees no CUDA device")
    nvml = Nvml()
    return torch, nvml, ProcessMemory(nvml)


# ---- in the process of one config

def write_trace(torch, phases, before, path):
    """The allocator's own history as lines `a ID BYTES PHASE` and `f ID`, in order, like tests/calc/truth/trace_*.
    before: how many allocations there had been when the history began."""
    import gzip
    history = torch.cuda.memory._snapshot()["device_traces"][0]
    bounds, alive, made = phases.allocations, {}, before
    with gzip.open(path, "wt") as out:
        for event in history:
            if event["action"] == "alloc":
                made += 1
                phase = next((name for first, name in reversed(bounds) if first < made), "before")
                alive[event["addr"]] = made
                out.write("a %d %d %s\n" % (made, event["size"], phase))
            elif event["action"] == "free_completed" and event["addr"] in alive:
                out.write("f %d\n" % alive.pop(event["addr"]))


def limit_memory(torch, process, cap_bytes):
    """Makes the allocator refuse what a card of cap_bytes would: its segments and the context share the cap."""
    context = process.read()[0]
    room = cap_bytes - (context or 0)
    fraction = room / torch.cuda.get_device_properties(0).total_memory
    if not 0 < fraction <= 1:
        raise ValueError("a cap of %d MiB leaves nothing to limit here" % (cap_bytes // MIB))
    torch.cuda.set_per_process_memory_fraction(fraction)


def one(job):
    """Runs one config and prints its result as JSON on the last line of standard output."""
    torch, nvml, process = open_gpu()
    process.alone = job["alone"]
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.manual_seed(1337)
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    context, method = process.read()
    if job["cap_bytes"]:
        limit_memory(torch, process, job["cap_bytes"])
    made = torch.cuda.memory_stats()["allocation.all.allocated"]
    if job["trace"]:
        torch.cuda.memory._record_memory_history(context=None, max_entries=4_000_000)
    import torch_step
    status, message, values = "ok", None, {}
    try:
        values, phases = torch_step.measure(job["config"], job["budget_s"], lambda: process.read()[0])
        if job["trace"]:
            write_trace(torch, phases, made, job["trace"])
    except torch.cuda.OutOfMemoryError as error:
        status, message = "oom", str(error).split("\n")[0]
    readings = {name: value(unit, reading) for name, (unit, reading) in values.items()}
    how = process.read()[1]
    if context is not None:
        readings["context_bytes"] = value("B", context - 2 * MIB)  # less the 2 MiB segment of the one tensor
    readings["process_method"] = value("text", how if how == method else method + "; " + how)
    print(json.dumps(result("framework_step", job["config"], status, readings, message)))


# ---- in the process that was called

def run_one(config, options, cap_bytes=0):
    """One config in a process of its own. Returns its result; a crash or a timeout is a result too. Under a cap, and
    beside others, only the memory is measured: nothing is timed."""
    trace = ""
    if options.trace:
        name = torch_configs.key("framework_step", config)
        trace = os.path.join(options.trace, "trace_%s_%s.txt.gz" % (torch_configs.engine(config), name))
    job = {"config": config, "cap_bytes": cap_bytes, "trace": trace, "alone": options.jobs == 1,
           "budget_s": 0 if cap_bytes or options.jobs > 1 else options.seconds_per_config}
    try:
        done = subprocess.run([sys.executable, os.path.abspath(__file__), "--one", json.dumps(job)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return result("framework_step", config, "failed", {}, "longer than %d s" % options.timeout)
    if done.returncode == 77:
        no_device(done.stderr.strip().split(": ")[-1].split(";")[0])
    if done.returncode != 0:
        lines = done.stderr.strip().split("\n")
        return result("framework_step", config, "failed", {}, lines[-1][-400:])
    return json.loads(done.stdout.strip().split("\n")[-1])


class OutOfTime(Exception):
    pass


def kept_try(config, options, until):
    """True when a config trains under the cap. The result is kept in the state folder: a search can be continued."""
    path = os.path.join(options.state, torch_configs.key("try under %d MiB" % options.cap_mib, config) + ".json")
    if not os.path.exists(path):
        if time.monotonic() > until:
            raise OutOfTime()
        write_json(path, run_one(config, options, options.cap_mib * MIB))
    with open(path) as f:
        outcome = json.load(f)
    if outcome["status"] == "failed":
        raise RuntimeError(outcome["message"])
    return outcome["status"] == "ok"


def max_batch(config, options, until):
    """The largest micro-batch that trains under the cap: doubled until it fails, then found by bisection."""
    good, bad, tries = 0, None, set()

    def trains(batch_size):
        tries.add(batch_size)
        return kept_try(dict(config, batch_size=batch_size), options, until)

    try:
        size = 1
        while bad is None and size <= 1024:
            good, bad, size = (size, None, size * 2) if trains(size) else (good, size, size)
        while bad is not None and bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if trains(middle) else (good, middle)
    except RuntimeError as error:
        return result("framework_max_batch", dict(config, cap_mib=options.cap_mib), "failed", {}, str(error))
    values = {"max_batch_size": value("count", good), "tries": value("count", len(tries))}
    return result("framework_max_batch", dict(config, cap_mib=options.cap_mib), "ok", values)


def planned(options):
    """[(experiment, config)] of everything that was asked for, each once."""
    jobs = []
    if options.cited:
        jobs += [("framework_step", c) for c in torch_configs.cited()]
    if options.accuracy:
        jobs += [("framework_step", c) for c in torch_configs.accuracy(options.accuracy)]
    for text in options.config:
        jobs.append(("framework_step", torch_configs.complete(json.loads(text))))
    if options.max_batch:
        for base in (torch_configs.SMALL, torch_configs.GPT2):
            for mode in ("none", "inductor"):
                # Two micro steps hold what a steady run holds; more only take time.
                config = torch_configs.complete(dict(base, compile=mode, gradient_accumulation_steps=2))
                jobs.append(("framework_max_batch", config))
    seen, out = set(), []
    for job in jobs:
        name = torch_configs.key(*job)
        if name not in seen:
            seen.add(name)
            out.append(job)
    # Compiling takes longest: it comes last, in case the time is up before.
    return sorted(out, key=lambda job: (job[0] == "framework_max_batch", job[1]["compile"] != "none"))


def finished(path, options):
    """Whether a job's result is in the state folder, with its times where this call measures them."""
    if not os.path.exists(path):
        return False
    with open(path) as f:
        kept = json.load(f)
    return (options.jobs > 1 or kept["experiment"] != "framework_step" or kept["status"] != "ok"
            or "step_s" in kept["values"])


def run_job(number, jobs, options, until):
    """Runs one job and keeps its result. False when the time was up before."""
    experiment, config = jobs[number]
    path = os.path.join(options.state, torch_configs.key(experiment, config) + ".json")
    if finished(path, options):
        return True
    begun = time.monotonic()
    if begun > until:
        return False
    try:
        searched = experiment == "framework_max_batch"
        outcome = max_batch(config, options, until) if searched else run_one(config, options)
    except OutOfTime:
        return False
    write_json(path, outcome)
    peak = outcome["values"].get("max_memory_allocated_bytes", {}).get("value", 0) // MIB
    print("%d/%d %s %s B%d T%d C%d L%d %s %s: %s, %d MiB, %.0f s" % (
        number + 1, len(jobs), experiment, outcome["engine"], config["batch_size"], config["seq_len"],
        config["n_embd"], config["n_layer"], config["dtype"], config["loop"], outcome["status"], peak,
        time.monotonic() - begun), flush=True)
    return True


def run_all(jobs, options, until):
    """Runs everything whose result is not in the state folder yet. Returns how many are left."""
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(lambda number: run_job(number, jobs, options, until), range(len(jobs))))
    return done.count(False)


def write_json(path, data):
    temporary = path + ".tmp"
    with open(temporary, "w") as f:
        json.dump(data, f, indent=1, sort_keys=True, allow_nan=False)
        f.write("\n")
    os.replace(temporary, path)


def record_id(options):
    """A record's name is its file's."""
    name = os.path.basename(options.output)
    return name[:-5] if name.endswith(".json") else name


def command():
    """As it was called; of an absolute path only the name, for a record says nothing of whoever measured."""
    words = [os.path.basename(sys.argv[0])] + sys.argv[1:]
    return [os.path.basename(word) if word.startswith("/") else word for word in words]


def provenance(options):
    """Everything of a record but its results. The GPU is looked at in a process that holds nothing on it."""
    torch, nvml, process = open_gpu()
    others = len(process.others)
    torch.cuda.init()
    return {
        "schema": "vramprobe/1", "id": record_id(options), "status": "ok",
        "created_utc": utc(),
        "tool": {"name": "torch_record.py", "version": VERSION, "sources_sha256": sources_sha256(HERE),
                 "protocols": PROTOCOLS, "command": command()},
        "code": {"commit": options.commit, "dirty": options.dirty},
        "host": host_record(), "device": device_record(torch, nvml, others), "software": software_record(torch, nvml),
    }


def kept_provenance(options):
    """The provenance of the last call that measured into this state folder."""
    with open(os.path.join(options.state, PROVENANCE)) as f:
        return dict(json.load(f), id=record_id(options))


def collect(jobs, options):
    results = []
    for experiment, config in jobs:
        path = os.path.join(options.state, torch_configs.key(experiment, config) + ".json")
        if os.path.exists(path):
            with open(path) as f:
                results.append(json.load(f))
    return results


def parse(arguments):
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="\n".join(__doc__.split("\n")[1:]),
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cited", action="store_true", help="the runs that the pages cite, eager and compiled")
    p.add_argument("--accuracy", metavar="FILE", help="the configs of a reference file, eager and compiled")
    p.add_argument("--config", action="append", default=[], metavar="JSON", help="one config; may be repeated")
    p.add_argument("--max-batch", action="store_true", help="search the largest micro-batch under --cap-mib")
    p.add_argument("--cap-mib", type=int, default=12282, metavar="N", help="memory of the card that is imitated")
    p.add_argument("--trace", metavar="DIR", help="also write the allocator's history of each run")
    p.add_argument("--state", default="build/torch_record", metavar="DIR", help="where results are kept one by one")
    p.add_argument("--seconds", type=int, default=480, metavar="N", help="start no new config after N seconds")
    p.add_argument("--seconds-per-config", type=float, default=5.0, metavar="N", help="time for the timed steps")
    p.add_argument("--jobs", type=int, default=1, metavar="N", help="N configs at once; nothing is timed then")
    p.add_argument("--timeout", type=int, default=240, metavar="N", help="end one config after N seconds")
    p.add_argument("--commit", metavar="HASH", help="commit of the sources, where there is no git")
    p.add_argument("--dirty", action="store_true", default=None, help="the sources differ from that commit")
    p.add_argument("-o", "--output", default="record.json", metavar="FILE", help="the record")
    p.add_argument("--force", action="store_true", help="replace FILE if it is there")
    p.add_argument("--collect", action="store_true", help="measure nothing: the record of what the state folder holds")
    p.add_argument("--one", metavar="JOB", help=argparse.SUPPRESS)
    options = p.parse_args(arguments)
    if not (options.one or options.cited or options.accuracy or options.config or options.max_batch):
        p.error("nothing to measure: give --cited, --accuracy, --config or --max-batch")
    if options.jobs < 1:
        p.error("--jobs %d: a whole number above 0 is wanted" % options.jobs)
    return options


def main():
    options = parse(sys.argv[1:])
    if options.one:
        return one(json.loads(options.one))
    begun = time.monotonic()
    try:
        jobs = planned(options)
    except (ValueError, OSError) as error:
        print("torch_record.py: error: %s" % error, file=sys.stderr)
        return 2
    if os.path.exists(options.output) and not options.force:
        print("torch_record.py: error: %s exists; give another -o, or --force" % options.output, file=sys.stderr)
        return 3
    if options.collect:
        try:
            head = kept_provenance(options)
        except OSError as error:
            print("torch_record.py: error: %s; nothing was measured into this folder" % error, file=sys.stderr)
            return 3
    else:
        for folder in filter(None, [options.trace, options.state]):
            os.makedirs(folder, exist_ok=True)
        head = provenance(options)
        write_json(os.path.join(options.state, PROVENANCE), head)
        left = run_all(jobs, options, begun + options.seconds)
        if left:
            print("%d of %d are left; call again to go on, or --collect what there is" % (left, len(jobs)))
            return 75
    results = collect(jobs, options)
    write_json(options.output, dict(head, results=results))
    print("%d results of %d in %s" % (len(results), len(jobs), options.output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
