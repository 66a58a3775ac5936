"""The wheel as an installer reads it: its RECORD is true, and the package runs from it alone."""

import ast
import base64
import builtins
import csv
import hashlib
import io
import subprocess
import sys
import zipfile

import pytest

import vram
from conftest import BUILD, ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, ROOT / "calc/python/make_wheel.py", BUILD / "python", vram.__version__, out], check=True,
                   stdout=subprocess.DEVNULL)
    return out / f"vram-{vram.__version__}-py3-none-linux_x86_64.whl"


def test_record(wheel):
    with zipfile.ZipFile(wheel) as archive:
        record = next(name for name in archive.namelist() if name.endswith("/RECORD"))
        rows = list(csv.reader(io.TextIOWrapper(archive.open(record))))
        assert {row[0] for row in rows} == set(archive.namelist())
        for name, digest, size in rows:
            if name != record:
                data = archive.read(name)
                assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                assert int(size) == len(data)


def test_it_runs_from_there(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = "import vram; print(vram.__file__, vram.estimate('gpt2').process.bytes)"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
                          stdout=subprocess.PIPE, text=True, check=True, cwd="/")
    assert done.stdout.split() == [str(tmp_path / "vram/__init__.py"), str(vram.estimate("gpt2").process.bytes)]


def test_types_of_the_oldest_python():
    """Python 3.9, the oldest that the wheel admits, knows `str | int` in annotations that are not evaluated alone."""
    for path in (ROOT / "calc/python/vram").glob("*.py"):
        tree = ast.parse(path.read_text())
        assert any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body) or path.name == "__init__.py"
        values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Assign)]
        unions = [node for value in values for node in ast.walk(value) if isinstance(node, ast.BinOp) and
                  isinstance(node.op, ast.BitOr) and isinstance(node.right, ast.Name) and node.right.id in vars(builtins)]
        assert not unions, f"{path.name}:{unions[0].lineno}"


def test_same_bytes_twice(wheel, tmp_path):
    subprocess.run([sys.executable, ROOT / "calc/python/make_wheel.py", BUILD / "python", vram.__version__, tmp_path],
                   check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()
