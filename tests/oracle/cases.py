"""Runs the cases of cases.tsv for one environment, each in a process of its own: cases.py ENV OUT [NAME...]

  JOBS=14      so many at a time (1)
  LIMIT_S=120  start none after that many
  REAL=flash   on a real GPU, without cuDNN's attention, as the null CUDA chooses; REAL=cudnn: as PyTorch chooses there
"""
import csv
import importlib.metadata
import os
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ("torch", "transformers", "peft", "trl", "accelerate", "bitsandbytes", "liger-kernel", "torchtitan",
            "torchtune", "torchao", "deepspeed", "litgpt", "cut-cross-entropy", "triton", "unsloth", "unsloth-zoo")


REAL = os.environ.get("REAL")


def versions():
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def options(text):
    """'a=1 b c=x' as a dictionary; a word without a value is True."""
    out = {}
    for word in text.replace("-", " ").split() if text == "-" else text.split():
        key, _, value = word.partition("=")
        out[key] = int(value) if value.lstrip("-").isdigit() else value or True
    return out


def read(env, names):
    with open(os.path.join(HERE, "cases.tsv"), newline="") as f:
        for row in csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t"):
            for layers in row["layers"].split(","):
                name = f"{row['name']}_L{layers}"
                if env in row["envs"].split(",") and (not names or row["name"] in names or name in names):
                    yield name, int(layers), row


def alone(row):
    """Whether a case is of one GPU: the others want an NCCL that does nothing."""
    return row["trainer"] not in ("distributed", "zero", "trainer", "sequence", "spread") and "world=" not in row["options"]


def run(env, out, name, layers, row):
    import oracle
    import torch
    import trainers

    words = options(row["options"])
    card = words.pop("card", os.environ.get("NULLCUDA_CARD", "a100"))
    if REAL:
        card = on_the_card()
    else:
        os.environ["NULLCUDA_CARD"] = card
        torch.backends.cuda.enable_cudnn_sdp(False)  # of which the null CUDA has nothing
        oracle.answer_questions()
    about = dict(name=f"{name}_{env}", family=row["family"], trainer=row["trainer"], options=row["options"],
                 layers=layers, batch=int(row["batch"]), seq=int(row["seq"]), card=card, versions=versions())
    with oracle.Trace() as trace:
        extra = getattr(trainers, row["trainer"])(row["family"], layers, about["batch"], about["seq"], **words)
        about.update(extra or {})
    about = trace.save(os.path.join(out, f"{name}_{env}"), about)
    print(f"{name}_{env}: peak {about['peak_requested']} allocated {about['peak_allocated']} "
          f"reserved {about['peak_reserved']} {about.get('peak', '')}", flush=True)


def on_the_card():
    """The name of the real GPU, which answers for itself."""
    import torch
    torch.backends.cuda.enable_cudnn_sdp(REAL == "cudnn")
    return f"{torch.cuda.get_device_name()}, {REAL}"


def start(env, out, name, layers, row):
    """The process of one case."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        run(env, out, name, layers, row)
        code = 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main():
    env, out, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    import torch  # noqa: F401  (imported once, before the processes part)
    import standins
    if env == "old":
        standins.flash_attention()
    import transformers  # noqa: F401

    jobs, until = int(os.environ.get("JOBS", 1)), time.monotonic() + int(os.environ.get("LIMIT_S", 1 << 30))
    running, failed = {}, 0

    def wait():
        pid, status = os.wait()
        name = running.pop(pid)
        if status != 0:
            print(f"{name}_{env}: FAILED", flush=True)
        return status != 0

    for name, layers, row in read(env, names):
        if REAL and not alone(row):
            continue
        if time.monotonic() > until:
            print(f"{name}_{env}: not started", flush=True)
            continue
        running[start(env, out, name, layers, row)] = name
        if len(running) == jobs:
            failed += wait()
    while running:
        failed += wait()
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
