"""The callback over an imitated Trainer: what it reads of the arguments, and what it prints."""

import io
import sys
import types

import pytest
from test_live import TINYLLAMA, Model, adamw

import vram


def arguments(**more):
    """TrainingArguments' attributes with their defaults."""
    plain = {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 4, "max_grad_norm": 1.0, "bf16": True,
             "fp16": False, "max_length": 256, "world_size": 1, "use_liger_kernel": False, "torch_compile": False}
    return types.SimpleNamespace(**{**plain, **more})


@pytest.fixture
def transformers(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", types.SimpleNamespace(TrainerCallback=object, __version__="5.0.0"))


def begun(callback, model=None, **more):
    callback.on_train_begin(arguments(**more), None, None, model=model or Model(), optimizer=adamw(True))
    return callback


def test_prediction(transformers):
    out = io.StringIO()
    callback = begun(vram.prediction_callback(out, gpu="RTX 4090"), use_liger_kernel=True)
    got = {key: callback.estimator.get(key) for key in ("batch_size", "gradient_accumulation_steps", "seq_len", "dtype",
                                                        "cross_entropy", "evaluation")}
    assert got == {"batch_size": "2", "gradient_accumulation_steps": "4", "seq_len": "256", "dtype": "bfloat16",
                   "cross_entropy": "chunked", "evaluation": "false"}
    assert "RTX 4090: fits" in out.getvalue()
    assert f"{callback.predicted.peak_allocated.mib:,.0f} MiB" in out.getvalue()


ZERO = types.SimpleNamespace(config={"zero_optimization": {"stage": 3}})


@pytest.mark.parametrize("more,parallel", [
    ({}, "ddp"),
    ({"fsdp": ["full_shard"], "fsdp_config": {}}, "fsdp1"),
    ({"fsdp": ["full_shard"], "fsdp_config": {"fsdp_version": 2}}, "fsdp2"),
    ({"deepspeed": "ds.json", "hf_deepspeed_config": ZERO}, "zero3"),
])
def test_several_gpus(transformers, more, parallel):
    callback = begun(vram.prediction_callback(io.StringIO()), world_size=4, **more)
    assert (callback.estimator.get("parallel"), callback.estimator.get("n_gpu")) == (parallel, "4")


def test_no_length(transformers):
    out = io.StringIO()
    begun(vram.prediction_callback(out), max_length=None)
    assert "names no length" in out.getvalue()


def test_what_is_not_modelled_does_not_stop_the_training(transformers):
    out = io.StringIO()
    begun(vram.prediction_callback(out), Model(TINYLLAMA + 5))
    assert "no prediction" in out.getvalue()


def test_predicted_beside_measured(transformers, monkeypatch):
    out = io.StringIO()
    cuda = types.SimpleNamespace(is_available=lambda: True, reset_peak_memory_stats=lambda: None,
                                 max_memory_allocated=lambda: 8 << 30, max_memory_reserved=lambda: 9 << 30)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda))
    callback = begun(vram.prediction_callback(out))
    callback.on_train_end(arguments(), None, None)
    error = 100 * (callback.predicted.peak_allocated.bytes / (8 << 30) - 1)
    assert f"measured 8,192 MiB, predicted {callback.predicted.peak_allocated.mib:,.0f} ({error:+.1f} %)" in out.getvalue()


def test_without_transformers(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError):
        vram.prediction_callback()
