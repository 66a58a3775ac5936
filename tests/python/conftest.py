"""What the tests share: where the repository and the compiled programs are."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(os.environ.get("ROOT", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))


@pytest.fixture
def vramcalc():
    """Runs vramcalc and returns its JSON."""
    def run(*words):
        done = subprocess.run([BUILD / "vramcalc", *words, "--format", "json"], stdout=subprocess.PIPE, check=False)
        return json.loads(done.stdout)
    return run
