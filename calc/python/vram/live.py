"""Owns the way from a live torch module, its optimizer and a batch to a configuration.

What a module says of itself is read: its config, the formats of its parameters, its adapters, its quantization, whether
it checkpoints. What it does not say (autocast, the number of GPUs, the card) are fields of the caller. The parameters
that libvram counts are then held against the module's own: a module that is not the one that is modelled is refused.
torch is not imported: the objects that are passed bring it with them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from .estimator import Estimator, Value, VramError


class ModelMismatch(ValueError):
    """The module is none that libvram models, or has other parameters than the one that its config describes."""


# Optimizers by module and class. SRC: the class names of torch.optim, bitsandbytes.optim, transformers.optimization.
OPTIMIZERS = {
    "SGD": "sgd", "Adafactor": "adafactor", "Muon": "muon", "AdamW8bit": "adamw_8bit", "Adam8bit": "adamw_8bit",
    "PagedAdamW": "adamw_paged", "PagedAdamW32bit": "adamw_paged", "PagedAdamW8bit": "adamw_8bit_paged",
    "Lion": "lion", "Lion32bit": "lion", "Lion8bit": "lion_8bit", "PagedLion": "lion_paged", "PagedLion32bit": "lion_paged",
    "PagedLion8bit": "lion_8bit_paged", "AdEMAMix": "ademamix", "AdEMAMix32bit": "ademamix", "AdEMAMix8bit": "ademamix_8bit",
    "PagedAdEMAMix": "ademamix_paged", "PagedAdEMAMix32bit": "ademamix_paged", "PagedAdEMAMix8bit": "ademamix_8bit_paged",
}
# Projections of nanoGPT and GPT-2 have no names of their own among lora_targets: fused ones are q, k and v.
TARGETS = {"c_attn": "q+k+v", "query_key_value": "q+k+v", "qkv_proj": "q+k+v", "gate_up_proj": "gate+up"}


def _unwrapped(model: Any) -> Any:
    """The module below DistributedDataParallel and torch.compile."""
    while True:
        inner = getattr(model, "_orig_mod", None)
        if inner is None and type(model).__name__ in ("DistributedDataParallel", "DataParallel"):
            inner = model.module
        if inner is None:
            return model
        model = inner


def _optimizer(optimizer: Any) -> dict[str, Value]:
    name = type(optimizer).__name__
    # accelerate wraps it.
    if name == "AcceleratedOptimizer":
        return _optimizer(optimizer.optimizer)
    group = optimizer.param_groups[0]
    if name in ("AdamW", "Adam") and type(optimizer).__module__.startswith("torch."):
        return {"optimizer": "adamw_fused" if group.get("fused") else "adamw_foreach"}
    if name == "SGD" and group.get("momentum"):
        return {"optimizer": "sgd_momentum"}
    if name not in OPTIMIZERS:
        raise ModelMismatch(f"the optimizer {type(optimizer).__module__}.{name} is not modelled: AdamW, Adam and "
                            f"{', '.join(sorted(OPTIMIZERS))} are; or pass optimizer=None and set the field `optimizer`")
    return {"optimizer": OPTIMIZERS[name]}


def _batch(batch: Any) -> dict[str, Value]:
    """batch_size and seq_len of a batch: a mapping with input_ids, a tensor of shape (batch, length), or that pair."""
    if isinstance(batch, Mapping) or hasattr(batch, "input_ids"):
        batch = batch["input_ids"]
    shape = tuple(getattr(batch, "shape", batch))
    if len(shape) != 2:
        raise ModelMismatch(f"a batch of shape {shape}: (batch, length) is wanted")
    return {"batch_size": int(shape[0]), "seq_len": int(shape[1])}


def _elements(parameter: Any) -> int:
    """The numbers that a parameter stands for; bitsandbytes packs two of four bits into a byte."""
    state = getattr(parameter, "quant_state", None)
    if state is not None:
        count = 1
        for size in state.shape:
            count *= int(size)
        return count
    return int(parameter.numel())


def _dtype(model: Any, autocast: Any) -> dict[str, Value]:
    """The field dtype, from the formats of the frozen and the trained parameters and of autocast."""
    name = str(autocast).removeprefix("torch.") if autocast is not None else None
    formats = {str(p.dtype).removeprefix("torch.") for p in model.parameters() if p.is_floating_point()}
    half = formats & {"bfloat16", "float16"}
    if not half:
        return {"dtype": name or "float32"}
    loaded = half.pop()
    if half or (name and name != loaded):
        raise ModelMismatch(f"parameters in {loaded} and {half.pop() if half else name}: set the field `dtype`")
    if name:
        return {"dtype": f"{loaded}_loaded"}
    if loaded == "float16":
        raise ModelMismatch("training in pure float16 is not modelled: pass autocast=torch.float16")
    return {"dtype": "bfloat16_pure"}


def _quantization(config: Any) -> dict[str, Value]:
    """The field quantization from a transformers quantization_config (a mapping or an object)."""
    given = getattr(config, "quantization_config", None)
    if given is None:
        return {}
    q = given if isinstance(given, Mapping) else given.to_dict()
    if q.get("load_in_8bit"):
        return {"quantization": "int8"}
    if q.get("load_in_4bit"):
        double = q.get("bnb_4bit_use_double_quant")
        return {"quantization": "nf4_double" if double else "nf4"}
    method, bits = str(q.get("quant_method", "")), q.get("bits", 4)
    known = {("gptq", 4): "gptq", ("gptq", 8): "gptq_int8", ("awq", 4): "awq", ("fp8", 4): "fp8"}
    if (method, bits) not in known:
        raise ModelMismatch(f"weights quantized by {method or 'an unnamed method'} in {bits} bits are not modelled")
    return {"quantization": known[method, bits]}


def _adapter(model: Any) -> dict[str, Value]:
    """The fields of group lora from a PEFT model."""
    configs = getattr(model, "peft_config", None)
    if not configs:
        return {}
    config = configs[getattr(model, "active_adapter", "default")]
    kind = str(getattr(config.peft_type, "value", config.peft_type))
    if kind == "IA3":
        return {"adapter": "ia3"}
    if kind != "LORA":
        raise ModelMismatch(f"PEFT's {kind} is not modelled: LORA and IA3 are")
    targets = config.target_modules
    names = [targets] if isinstance(targets, str) else sorted(targets)
    out: dict[str, Value] = {"lora_rank": config.r, "lora_dropout": config.lora_dropout,
                             "lora_targets": ",".join(TARGETS.get(name, name) for name in names)}
    if getattr(config, "use_dora", False):
        out["adapter"] = "dora"
    if getattr(config, "init_lora_weights", True) == "mica":
        out["adapter"] = "mica"
    saved = {"lm_head": "head", "embed_tokens": "embed"}
    if config.modules_to_save:
        out["modules_to_save"] = "+".join(saved.get(name, name) for name in config.modules_to_save)
    return out


def _checkpointing(model: Any) -> dict[str, Value]:
    """Whether a transformers model checkpoints its blocks, and in which form."""
    # The second name from transformers 5 on, where the first one warns.
    named = "is_activation_checkpointing" if hasattr(model, "is_activation_checkpointing") else "is_gradient_checkpointing"
    if not getattr(model, named, False):
        return {}
    out: dict[str, Value] = {"checkpointing": "block"}
    for module in model.modules():
        function = getattr(module, "_gradient_checkpointing_func", None)
        keywords = getattr(function, "keywords", None) or {}
        if "use_reentrant" in keywords:
            out["use_reentrant"] = bool(keywords["use_reentrant"])
            break
    return out


def _versions() -> dict[str, Value]:
    """The versions of what is running, as far as libvram knows them: a newer one gets the newest that it knows."""
    out: dict[str, Value] = {}
    for name in ("torch", "transformers"):
        module = sys.modules.get(name)
        parts = str(getattr(module, "__version__", "")).split(".")
        if len(parts) > 1 and parts[0].isdigit() and parts[1].isdigit():
            out[name] = f"{parts[0]}.{parts[1]}"
    return out


def _read_config(estimator: Estimator, model: Any) -> None:
    """The shape of the model from its config: transformers', or nanoGPT's."""
    config = getattr(model, "config", None)
    if config is not None and hasattr(config, "to_dict"):
        estimator.read_config(_known(config.to_dict()), type(config).__name__)
        kernel = getattr(config, "_attn_implementation", None)
        estimator.set(framework="transformers", attention="math" if kernel == "eager" else "flash")
        estimator.set(**_quantization(config))
        return
    keys = ("n_layer", "n_head", "n_embd", "block_size", "vocab_size", "dropout", "bias")
    if config is None or not all(hasattr(config, key) for key in keys):
        raise ModelMismatch(f"{type(model).__name__} has no config that is read: a transformers model's or nanoGPT's is "
                            "wanted; for another, give the shape to vram.Estimator")
    estimator.set(family="gpt2", **{key: getattr(config, key) for key in keys})


def _known(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A live config without the keys that no config.json of the family has: to_dict() adds those of generation."""
    trial, left = Estimator(), dict(tree)
    try:
        trial.read_config(left)
    except VramError as wrong:
        unknown = {str(m.args["key"]) for m in wrong.all if m.id.startswith("unknown_key")}
        if not unknown or len(unknown) < len(wrong.all):
            raise
        left = {key: value for key, value in left.items() if key not in {name.split(".")[0] for name in unknown}}
    return left


def _compare(estimator: Estimator, model: Any) -> None:
    """Refuses a module whose parameters are not those that are modelled."""
    seen: dict[int, tuple[int, bool]] = {id(p): (_elements(p), p.requires_grad) for p in model.parameters()}
    whole = sum(count for count, _ in seen.values())
    trained = sum(count for count, trains in seen.values() if trains)
    result = estimator.estimate()
    if (result.params, result.trained_params) != (whole, trained):
        raise ModelMismatch(f"the module has {whole:,} parameters, {trained:,} of them trained; its config describes "
                            f"{result.params:,} and {result.trained_params:,}: it is another model than the one that is "
                            "modelled")


def from_model(model: Any, optimizer: Any = None, batch: Any = None, *, autocast: Any = None,
               **fields: Value) -> Estimator:
    """The configuration of a live torch module: a transformers model, with PEFT's adapters or without, or nanoGPT's.

    optimizer: a torch optimizer, or None for the default of the field. batch: a mapping with input_ids, a tensor of shape
    (batch, length), or (batch, length). autocast: the dtype of torch.autocast around the forward pass, or None.
    fields override what was read. Raises ModelMismatch for a module that is not modelled, VramError for bad fields.

    >>> vram.from_model(model, optimizer, batch, autocast=torch.bfloat16, gpu="RTX 4090").estimate()
    """
    model = _unwrapped(model)
    adapter = _adapter(model)
    base = model.get_base_model() if adapter else model
    estimator = Estimator()
    _read_config(estimator, base)
    read: dict[str, Value] = {**_versions(), **_dtype(model, autocast), **adapter, **_checkpointing(base)}
    if not any(p.requires_grad for p in model.parameters()):
        read["task"] = "inference"
    if optimizer is not None:
        read.update(_optimizer(optimizer))
    if batch is not None:
        read.update(_batch(batch))
    estimator.set(**{**read, **{key: value for key, value in fields.items() if value is not None}})
    _compare(estimator, model)
    return estimator
