"""A record of a loop of one's own: vramdoc reads it as one of content/measurements/. torch is imitated."""

import contextlib
import json
import subprocess
import sys
import types

import pytest

import vram
from conftest import BUILD


class OutOfMemoryError(RuntimeError):
    """torch.cuda.OutOfMemoryError."""


def imitation(available=True):
    """As much of torch as a record asks for."""
    properties = types.SimpleNamespace(name="NVIDIA GeForce RTX 4070", major=8, minor=9, multi_processor_count=46,
                                       L2_cache_size=36 << 20)
    cuda = types.SimpleNamespace(
        is_available=lambda: available, reset_peak_memory_stats=lambda: None, synchronize=lambda: None,
        max_memory_allocated=lambda: 4 << 30, max_memory_reserved=lambda: 5 << 30, memory_allocated=lambda: 1 << 30,
        memory_stats=lambda: {"num_alloc_retries": 0}, mem_get_info=lambda: (0, 12 << 30),
        get_device_properties=lambda number: properties, OutOfMemoryError=OutOfMemoryError)
    return types.SimpleNamespace(cuda=cuda, __version__="2.9.0", version=types.SimpleNamespace(cuda="12.8"))


@pytest.fixture
def torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", imitation())


def reads(record, folder):
    """What vramdoc says of a site that has this record: its exit code and its messages."""
    content = folder / "content"
    (content / "measurements").mkdir(parents=True)
    (content / "measurements" / record.name).write_bytes(record.read_bytes())
    (content / "index").mkdir()
    (content / "index" / "en.md").write_text("# Home\n")
    (content / "site.yaml").write_text("title: T\nsource_language: en\ngit: false\n")
    done = subprocess.run([BUILD / "vramdoc", "build", "-s", content, "-o", folder / "out"], stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, text=True, check=False)
    return done.returncode, done.stderr


def test_vramdoc_reads_it(torch, tmp_path):
    path = tmp_path / "rtx-4070-my-run.json"
    with vram.record(path, config={"preset": "gpt2", "batch_size": 8}):
        pass
    data = json.loads(path.read_text())
    result = data["results"][0]
    assert (data["id"], result["status"], result["config"]["batch_size"]) == ("rtx-4070-my-run", "ok", 8)
    assert result["values"]["max_memory_allocated_bytes"] == {"unit": "B", "value": 4 << 30}
    assert reads(path, tmp_path) == (0, "")


def test_a_damaged_one_is_refused(torch, tmp_path):
    path = tmp_path / "rtx-4070-my-run.json"
    with vram.record(path, config={"preset": "gpt2"}):
        pass
    path.write_text(path.read_text().replace('"engine": "torch-eager"', '"engine": "mine"'))
    code, said = reads(path, tmp_path)
    assert code != 0 and "engine" in said


def test_out_of_memory_is_a_record_too(torch, tmp_path):
    path = tmp_path / "oom.json"
    with pytest.raises(OutOfMemoryError):
        with vram.record(path, config={"preset": "gpt2"}, compiled=True):
            raise OutOfMemoryError("CUDA out of memory. Tried to allocate 6.14 GiB.\nsecond line")
    result = json.loads(path.read_text())["results"][0]
    assert (result["status"], result["engine"]) == ("oom", "torch-compile")
    assert result["message"] == "CUDA out of memory. Tried to allocate 6.14 GiB."


def test_another_error_leaves_no_record(torch, tmp_path):
    path = tmp_path / "run.json"
    with pytest.raises(KeyError):
        with vram.record(path, config={}):
            raise KeyError("mine")
    assert not path.exists()


def test_nothing_is_written_over(torch, tmp_path):
    path = tmp_path / "run.json"
    path.write_text("mine")
    with pytest.raises(FileExistsError), vram.record(path, config={}):
        pass
    assert path.read_text() == "mine"


@pytest.mark.parametrize("name", ["Run.json", "run.txt", "my run.json", ".json"])
def test_bad_names(torch, tmp_path, name):
    with pytest.raises(ValueError), vram.record(tmp_path / name, config={}):
        pass


def test_no_gpu(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", imitation(available=False))
    with pytest.raises(RuntimeError, match="no CUDA device"), contextlib.ExitStack() as stack:
        stack.enter_context(vram.record(tmp_path / "run.json", config={}))
