"""Records what a run allocates on the null CUDA: phases, modules, categories, the trace and its summary."""
import ctypes
import gc
import gzip
import json
import math
import os
import sys

import torch

_rec = None
_labels = 0  # of a row that count, where not all do


def recorder():
    global _rec
    if _rec is None:
        _rec = ctypes.CDLL(os.environ.get("RECORDER") or os.path.join(sys.prefix, "null", "recorder.so"))
        _rec.recorder_mark.argtypes = [ctypes.c_size_t, ctypes.c_char_p]
        for f in ("recorder_live", "recorder_peak", "recorder_count"):
            getattr(_rec, f).restype = ctypes.c_size_t
        _rec.recorder_write.restype = ctypes.c_uint
    return _rec


def phase(name):
    recorder().recorder_phase(name.encode())


def answer_questions():
    """A device that computes nothing has no answers; every mask here is of ones, so all() is true and any() false."""
    def answering(original, answer):
        def ask(*args, **kwargs):
            out = original(*args, **kwargs)
            if isinstance(out, torch.Tensor) and out.is_cuda and out.numel() == 1 and out.dtype == torch.bool:
                out.data.copy_(torch.tensor(answer).view(out.shape))
            return out
        return ask

    for owner in (torch, torch.Tensor):
        owner.all = answering(owner.all, True)
        owner.any = answering(owner.any, False)
    torch.erfinv = torch.sin  # the same memory: the former is compiled at its first call, by NVRTC, which asks a driver
    torch.Tensor.__contains__ = lambda self, value: bool((self == value).any())
    true_item = torch.Tensor.__getitem__

    def item(tensor, index):
        """A mask of bools on the device selects everything, or the labels that count."""
        if not (isinstance(index, torch.Tensor) and index.dtype == torch.bool and index.is_cuda and 0 < index.dim() < 3):
            return true_item(tensor, index)
        if index.dim() == 1:
            return true_item(tensor, torch.arange(index.numel(), device=index.device))
        chosen = _labels or index.shape[1]
        rows = torch.arange(index.shape[0] * chosen, device=index.device)
        return true_item(tensor, (rows // chosen, rows % chosen))

    torch.Tensor.__getitem__ = item
    try:  # transformers 5 asks by a sum
        from transformers import masking_utils
        masking_utils.fast_all = answering(masking_utils.fast_all, True)
    except (ImportError, AttributeError):
        pass


def answer_labels(count, rows):
    """So many labels of each row count, of all rows together in a flat mask: what torch.where finds of it."""
    global _labels
    _labels = count
    true_where = torch.where

    def where(mask, *values):
        if values or not mask.is_cuda or mask.dim() > 2:
            return true_where(mask, *values)
        return (torch.arange(rows * count, device=mask.device),) * mask.dim()

    torch.where = where


def answer_scatter():
    """How many places a mask has is asked of the device in a compiled masked_scatter's backward, too: all of them."""
    def backward(grad, mask, sizes):
        places = torch.arange(math.prod(sizes), device=grad.device)
        return grad.reshape(-1).index_select(0, places).view(sizes)

    answer_scatter.library = torch.library.Library("aten", "IMPL")
    answer_scatter.library.impl("masked_scatter_backward", backward, "CUDA")


def answer_unlike(rows):
    """The answers where sequences are not alike: padded, their masks have zeros; packed, their positions begin anew."""
    from transformers import masking_utils

    def begins(positions):
        first = positions[:, :1] - 1
        return (torch.diff(positions, prepend=first, dim=-1) != 1).cumsum(-1)

    if rows == "padded":
        masking_utils.fast_all = lambda tensor: False
    elif rows == "packed":
        masking_utils.find_packed_sequence_indices = begins


def watch_modules(model):
    """Names the module that is running, also for its backward (by the sequence numbers of autograd)."""
    rec = recorder()

    def enter(name):
        def hook(*_):
            rec.recorder_enter(name)
        return hook

    def leave(*_):
        rec.recorder_leave()

    for name, module in model.named_modules():
        module.register_forward_pre_hook(enter((name or "model").encode()))
        module.register_forward_hook(leave, always_call=True)


def mark(tensors, category):
    for t in tensors:
        if isinstance(t, torch.Tensor) and t.is_cuda:
            t = t._local_tensor if hasattr(t, "_local_tensor") else t
            try:
                recorder().recorder_mark(t.untyped_storage().data_ptr(), category.encode())
            except RuntimeError:
                pass  # a wrapper without storage of its own


def mark_model(model, optimizer=None, batch=()):
    mark(model.parameters(), "param")
    mark(model.buffers(), "buffer")
    mark((p.grad for p in model.parameters() if p.grad is not None), "grad")
    mark(batch, "input")
    if optimizer is not None:
        for state in getattr(optimizer, "state", {}).values():
            mark((v for v in state.values()), "optim")


WORKSPACES = {8519680, 33554432, 4194304, 1048576}  # SRC: aten/src/ATen/cuda/CublasHandlePool.cpp


def categorized(lines):
    """The trace with a category for what nothing marked, from when it was born and when it died."""
    died, phases, now = {}, [], None
    for at, line in enumerate(lines):
        word = line.split()
        if word[0] == "a":
            now = word[4]
        else:
            died[word[1]] = (at, now)
        phases.append(now)
    for at, line in enumerate(lines):
        word = line.split()
        if word[0] == "a" and word[5] == "-":
            _, number, size, op, born, _, module = word
            freed, end = died.get(number, (None, "never"))
            matmul = any(m in op for m in ("mm", "linear", "matmul", "bmm", "einsum"))
            at_once = op.endswith("addmm") and freed == at + 1  # a product's own result outlives what it is made with
            if matmul and int(size) in WORKSPACES and (end == "never" or at_once):
                kind = "workspace"
            elif "_to_copy" in op and born.startswith("fwd") and end != born:
                kind = "cast"
            elif born.startswith("fwd"):
                kind = "temp" if end == born else "act"
            elif born.startswith("bwd"):
                kind = "recompute" if module != "-" and "Backward" not in op.split(">")[0].replace(
                    "CheckpointFunctionBackward", "") else "backward"
            elif born.startswith("step"):
                kind = "step"
            else:
                kind = "temp" if end == born else "other"
            line = " ".join((word[0], number, size, op, born, kind, module))
        yield line + "\n"


class Trace:
    """with Trace() as t: ...; t.save(path, description): every allocation between, and the allocator's own figures."""

    def __enter__(self):
        gc.collect()
        gc.disable()
        torch.cuda.init()
        torch.zeros(1, device="cuda")
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        self.rec = recorder()
        self.rec.recorder_clear()
        self.rec.recorder_start()
        phase("load")
        return self

    def __exit__(self, *_):
        self.rec.recorder_stop()
        gc.enable()

    def figures(self):
        stats = torch.cuda.memory_stats()
        return {
            "peak_requested": int(self.rec.recorder_peak()),
            "peak_allocated": stats["allocated_bytes.all.peak"],
            "peak_reserved": stats["reserved_bytes.all.peak"],
            "peak_active": stats["active_bytes.all.peak"],
            "end_allocated": stats["allocated_bytes.all.current"],
            "retries": stats["num_alloc_retries"],
            "events": int(self.rec.recorder_count()),
        }

    def save(self, path, about):
        raw = path + ".raw"
        about = dict(about, **self.figures())
        about["peak_id"] = int(self.rec.recorder_write(raw.encode()))
        with open(raw) as f, gzip.GzipFile(path + ".txt.gz", "wb", 9, mtime=0) as out:
            out.write("".join(categorized(f.read().splitlines())).encode())
        os.remove(raw)
        with open(path + ".json", "w") as f:
            json.dump(about, f, indent=1)
            f.write("\n")
        return about
