"""Reads a file and what it names: the files of one run that lie beside it, and its model in the Hub's cache.

The command line does the same (calc/cli/cli_named.c, cli_hub.c): the library says which files it would have opened.
"""

from __future__ import annotations

import glob
import os
import re
from typing import TYPE_CHECKING, Optional

from . import answers
from ._library import lib

if TYPE_CHECKING:
    from .estimator import Estimator

DEPTH_MAX = 3  # files that name files
BEFORE, BETWEEN, BEHIND, SETTINGS = "before", "between", "behind", "settings"


def hub_config(model: str) -> Optional[str]:
    """The config.json of a model in the cache folder of the Hugging Face Hub, or None."""
    if not re.fullmatch(r"[\w-][\w.-]*(/[\w.-]+)?", model, re.ASCII) or model.startswith("-"):
        return None
    home = os.environ.get("HF_HOME") or os.path.expanduser("~/.cache/huggingface")
    folder = os.path.join(os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub"), "models--" + model.replace("/", "--"))
    try:
        with open(os.path.join(folder, "refs", "main"), encoding="utf-8") as file:
            revision = glob.escape(file.read().strip())
    except OSError:
        revision = "*"
    found = sorted(glob.glob(os.path.join(glob.escape(folder), "snapshots", revision or "*", "config.json")))
    return found[0] if found else None


def _look(path: str, name: str) -> Optional[str]:
    """A file by the name that a text calls it: beside the text, in the folders above it, at last as it is written."""
    name = re.sub(r"^(\./)+", "", name)
    folder, places = os.path.dirname(path), [name]
    while folder and not os.path.isabs(name):
        places.insert(-1, os.path.join(folder, name))
        folder = os.path.dirname(folder) if os.path.dirname(folder) != folder else ""
    return next((place for place in places if os.path.isfile(place) and os.access(place, os.R_OK)), None)


def _turn(message: answers.Message) -> Optional[str]:
    """When the file that a message is about is read; None: it is about none."""
    if message.id == "file_first":
        return BEFORE
    if message.id == "file_not_opened":
        return BETWEEN if message.args.get("key") == "config_file" else BEHIND
    return SETTINGS if message.id == "settings_apart" else None


def _named(said: list[answers.Message], path: str) -> dict[str, tuple[str, str]]:
    """The files that are there, by what they are called: where they are, and their turn."""
    found = {}
    for message in said:
        turn, name = _turn(message), str(message.args.get("value", ""))
        place = _look(path, name) if turn and name else None
        if turn and place:
            found[name] = (place, turn)
    return found


def settings_of(run: Estimator, paths: list[str]) -> set[str]:
    """The files that a script among them takes values from, and which are therefore read before it."""
    names: set[str] = set()
    for path in paths:
        if path.endswith(".py") and os.path.isfile(path):
            with open(path, "rb") as file:
                said = type(run)().hear(file.read(), path, lib.VRAM_KIND_AUTO)
            names |= {os.path.basename(str(m.args.get("value", ""))) for m in said if m.id == "settings_apart"}
    return {path for path in paths if os.path.basename(path) in names}


def read(run: Estimator, path: str, kind: int, depth: int = 0) -> None:
    """Reads a file into a configuration with the files that it names, each in its turn. Raises VramError, OSError."""
    with open(path, "rb") as file:
        text = file.read()
    trial = type(run)
    files: dict[str, tuple[str, str]] = _named(trial().hear(text, path, kind), path) if depth < DEPTH_MAX else {}

    def each(turn: str) -> None:
        for place, its in files.values():
            if its == turn:
                read(run, place, lib.VRAM_KIND_AUTO, depth + 1)

    for place, its in _named(run.copy().hear(text, path, kind), path).values() if depth < DEPTH_MAX else ():
        if its == SETTINGS:  # what the script was not given
            read(run, place, lib.VRAM_KIND_SETTINGS, DEPTH_MAX)
    each(BEFORE)
    if any(turn == BEFORE for _, turn in files.values()):  # where settings are missing, nothing else is named
        files = _named(run.copy().hear(text, path, kind), path)
    said = run.copy().hear(text, path, kind)
    models = [hub_config(str(m.args.get("model", ""))) for m in said if m.id in ("model_unknown", "model_not_modelled")]
    if models and models[0]:
        read(run, models[0], lib.VRAM_KIND_AUTO, DEPTH_MAX)
    if any(turn == BETWEEN for _, turn in files.values()) and all(m.code == "ok" for m in run.hear(text, path, kind)):
        each(BETWEEN)
    run.answer_for([m for m in run.hear(text, path, kind) if not (_turn(m) and str(m.args.get("value", "")) in files)])
    each(BEHIND)
