"""One training run in PyTorch, with the memory of each of its phases read from the caching allocator.

The model and the loop do the operations of nanoGPT (https://github.com/karpathy/nanoGPT, model.py and train.py) in the
same order, because the order decides what is alive at the peak: Python locals that keep a tensor, the logits that the
caller holds until the next micro step, the next batch that is fetched before the backward pass.
"""

import contextlib
import gc
import inspect
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

AUTOCAST = {"float16": torch.float16, "bfloat16": torch.bfloat16}
EVAL_ITERS = 2  # the count does not matter for memory: each batch ends with the same tensors
TIMED_STEPS = 10
WARM_STEPS = 3


class LayerNorm(nn.Module):
    def __init__(self, width, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c_attn = nn.Linear(c["n_embd"], 3 * c["n_embd"], bias=c["bias"])
        self.c_proj = nn.Linear(c["n_embd"], c["n_embd"], bias=c["bias"])
        self.n_head, self.p, self.math = c["n_head"], c["dropout"], c["attention"] == "math"
        self.attn_dropout, self.resid_dropout = nn.Dropout(self.p), nn.Dropout(self.p)
        if self.math:  # the causal mask is a buffer of every layer, as in nanoGPT without SDPA
            size = c["block_size"]
            mask = torch.tril(torch.ones(size, size)).view(1, 1, size, size)
            self.register_buffer("bias", mask)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        if self.math:
            att = (q @ k.transpose(-2, -1)) * (1.0 / (k.size(-1) ** 0.5))
            att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
            att = self.attn_dropout(F.softmax(att, dim=-1))
            y = att @ v
        else:
            p = self.p if self.training else 0
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=p, is_causal=True)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c_fc = nn.Linear(c["n_embd"], 4 * c["n_embd"], bias=c["bias"])
        self.gelu = nn.GELU()
        self.c_proj = nn.Linear(4 * c["n_embd"], c["n_embd"], bias=c["bias"])
        self.dropout = nn.Dropout(c["dropout"])

    def forward(self, x):
        x = self.c_fc(x)
        x = self.gelu(x)
        x = self.c_proj(x)
        return self.dropout(x)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln_1, self.attn = LayerNorm(c["n_embd"], c["bias"]), Attention(c)
        self.ln_2, self.mlp = LayerNorm(c["n_embd"], c["bias"]), MLP(c)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.wte = nn.Embedding(c["vocab_size"], c["n_embd"])
        self.wpe = nn.Embedding(c["block_size"], c["n_embd"])
        self.drop = nn.Dropout(c["dropout"])
        self.h = nn.ModuleList([Block(c) for _ in range(c["n_layer"])])
        self.ln_f = LayerNorm(c["n_embd"], c["bias"])
        self.lm_head = nn.Linear(c["n_embd"], c["vocab_size"], bias=False)
        self.wte.weight = self.lm_head.weight
        self.checkpointing, self.use_reentrant = c["checkpointing"] == "block", c.get("use_reentrant", False)
        for parameter in self.parameters():
            if parameter.dim() >= 2:
                nn.init.normal_(parameter, mean=0.0, std=0.02)

    def forward(self, idx, targets):
        pos = torch.arange(0, idx.size(1), dtype=torch.long, device=idx.device)
        tok_emb = self.wte(idx)
        pos_emb = self.wpe(pos)
        x = self.drop(tok_emb + pos_emb)
        for block in self.h:
            if self.checkpointing and self.training:
                x = checkpoint(block, x, use_reentrant=self.use_reentrant)
            else:
                x = block(x)
        x = self.ln_f(x)
        logits = self.lm_head(x)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        return logits, loss


def make_optimizer(model, kind):
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    choice = {"fused": True} if kind == "adamw_fused" else {"foreach": True}
    return torch.optim.AdamW(groups, lr=6e-4, betas=(0.9, 0.95), **choice)


def pinned_attention(kind):
    """The context in which SDPA may use this backend only; math attention does not go through SDPA."""
    if kind == "math":
        return contextlib.nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel({"flash": SDPBackend.FLASH_ATTENTION, "mem_efficient": SDPBackend.EFFICIENT_ATTENTION}[kind])


def make_scaler(enabled):
    if "device" in inspect.signature(torch.amp.GradScaler.__init__).parameters:
        return torch.amp.GradScaler("cuda", enabled=enabled)
    return torch.cuda.amp.GradScaler(enabled=enabled)


class Phases:
    """Peaks of max_memory_allocated by phase. Reading and resetting them is host work, which no kernel waits for but
    which takes its time: `watching` is off while steps are timed."""

    def __init__(self):
        self.peaks, self.order, self.allocations, self.watching = {}, [], [], True

    @contextlib.contextmanager
    def __call__(self, name):
        if not self.watching:
            yield
            return
        torch.cuda.reset_peak_memory_stats()
        self.allocations.append((torch.cuda.memory_stats()["allocation.all.allocated"], name))
        yield
        peak = torch.cuda.max_memory_allocated()
        if name not in self.peaks:
            self.order.append(name)
        self.peaks[name] = max(peak, self.peaks.get(name, 0))

    def peak(self, prefix=""):
        return max((v for k, v in self.peaks.items() if k.startswith(prefix)), default=0)


class Run:
    """A run of config c. loop "train" is train.py's (evaluation first, GradScaler, clipping); loop "reference" leaves
    those out, as the reference values in tests/calc/truth do."""

    def __init__(self, c, phases):
        self.c, self.phases, self.train_loop = c, phases, c["loop"] == "train"
        self.dtype = AUTOCAST.get(c["dtype"])
        with phases("model"):
            self.raw = GPT(c).cuda()
        self.scaler = make_scaler(self.train_loop and c["dtype"] == "float16")
        self.optimizer = make_optimizer(self.raw, c["optimizer"])
        self.model = torch.compile(self.raw) if c["compile"] != "none" else self.raw
        self.generator = torch.Generator().manual_seed(1337)
        self.logits = self.loss = None
        self.X, self.Y = self.batch()

    def batch(self):
        c = self.c
        tokens = torch.randint(c["vocab_size"], (c["batch_size"], c["seq_len"] + 1), generator=self.generator)
        x, y = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
        return x.pin_memory().to("cuda", non_blocking=True), y.pin_memory().to("cuda", non_blocking=True)

    def autocast(self):
        return torch.autocast("cuda", dtype=self.dtype) if self.dtype else contextlib.nullcontext()

    def evaluate(self):
        self.model.eval()
        with torch.no_grad(), self.phases("eval"):
            for _ in range(2 * EVAL_ITERS):
                X, Y = self.batch()
                with self.autocast():
                    logits, loss = self.model(X, Y)
                loss.item()
        self.model.train()

    def micro_step(self, name):
        c = self.c
        with self.phases("fwd:" + name):
            with self.autocast():
                self.logits, self.loss = self.model(self.X, self.Y)
                self.loss = self.loss / c["gradient_accumulation_steps"]
        with self.phases("bwd:" + name):
            self.X, self.Y = self.batch()
            self.scaler.scale(self.loss).backward()

    def update(self, name):
        with self.phases("step:" + name):
            if self.train_loop:
                self.scaler.unscale_(self.optimizer)
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad(set_to_none=True)

    def iteration(self, number):
        for micro in range(self.c["gradient_accumulation_steps"]):
            self.micro_step("it%d.m%d" % (number, micro))
        self.update("it%d" % number)
        return self.loss


def timed_steps(run, first, budget_s):
    """Device time of whole iterations, in seconds, by CUDA events; at least three, at most TIMED_STEPS."""
    samples, until = [], time.monotonic() + budget_s
    number = first
    while len(samples) < TIMED_STEPS and (len(samples) < 3 or time.monotonic() < until):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run.iteration(number)
        end.record()
        end.synchronize()
        samples.append(begin.elapsed_time(end) / 1000.0)
        number += 1
    return samples


def saved_for_backward(run):
    """Bytes that autograd keeps after a forward pass, each storage counted once and parameters left out."""
    own = {p.untyped_storage().data_ptr() for p in run.raw.parameters()}
    seen = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        if tensor.is_cuda and storage.data_ptr() not in own:
            seen[storage.data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t), run.autocast():
        logits, loss = run.raw(run.X, run.Y)
    total = sum(seen.values())
    del logits, loss
    return total


def fresh_batches(run):
    """Back to the state before an iteration, as far as the allocator's live tensors go."""
    run.logits = run.loss = None
    gc.collect()


def steady(run, phases):
    """Runs iterations until the reserved memory stays as it is. The first iteration's peak, and the next one's number."""
    run.iteration(0)
    first, number, reserved = phases.peak(), 1, -1
    while number <= WARM_STEPS or (reserved != torch.cuda.memory_reserved() and number < 12):
        reserved = torch.cuda.memory_reserved()
        run.iteration(number)
        number += 1
    torch.cuda.synchronize()
    return first, number


def put_times(out, run, samples):
    c = run.c
    tokens = c["batch_size"] * c["seq_len"] * c["gradient_accumulation_steps"]
    out["step_s"] = ("s", samples)
    out["tokens_per_s"] = ("tokens/s", [tokens / s for s in samples])


def measure(c, budget_s, process_bytes):
    """Runs config c to its steady state; without a budget in seconds no step is timed. process_bytes() is asked as soon
    as that is reached. Returns {name: (unit, value or list of samples)}, and the Phases."""
    phases, attention = Phases(), pinned_attention(c["attention"])
    with attention:
        run = Run(c, phases)
        if run.train_loop:
            run.evaluate()
        first, number = steady(run, phases)
        stats = torch.cuda.memory_stats()
        out = {
            "first_step_peak_bytes": ("B", first),
            "max_memory_allocated_bytes": ("B", phases.peak()),
            "max_memory_reserved_bytes": ("B", torch.cuda.max_memory_reserved()),
            "steady_allocated_bytes": ("B", torch.cuda.memory_allocated()),
            "alloc_retries": ("count", stats["num_alloc_retries"]),
        }
        for prefix in ("model", "eval", "fwd", "bwd", "step"):
            if phases.peak(prefix):
                out["peak_%s_bytes" % prefix] = ("B", phases.peak(prefix))
        total = process_bytes()
        if total is not None:
            out["process_bytes"] = ("B", total)
        out["params"] = ("count", sum(p.numel() for p in run.raw.parameters()))
        if not budget_s:
            return out, phases
        phases.watching = False
        put_times(out, run, timed_steps(run, number, budget_s))
        phases.watching = True
        loss = float(run.loss) * c["gradient_accumulation_steps"]
        if math.isfinite(loss):
            out["loss_last"] = ("ratio", loss)
        if c["compile"] == "none":
            fresh_batches(run)
            out["saved_for_backward_bytes"] = ("B", saved_for_backward(run))
    return out, phases
