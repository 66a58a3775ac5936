"""Answers are those of vramcalc, errors say what the library says, and what is returned outlives the library's storage."""

import gc
import json
import threading

import os
import pickle
import re
import warnings

import pytest

import vram
from conftest import ROOT
from vram._library import ffi, lib

RUNS = [
    ("gpt2", {"batch_size": 8, "gpu": "RTX 4070"}),
    ("llama-3.1-8b", {"batch_size": 1, "seq_len": 2048, "lora_rank": 16, "quantization": "nf4", "checkpointing": "block",
                      "gpu": "RTX 4090"}),
    ("qwen2.5-7b", {"task": "inference", "batch_size": 4, "seq_len": 4096}),
    ("nanogpt-30m", {}),
]


@pytest.mark.parametrize("preset,fields", RUNS, ids=[preset for preset, _ in RUNS])
def test_estimate_is_vramcalcs(preset, fields, vramcalc):
    said = vramcalc("estimate", f"preset={preset}", *(f"{key}={value}" for key, value in fields.items()))
    result = vram.estimate(preset, **fields)
    for name in ("peak_live", "peak_allocated", "peak_reserved", "process"):
        assert getattr(result, name).bytes == said[f"{name}_bytes"], name
    assert (result.params, result.trained_params) == (said["params"], said["trained_params"])
    assert sum(result.by_category.values()) >= result.peak_live.bytes
    assert sum(line.bytes for line in result.at_peak) == sum(result.by_category.values())


def test_fit_and_verdict():
    assert vram.fit("gpt2", batch_size=4, gpu="RTX 4070").verdict == "fits"
    assert vram.fit("gpt2", batch_size=4, seq_len=None, quantization=None, gpu="RTX 4070") == vram.fit("gpt2", batch_size=4, gpu="RTX 4070")
    assert vram.estimate("gpt2", batch_size=32, gpu="RTX 4070").verdict == "too big"
    assert not vram.estimate("gpt2", batch_size=4).fits


def test_answers_carry_notes():
    words = {"preset": "llama-3.2-1b", "framework": "transformers", "dtype": "bfloat16_pure", "gpu": "T4"}
    for answer in (vram.estimate, vram.fit, vram.max_batch, vram.advise, vram.cards):
        assert "emulated" in " ".join(note.text for note in answer(**words).notes)


def test_max_batch_fits_and_the_next_does_not():
    largest = vram.max_batch("gpt2", gpu="RTX 4070").batch_size
    assert vram.fit("gpt2", batch_size=largest, gpu="RTX 4070").verdict in ("fits", "tight")
    assert vram.fit("gpt2", batch_size=largest + 1, gpu="RTX 4070").verdict in ("nearly", "too big")


def test_advice_is_taken():
    e = vram.Estimator("oom-gpt2")
    advice = e.advise()
    assert advice.plan_found
    assert e.take().estimate().process.bytes == advice.plan_process_bytes
    assert e.take(0).estimate().process.bytes == advice.changes[0].process_bytes


def test_answers_outlive_the_handle():
    result = vram.estimate("gpt2")
    names = [line.name for line in result.at_peak]
    gc.collect()
    vram.estimate("llama-3.1-8b")
    assert [line.name for line in result.at_peak] == names


def test_errors_have_code_and_field():
    with pytest.raises(vram.VramError, match="did you mean 'gpt2'") as caught:
        vram.estimate("gpt3")
    assert caught.value.message.code == "unknown-preset"
    with pytest.raises(vram.VramError) as caught:
        vram.estimate("gpt2", batch_size=0)
    assert (caught.value.message.code, caught.value.message.field) == ("out-of-range", "batch_size")
    with pytest.raises(vram.VramError):
        vram.estimate("gpt2", n_head=7)


def test_every_error_of_a_text(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("batch_size = x\nblok_size = 3\n")
    with pytest.raises(vram.VramError) as caught:
        vram.Estimator(str(path))
    assert [(m.line, m.file) for m in caught.value.all] == [(1, str(path)), (2, str(path))]


def test_warnings_and_errors_of_a_text(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text("base_model: meta-llama/Llama-3.2-1B\nfoo_bar: 3\nmicro_batch_size: 2\n")
    with pytest.warns(vram.VramWarning, match="2:1: 'foo_bar' is no key of axolotl's") as caught:
        vram.fit(str(path), gpu="T4")
    assert caught[0].filename == __file__
    path.write_text("base_model: meta-llama/Llama-3.2-1B\nfoo_bar: 3\nmicro_batch_size: x\n")
    with pytest.raises(vram.VramError, match="cannot be 'x'") as caught:
        vram.fit(str(path), gpu="T4")
    assert [m.line for m in caught.value.all] == [3] and caught.value.message.code == "bad-value"


def test_what_is_no_configuration(tmp_path):
    path = tmp_path / "error.txt"
    path.write_text("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")
    with pytest.raises(vram.VramError) as caught:
        vram.estimate(str(path))
    assert caught.value.message.id == "text_is_oom"
    with pytest.raises(vram.VramError) as caught:
        vram.estimate(os.path.join(os.path.dirname(__file__), "../cli/calc_snapshot/step4.pickle"))
    assert caught.value.message.id == "text_is_snapshot"
    with pytest.raises(IsADirectoryError):
        vram.estimate(str(tmp_path))


def test_files_that_a_file_names(vramcalc):
    folder = os.path.join(os.path.dirname(__file__), "../cli/calc_read")
    with warnings.catch_warnings():
        warnings.simplefilter("error", vram.VramWarning)
        run = vram.estimate(os.path.join(folder, "finetune.sh"))
    assert run.process.bytes == vramcalc("estimate", os.path.join(folder, "finetune.sh"))["process_bytes"]
    assert vram.Estimator(os.path.join(folder, "finetune.sh")).get("parallel") == "zero2"


def test_a_model_in_the_hubs_cache(tmp_path, monkeypatch, vramcalc):
    folder = tmp_path / "hub/models--org--own"
    (folder / "snapshots/abc").mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs/main").write_text("abc")
    (folder / "snapshots/abc/config.json").write_text(json.dumps(
        {"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 1000}))
    (tmp_path / "sft.yaml").write_text("model_name_or_path: org/own\nper_device_train_batch_size: 3\n")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    assert vram.Estimator("org/own").get("n_layer") == "3"
    said = vramcalc("estimate", str(tmp_path / "sft.yaml"))
    assert vram.estimate(str(tmp_path / "sft.yaml")).process.bytes == said["process_bytes"]


def test_what_is_set_before_files(tmp_path, vramcalc):
    said = vramcalc("estimate", "preset=shakespeare-char", "mode=reference")
    assert vram.estimate("shakespeare-char", mode="reference").process.bytes == said["process_bytes"]
    path = tmp_path / "ds.json"
    path.write_text('{"train_batch_size": 16, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 1, "zero_optimization": {"stage": 2}}')
    assert vram.Estimator(["gpt2", str(path)], n_gpu=8).get("n_gpu") == "8"


def test_config_json(tmp_path):
    config = {"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 22, "num_attention_heads": 32,
              "num_key_value_heads": 4, "intermediate_size": 5632, "vocab_size": 32000, "tie_word_embeddings": False,
              "architectures": ["LlamaForCausalLM"], "rope_scaling": None}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    wanted = vram.estimate("tinyllama-1.1b").params
    assert vram.estimate(str(path)).params == vram.estimate(config).params == wanted
    path.write_text("{")
    with pytest.raises(ValueError, match=r"config\.json:1:1"):
        vram.estimate(str(path))


def test_trace_ends_where_the_report_says():
    e = vram.Estimator("nanogpt-30m")
    events = e.trace()
    assert max(event.live for event in events) == e.estimate().peak_requested_bytes
    assert len({event.id for event in events if not event.is_free}) == sum(not event.is_free for event in events)


def test_sweep():
    rows = vram.Estimator("gpt2").sweep("batch_size=1:3 n_head=12,7")
    assert len(rows) == 6
    assert [isinstance(answer, vram.Message) for _, answer in rows] == [False, True] * 3


def test_explain_oom():
    said = vram.explain_oom("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 6.14 GiB.", "gpt2", batch_size=32)
    assert said.tensors[0].shape.dim[:3] == (32, 1024, 50304)
    assert not vram.explain_oom("CUDA out of memory. Tried to allocate 2.00 GiB").has_config


def test_snapshot():
    path = os.path.join(os.path.dirname(__file__), "../cli/calc_snapshot/step4.pickle")
    held = vram.snapshot(path)
    assert (held.reserved_bytes, held.peak_requested_bytes, held.has_config) == (200 << 20, 122686396, False)
    assert held.blocks[0].file == "/home/u/model.py" and held.blocks[0].count == 8
    assert vram.snapshot(path, "gpt2", batch_size=1).missing
    with pytest.raises(vram.VramError, match="wants to call Python code"):
        vram.snapshot(path.replace("step4", "hostile"))


def test_files_of_frameworks():
    folder = os.path.join(os.path.dirname(__file__), "../cli/calc_read")
    both = vram.Estimator([os.path.join(folder, name) for name in ("config.json", "sft.yaml")], n_gpu=2)
    assert (both.get("batch_size"), both.get("seq_len"), both.get("n_gpu")) == ("4", "1024", "2")
    assert vram.Estimator(os.path.join(folder, "titan.toml")).get("seq_len") == "8192"
    assert vram.Estimator(os.path.join(folder, "axolotl.yaml")).get("optimizer") == "adamw_8bit"
    script = vram.Estimator(os.path.join(folder, "finetune.sh"))
    assert (script.get("n_gpu"), script.get("batch_size"), script.get("seq_len")) == ("2", "4", "1024")
    with pytest.raises(ValueError, match="no kind"):
        vram.Estimator().read(os.path.join(folder, "axolotl.yaml"), kind="lotl")


def test_tables():
    assert {"gpt2", "llama-3.1-8b"} <= {preset.name for preset in vram.presets()}
    assert "RTX 4070" in {card.name for card in vram.gpus()}
    assert [f.values for f in vram.fields() if f.key == "task"] == [("train", "inference")]


def test_fields_round_trip():
    e = vram.Estimator("llama-3.1-8b", batch_size=3, lora_rank=8)
    copy = e.copy()
    assert [copy.get(f.key) for f in vram.fields()] == [e.get(f.key) for f in vram.fields()]


def test_two_threads():
    answers = {}
    presets = ["gpt2", "tinyllama-1.1b", "gemma-2b", "pythia-160m"]
    threads = [threading.Thread(target=lambda name=name: answers.update({name: vram.estimate(name).process.bytes}))
               for name in presets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {name: vram.estimate(name).process.bytes for name in presets}


def test_lists():
    one = vram.estimate("smollm2-135m", batch_size=1, seq_lens=[512, 1024])
    assert one.peak_reserved.bytes == vram.estimate("smollm2-135m", batch_size=1, seq_lens="512+1024").peak_reserved.bytes
    assert vram.Estimator("smollm2-135m", lora_targets=("q", "v")).get("lora_targets") == "q+v"


def test_version():
    assert vram.version() == vram.__version__
    assert f'"{vram.version()}"' in (ROOT / "calc/vram/base.h").read_text()


def test_searches():
    solution = vram.solve("batch_size", "gpt2", gpu="RTX 4070")
    assert solution.value == vram.max_batch("gpt2", gpu="RTX 4070").batch_size
    assert (solution.goal, solution.method, solution.refusal) == ("largest", "bisection", None)
    assert vram.solve("seq_len", "llama-2-70b", gpu="T4").refusal.id == "solve_nothing_fits"
    with pytest.raises(vram.VramError, match="it is one of batch_size"):
        vram.solve("dtype", "gpt2", gpu="T4")
    cards = vram.cards("llama-3.1-8b", checkpointing="block").cards
    assert cards[0].total_bytes <= cards[-1].total_bytes and {card.count for card in cards} == set(range(1, 9))


def test_serving():
    served = vram.serve("llama-3.1-8b", quantization="q4_k_m", seq_len=8192, gpu="RTX 3060")
    assert (served.server, served.token_bytes) == ("llama.cpp", 131072)
    assert served.sequences > 0 and served.longest >= 8192


def test_segments():
    run = vram.estimate("oom-gpt2", batch_size=8, compile="none")
    at = vram.segments("oom-gpt2", batch_size=8, compile="none")
    assert (at.moment, at.reserved_bytes) == ("growth", run.peak_reserved.bytes)
    assert vram.segments("oom-gpt2", "peak", batch_size=8, compile="none").allocated_bytes == run.peak_allocated.bytes
    blocks = [block for segment in at.segments for block in segment.blocks]
    assert sum(block.bytes for block in blocks) == at.reserved_bytes
    assert max(block.bytes for block in blocks if block.state == "free") == at.largest_free_bytes
    assert "logits gradient" in {block.name for block in blocks}
    with pytest.raises(ValueError, match="no moment"):
        vram.segments("gpt2", "noon")


def test_lines_of_the_framework():
    advice = vram.advise("llama-3.1-8b", gpu="RTX 4090")
    assert advice.framework == "transformers" and advice.plan_found
    assert "gradient_checkpointing=True" in {change.line for change in advice.changes if change.in_plan}


def test_values_of_a_script_come_out_of_its_file(tmp_path):
    script, settings = tmp_path / "run.py", tmp_path / "run.yaml"
    script.write_text('import yaml\nc = yaml.safe_load(open("run.yaml"))\nSFTConfig(per_device_train_batch_size=c["rows"])\n')
    settings.write_text("rows: 3\n")
    assert vram.Estimator("gpt2").read(script).get("batch_size") == "3"
    moved = tmp_path / "apart" / "run.yaml"
    moved.parent.mkdir()
    settings.rename(moved)
    for order in ([script, moved], [moved, script]):
        assert vram.Estimator(["gpt2", *order]).get("batch_size") == "3"
    run = vram.Estimator("gpt2").read(moved, "settings").copy().read(script)
    assert run.get("batch_size") == "3"
    with pytest.warns(vram.VramWarning, match="come out of run.yaml"):
        vram.Estimator("gpt2").read(script)


def sentences(door):
    """Every sentence of the library as it is said at a door, by its id."""
    text, index = ffi.new(f"char[{lib.VRAM_SENTENCE}]"), 0
    while (row := lib.vram_message_at(index)) != ffi.NULL:
        lib.vram_say(row, door, text)
        yield ffi.string(row.id).decode(), ffi.string(text).decode()
        index += 1


def test_sentences_are_said_as_python_asks():
    with pytest.raises(vram.VramError, match=r'no card is chosen: give gpu="NAME" \(`vram.gpus\(\)` lists them\)'):
        vram.fit("gpt2")
    with pytest.raises(vram.VramError, match=r"`vram.gpus\(\)` lists them"):
        vram.estimate("gpt2", gpu="RTX 9999")
    hints = vram.explain_oom("llama_model_load: error loading model: unable to allocate backend buffer").hints
    assert any('gpu="NAME"' in hint.text for hint in hints), hints
    said = dict(sentences(lib.VRAM_DOOR_PYTHON))
    assert len(said) > 300
    # what vramcalc alone has, or other programs' own flags
    ours = {name: text for name, text in said.items() if re.search(r"`vramcalc|--gpu(?![\w-])|--kind|\{=", text)}
    assert not ours
    assert "--gpu NAME" in dict(sentences(lib.VRAM_DOOR_COMMAND))["no_gpu"]
    assert 'gpu = "NAME"' in dict(sentences(lib.VRAM_DOOR_LUA))["no_gpu"]


def test_what_python_has_at_hand():
    error = RuntimeError("CUDA out of memory. Tried to allocate 6.14 GiB.")
    assert vram.explain_oom(error, "gpt2", batch_size=32).tried == vram.explain_oom(str(error), "gpt2", batch_size=32).tried
    path = os.path.join(ROOT, "tests", "cli", "calc_snapshot", "step4.pickle")
    with open(path, "rb") as file:
        taken = pickle.load(file)   # as torch.cuda.memory._snapshot() returns it
    assert vram.snapshot(taken, "gpt2") == vram.snapshot(path, "gpt2")
