"""The GPU memory of a transformer run, tensor by tensor, before it is launched.

    import vram
    vram.estimate("llama-3.1-8b", batch_size=4, lora_rank=16, gpu="A100 80GB").process.mib

    vram.from_model(model, optimizer, batch).estimate()           # a live torch module
    Trainer(..., callbacks=[vram.prediction_callback(gpu="RTX 4090")])   # predicted beside measured
    with vram.record("my-run.json", config={"batch_size": 8}): ...       # a record of a loop of your own

The numbers are libvram's; sizes are bytes. Only cffi is needed; torch and transformers are used where they are there.
"""

from .answers import (MIB, Advice, Block, Capacity, Card, Cards, Change, Comparison, Event, Field, Figure, Fit, Formula, Gpu,
                      Line, MaxBatch, Message, Oom, Param, Phase, Preset, Result, Segment, Segments, Serving, Shape, Size, Snapshot,
                      SnapshotBlock, SnapshotRow, SnapshotSegment, Solution, Suspect, Tensor)
from .estimator import (Estimator, VramError, VramWarning, advise, cards, compare, estimate, explain_oom, fields, fit, gpus, max_batch,
                        presets, segments, serve, snapshot, solve, version)
from .live import ModelMismatch, from_model
from .recording import record
from .trainer import prediction_callback

__version__ = version()
__all__ = [
    "MIB", "Advice", "Block", "Capacity", "Card", "Cards", "Change", "Comparison", "Estimator", "Event", "Field", "Figure",
    "Fit", "Formula", "Gpu", "Line", "MaxBatch", "Message", "ModelMismatch", "Oom", "Param", "Phase", "Preset",
    "Result", "Segment", "Segments", "Serving", "Shape", "Size", "Snapshot", "SnapshotBlock", "SnapshotRow", "SnapshotSegment",
    "Solution", "Suspect", "Tensor", "VramError", "VramWarning", "advise", "cards", "compare", "estimate",
    "explain_oom", "fields", "fit", "from_model", "gpus", "max_batch", "prediction_callback", "presets", "record",
    "segments", "serve", "snapshot", "solve", "version",
]
