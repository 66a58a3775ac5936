"""Packages that cannot be installed without nvcc, as the allocations that their launchers' lines make."""
import importlib.machinery
import importlib.metadata
import sys
import types

import torch


def _round(n, to):
    return (n + to - 1) // to * to


class _Flash(torch.autograd.Function):
    """flash-attn 2.7: csrc/flash_attn/flash_api.cpp, mha_fwd (383-525), mha_bwd (773-950), and its varlen forms."""

    @staticmethod
    def forward(ctx, q, k, v, lse_shape, total_q, batch):
        out = torch.empty_like(q)
        lse = torch.empty(lse_shape, dtype=torch.float32, device=q.device)
        rng = torch.empty(2, dtype=torch.int64, device=q.device)
        ctx.save_for_backward(q, k, v, out, lse, rng)
        ctx.accumulate = total_q, batch
        return out

    @staticmethod
    def backward(ctx, dout):
        q, k, v, out, lse, rng = ctx.saved_tensors
        dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
        heads, dim = q.shape[-2], _round(q.shape[-1], 32 if q.shape[-1] <= 128 else 64)
        if ctx.accumulate[0] is None:  # mha_bwd
            rows = _round(q.shape[1], 128)
            soft = torch.empty(q.shape[0], heads, rows, dtype=torch.float32, device=q.device)
            acc = torch.empty(q.shape[0], rows, heads, dim, dtype=torch.float32, device=q.device)
        else:  # mha_varlen_bwd
            total, batch = ctx.accumulate
            soft = torch.empty(heads, total + 128 * batch, dtype=torch.float32, device=q.device)
            acc = torch.empty(total + 128 * batch, heads, dim, dtype=torch.float32, device=q.device)
        if k.shape[-2] != heads:  # grouped queries: keys' gradients a query head, then summed
            dke = torch.empty(*k.shape[:-2], heads, k.shape[-1], dtype=k.dtype, device=k.device)
            dve = torch.empty_like(dke)
            del acc, soft
            ratio = heads // k.shape[-2]
            torch.sum(dke.view(*k.shape[:-2], k.shape[-2], ratio, -1), dim=-2, out=dk)
            torch.sum(dve.view(*k.shape[:-2], k.shape[-2], ratio, -1), dim=-2, out=dv)
        return dq, dk, dv, None, None, None


def flash_attn_func(q, k, v, *args, **kwargs):
    return _Flash.apply(q, k, v, (q.shape[0], q.shape[2], q.shape[1]), None, None)


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, *args, **kwargs):
    return _Flash.apply(q, k, v, (q.shape[1], q.shape[0]), q.shape[0], cu_seqlens_q.numel() - 1)


def flash_attention(version="2.7.3"):
    """Puts in flash_attn as a package of that version."""
    if "flash_attn" in sys.modules:
        return
    for name in ("flash_attn", "flash_attn.bert_padding", "flash_attn.layers", "flash_attn.layers.rotary",
                 "flash_attn.ops", "flash_attn.ops.triton", "flash_attn.ops.triton.rotary"):
        module = types.ModuleType(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        module.__path__ = []
        module.__version__ = version
        sys.modules[name] = module
    module = sys.modules["flash_attn"]
    module.flash_attn_func, module.flash_attn_varlen_func = flash_attn_func, flash_attn_varlen_func
    padding = sys.modules["flash_attn.bert_padding"]
    padding.index_first_axis = lambda x, i: x.reshape(-1, *x.shape[2:])[i]
    padding.pad_input = padding.unpad_input = None
    sys.modules["flash_attn.layers.rotary"].apply_rotary_emb = None
    sys.modules["flash_attn.ops.triton.rotary"].apply_rotary = None
    true_version = importlib.metadata.version
    importlib.metadata.version = lambda p: version if p in ("flash_attn", "flash-attn") else true_version(p)
    distributions = importlib.metadata.packages_distributions
    importlib.metadata.packages_distributions = lambda: {**distributions(), "flash_attn": ["flash-attn"]}
