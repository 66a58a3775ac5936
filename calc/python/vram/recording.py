"""Owns the record of a training loop of the reader's own, in the form that content/measurements/ takes (vramprobe/1).

What a loop reaches is read from torch's own counters; GPU, driver and versions as torch_record.py reads them.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from . import _device
from .estimator import version

EXPERIMENT, PROTOCOL = "training_loop", 1
HERE = os.path.dirname(os.path.abspath(__file__))


def _utc() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _sources() -> str:
    """Of the measuring program's own files, in order of name."""
    digest = hashlib.sha256()
    for name in ("_device.py", "recording.py"):
        with open(os.path.join(HERE, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def _id(path: str) -> str:
    """The record's id, which is the name of its file. Raises ValueError where that is none."""
    name = os.path.basename(path)
    stem = name[:-5] if name.endswith(".json") else ""
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,127}", stem):
        raise ValueError(f"{name}: a record's file is named with a-z, 0-9, '.', '_' and '-', and ends with .json")
    return stem


def _values(torch: Any, process: Any) -> dict[str, Any]:
    readings = {
        "max_memory_allocated_bytes": ("B", torch.cuda.max_memory_allocated()),
        "max_memory_reserved_bytes": ("B", torch.cuda.max_memory_reserved()),
        "steady_allocated_bytes": ("B", torch.cuda.memory_allocated()),
        "alloc_retries": ("count", torch.cuda.memory_stats().get("num_alloc_retries", 0)),
    }
    total, method = process.read()
    if total is not None:
        readings["process_bytes"] = ("B", total)
    readings["process_method"] = ("text", method)
    return {name: {"unit": unit, "value": value} for name, (unit, value) in readings.items()}


def _write(path: str, record: Mapping[str, Any]) -> None:
    """All of it or nothing: a full disk leaves no half record."""
    temporary = path + ".tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1, sort_keys=True, allow_nan=False)
        file.write("\n")
    os.replace(temporary, path)


@contextlib.contextmanager
def record(path: str | os.PathLike[str], config: Mapping[str, str | int | float | bool], *,
           compiled: bool = False) -> Iterator[None]:
    """Measures the block and writes the record to path: peaks of torch's allocator, the process, GPU and versions.

    config: the run in the words of vramcalc's fields, so that a prediction can stand beside it. A block that ends with
    torch.cuda.OutOfMemoryError is a record of status "oom", and the error goes on. Raises ValueError for a bad name,
    FileExistsError if path is there (records are never written over), RuntimeError without a GPU.

    >>> with vram.record("rtx-4090-my-run.json", config={"preset": "gpt2", "batch_size": 8}):
    ...     train()
    """
    path = os.fspath(path)
    name = _id(path)
    if os.path.exists(path):
        raise FileExistsError(path)
    import torch
    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no CUDA device: nothing can be measured")
    nvml = _device.Nvml()
    process = _device.ProcessMemory(nvml)
    torch.cuda.reset_peak_memory_stats()
    status, message = "ok", None
    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        status, message = "oom", str(error).split("\n")[0]
        raise
    finally:
        if status == "oom" or sys.exc_info()[0] is None:
            torch.cuda.synchronize()
            result = {"experiment": EXPERIMENT, "engine": "torch-compile" if compiled else "torch-eager",
                      "protocol": PROTOCOL, "config": dict(config), "status": status, "values": _values(torch, process),
                      "finished_utc": _utc()}
            if message:
                result["message"] = message
            _write(path, {
                "schema": "vramprobe/1", "id": name, "status": "ok", "created_utc": _utc(),
                "tool": {"name": "vram", "version": version(), "sources_sha256": _sources(),
                         "protocols": {EXPERIMENT: PROTOCOL}, "command": [os.path.basename(sys.argv[0]), *sys.argv[1:]]},
                "code": {"commit": None, "dirty": None}, "host": _device.host_record(),
                "device": _device.device_record(torch, nvml, len(process.others)),
                "software": _device.software_record(torch, nvml), "results": [result],
            })
