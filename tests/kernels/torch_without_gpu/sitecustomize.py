"""PyTorch on the CPU in the place of a GPU, so that torch_record.py runs from one end to the other: Python loads this file
at its start when PYTHONPATH names its folder. What memory and time come out are made up; the arithmetic is PyTorch's own.

PRETENDED_LIMIT=N: under a cap, batches of more than N sequences are out of memory.
"""

import contextlib
import math
import os
import sys
import types
import warnings

import torch
import torch.nn.functional as F

warnings.simplefilter("ignore")
MIB = 1 << 20
calls = {"allocations": 0, "capped": False}


class Event:
    def __init__(self, **_):
        pass

    def record(self):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, _):
        return 1.0


class Scaler:
    def __init__(self, device="cuda", enabled=True):
        pass

    def scale(self, loss):
        return loss

    def unscale_(self, optimizer):
        pass

    def step(self, optimizer):
        optimizer.step()

    def update(self):
        pass


def memory_stats():
    calls["allocations"] += 7
    return {"allocation.all.allocated": calls["allocations"], "num_alloc_retries": 0}


def cap(fraction):
    assert 0 < fraction <= 1
    calls["capped"] = True


def attention(q, k, v, attn_mask=None, dropout_p=0, is_causal=False):
    assert is_causal
    if calls["capped"] and q.size(0) > int(os.environ.get("PRETENDED_LIMIT", "1000000")):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 6.14 GiB\nand more lines")
    scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    later = torch.ones(q.size(-2), q.size(-2)).tril() == 0
    return F.softmax(scores.masked_fill(later, float("-inf")), dim=-1).to(v.dtype) @ v


def pretend():
    real_to, real_zeros, real_autocast, real_adamw = torch.Tensor.to, torch.zeros, torch.autocast, torch.optim.AdamW
    for name, answer in {"is_available": True, "init": None, "synchronize": None, "max_memory_allocated": 5 * MIB,
                         "max_memory_reserved": 8 * MIB, "memory_reserved": 8 * MIB, "memory_allocated": 3 * MIB,
                         "reset_peak_memory_stats": None, "mem_get_info": (MIB, 2048 * MIB)}.items():
        setattr(torch.cuda, name, lambda answer=answer: answer)
    torch.cuda.memory_stats, torch.cuda.Event, torch.cuda.set_per_process_memory_fraction = memory_stats, Event, cap
    torch.cuda.get_device_properties = lambda _: types.SimpleNamespace(
        name="a test, not a GPU", major=9, minor=0, multi_processor_count=1, total_memory=2048 * MIB, L2_cache_size=1)
    torch.nn.Module.cuda = lambda self, *_: self
    torch.Tensor.pin_memory = lambda self: self
    torch.Tensor.to = lambda self, *a, non_blocking=False, **k: self if a[:1] == ("cuda",) else real_to(self, *a, **k)
    if not hasattr(torch.Tensor, "untyped_storage"):
        torch.Tensor.untyped_storage = lambda self: self.storage().untyped()
    torch.zeros = lambda *a, device=None, **k: real_zeros(*a, **k)
    torch.autocast = lambda _, dtype=None: real_autocast("cpu", dtype=torch.bfloat16)
    torch.optim.AdamW = lambda groups, fused=None, **k: real_adamw(groups, **k)
    torch.compile = lambda model: model
    torch.amp.GradScaler = Scaler
    F.scaled_dot_product_attention = attention
    backends = types.ModuleType("torch.nn.attention")
    backends.SDPBackend = types.SimpleNamespace(FLASH_ATTENTION=1, EFFICIENT_ATTENTION=2)
    backends.sdpa_kernel = lambda _: contextlib.nullcontext()
    sys.modules["torch.nn.attention"] = backends


pretend()
