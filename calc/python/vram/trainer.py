"""Owns the callback for transformers' Trainer and TRL's trainers: the prediction at the start, predicted beside measured
at the end."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from . import answers
from .estimator import Estimator, Value, VramError
from .live import ModelMismatch, from_model


def run_fields(args: Any) -> dict[str, Value]:
    """What TrainingArguments (and SFTConfig, which adds the length) say of a run, as fields."""
    out: dict[str, Value] = {
        "batch_size": args.per_device_train_batch_size,
        "gradient_accumulation_steps": args.gradient_accumulation_steps,
        "grad_clip": float(args.max_grad_norm or 0),
        "evaluation": bool(getattr(args, "eval_on_start", False)),
    }
    length = getattr(args, "max_length", None) or getattr(args, "max_seq_length", None)
    if length:
        out["seq_len"] = int(length)
    if getattr(args, "use_liger_kernel", False):
        out["cross_entropy"] = "chunked"
    if getattr(args, "torch_compile", False):
        out["compile"] = "2.5"
    world = int(getattr(args, "world_size", 1) or 1)
    if world > 1:
        out["n_gpu"] = world
        out["parallel"] = parallel_of(args)
    return out


def parallel_of(args: Any) -> str:
    """How the trainer divides a run among GPUs. SRC: accelerate, FullyShardedDataParallelPlugin: fsdp_version is 1 unless
    it is set; transformers, HfTrainerDeepSpeedConfig: the stage stands in zero_optimization."""
    if getattr(args, "fsdp", None):
        config = getattr(args, "fsdp_config", None) or {}
        return "fsdp2" if int(config.get("version", config.get("fsdp_version", 1))) == 2 else "fsdp1"
    if getattr(args, "deepspeed", None):
        tree = getattr(getattr(args, "hf_deepspeed_config", None), "config", {})
        return f"zero{int(tree.get('zero_optimization', {}).get('stage', 0)) or 1}"
    return "ddp"


def autocast_of(args: Any) -> str | None:
    """The format of the autocast that the trainer puts around the forward pass."""
    return "bfloat16" if getattr(args, "bf16", False) else "float16" if getattr(args, "fp16", False) else None


def sentence(predicted: answers.Result) -> str:
    """The prediction in one line."""
    figure = predicted.peak_allocated
    line = (f"vram: predicted max_memory_allocated {figure.mib:,.0f} MiB ({figure.low / answers.MIB:,.0f} to "
            f"{figure.high / answers.MIB:,.0f}), process {predicted.process.mib:,.0f} MiB")
    if predicted.gpu_name:
        line += f" of {predicted.gpu_bytes / answers.MIB:,.0f} on {predicted.gpu_name}: {predicted.verdict}"
    return line


def comparison(predicted: answers.Result, allocated: int, reserved: int) -> str:
    """Predicted beside measured, in one line."""
    parts = []
    for name, figure, measured in (("max_memory_allocated", predicted.peak_allocated, allocated),
                                   ("max_memory_reserved", predicted.peak_reserved, reserved)):
        error = 100 * (figure.bytes / measured - 1) if measured else float("nan")
        parts.append(f"{name} measured {measured / answers.MIB:,.0f} MiB, predicted {figure.mib:,.0f} ({error:+.1f} %)")
    return "vram: " + "; ".join(parts)


def prediction_callback(out: TextIO | None = None, **fields: Value) -> Any:
    """A TrainerCallback that prints the prediction when training begins, and predicted beside measured when it ends.

    fields are set over what the arguments of the trainer and the model say (seq_len, where the trainer does not name it).
    What cannot be predicted is said in one line, and the training goes on. Raises ImportError without transformers.
    """
    from transformers import TrainerCallback

    class PredictionCallback(TrainerCallback):
        predicted: answers.Result | None = None
        estimator: Estimator | None = None

        def on_train_begin(self, args, state, control, model=None, optimizer=None, **rest):
            given = {**run_fields(args), **fields}
            if "seq_len" not in given:
                print("vram: no prediction: the trainer names no length; prediction_callback(seq_len=...)", file=out)
                return
            try:
                self.estimator = from_model(model, optimizer, autocast=autocast_of(args), **given)
                self.predicted = self.estimator.estimate()
            except (VramError, ModelMismatch) as wrong:
                print(f"vram: no prediction: {wrong}", file=out)
                return
            print(sentence(self.predicted), file=out)
            if torch := _cuda():
                torch.cuda.reset_peak_memory_stats()

        def on_train_end(self, args, state, control, **rest):
            torch = _cuda()
            if self.predicted and torch:
                print(comparison(self.predicted, torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()),
                      file=out)

    return PredictionCallback()


def _cuda() -> Any:
    """torch, where it is imported and has a GPU."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_available() else None
