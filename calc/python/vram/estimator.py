"""Owns a configuration and its answers: one libvram handle, and functions that make one for a single question."""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

from . import answers, beside
from ._library import answer, ffi, lib, text_of

Value = Union[str, int, float, bool, Sequence[Union[str, int]], None]


class VramWarning(UserWarning):
    """What libvram says of a text that it has read: what it leaves out, or takes for granted."""


class VramError(ValueError):
    """What libvram refused: `message` says what and where, `code` of it which class, `all` are the errors of one text."""

    def __init__(self, message: answers.Message, all: tuple[answers.Message, ...] = ()):
        super().__init__("\n".join(str(m) for m in all) if all else str(message))
        self.message = message
        self.all = all or (message,)


def _outside() -> int:
    """How many frames above the caller the first one is that is not of this package: where a warning is about."""
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    return level


@ffi.callback("void(void *, const struct vram_message *)")
def _collect(handle, message):
    ffi.from_handle(handle).append(answer(answers.Message, message))


def _written(value: Value) -> bytes:
    """A value as vram_set reads it: the items of a list, or of a set, with + between them."""
    if isinstance(value, (list, tuple)):
        return b"+".join(_written(item) for item in value)
    return (str(value).lower() if isinstance(value, bool) else str(value)).encode()


def _pairs(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, bytes]]:
    """The scalars of a nested mapping with their names joined by points; lists and None hold nothing that is read."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _pairs(value, f"{prefix}{key}.")
        elif isinstance(value, (str, int, float, bool)):
            yield f"{prefix}{key}", _written(value)


Source = Union[str, "os.PathLike[str]", Mapping[str, Any], Sequence[Any], None]
Dump = Union[str, "os.PathLike[str]", Mapping[str, Any]]
FILES = (".json", ".yaml", ".yml", ".toml", ".py", ".sh", ".txt", ".log", ".conf", ".pickle")
# What presets and files look at, and what is therefore set before them, as on the command line.
EARLY = ("mode", "preset", "framework_version", "n_gpu")


class Estimator:
    """A configuration, and what libvram says of it.

    >>> e = Estimator("gpt2", batch_size=8, gpu="RTX 4070")
    >>> e.estimate().verdict
    'fits'

    `source` is the name of a preset, the path of a file that `read` takes, a mapping (a Hugging Face config), a list of
    these, each over what came before, or None. A file that a script names, and a model in the Hub's cache, are read, too.
    `fields` are those of `vram.fields()`, and gpu; they win. Raises VramError, and OSError for a file; what is left out of a
    file is a VramWarning.
    """

    def __init__(self, source: Source = None, **fields: Value):
        self._handle = lib.vram_new_malloc()
        if self._handle == ffi.NULL:
            raise MemoryError
        self._handle = ffi.gc(self._handle, lib.vram_free)
        self.set(**{key: fields[key] for key in EARLY if key in fields})
        sources = list(source) if isinstance(source, (list, tuple)) else [source]
        names = [os.fspath(one) for one in sources if one is not None and not isinstance(one, Mapping)]
        settings = beside.settings_of(self, names) if len(names) > 1 else set()
        for name in names:
            if name in settings:
                self.read(name, "settings")
        for one in sources:
            if isinstance(one, Mapping):
                self.read_config(one)
            elif one is not None and os.fspath(one) not in settings:
                self._take(os.fspath(one))
        self.set(**fields)

    def _take(self, source: str) -> None:
        config = None if os.path.exists(source) else beside.hub_config(source)
        if config or source.endswith(FILES) or os.path.exists(source):
            self.read(config or source)
        else:
            self.set(preset=source)

    # ---- errors

    def error(self) -> answers.Message:
        """The last error of the library."""
        return answer(answers.Message, lib.vram_error(self._handle))

    def _check(self, code: int) -> None:
        if code == lib.VRAM_ENOMEM:
            raise MemoryError(self.error().text)
        if code != lib.VRAM_OK:
            raise VramError(self.error())

    # ---- configuration

    def set(self, **fields: Value) -> Estimator:
        """Sets fields; mode and the preset, wherever they are named, are set first, since a preset brings values of its own. None
        leaves a field as it is."""
        fields = {key: value for key, value in fields.items() if value is not None}
        for key in sorted(fields, key=lambda name: EARLY.index(name) if name in EARLY else len(EARLY)):
            self._check(lib.vram_set(self._handle, key.encode(), _written(fields[key])))
        return self

    def get(self, key: str) -> str:
        """A field's value as text that `set` reads back."""
        out = ffi.new("char[]", 256)
        length = lib.vram_get(self._handle, key.encode(), out, 256)
        if length < 0:
            self._check(length)
        return ffi.string(out).decode()

    def copy(self) -> Estimator:
        """Another configuration with the same values."""
        other = Estimator()
        lib.vram_copy(other._handle, self._handle)
        return other

    def read(self, path: str | os.PathLike[str], kind: str | None = None) -> Estimator:
        """Reads a file over what is there, several one after the other: a config.json, a framework's YAML, JSON or TOML,
        nanoGPT's config/*.py, a launch script, a training log, or key = value lines. kind is a name of `vramcalc --kind`; without it the
        file's own keys say what it is. What a script or a trainer's file names and what lies beside it is read, too."""
        number = getattr(lib, f"VRAM_KIND_{(kind or 'auto').upper()}", None)
        if number is None:
            raise ValueError(f"there is no kind {kind!r} of file")
        beside.read(self, os.fspath(path), number)
        return self

    def hear(self, text: bytes, path: str, kind: int) -> list[answers.Message]:
        """What the library says of a text that it reads into this configuration, errors and warnings; raises nothing."""
        said: list[answers.Message] = []
        lib.vram_parse(self._handle, kind, text, len(text), path.encode(), _collect, ffi.new_handle(said))
        return said

    def answer_for(self, said: Sequence[answers.Message]) -> None:
        """Raises what was an error of `said`; the rest are warnings."""
        errors = tuple(m for m in said if m.code != "ok")
        for message in said:
            if not errors:
                warnings.warn(str(message), VramWarning, stacklevel=_outside())
        if errors:
            raise MemoryError(errors[0].text) if errors[0].code == "no-memory" else VramError(errors[0], errors)

    def read_config(self, tree: Mapping[str, Any], name: str = "config.json") -> Estimator:
        """Reads a Hugging Face config as a mapping: json.load of a config.json, or `model.config.to_dict()`."""
        kept = [(ffi.new("char[]", key.encode()), ffi.new("char[]", value)) for key, value in _pairs(tree)]
        pairs = ffi.new("struct vram_pair[]", [{"key": key, "value": value} for key, value in kept])
        said: list[answers.Message] = []
        lib.vram_parse_pairs(self._handle, lib.VRAM_KIND_HF, pairs, len(kept), name.encode(), _collect, ffi.new_handle(said))
        self.answer_for(said)
        return self

    # ---- answers

    def _answer(self, function: str, kind: Any, *arguments: Any) -> Any:
        out = ffi.new(f"const struct {next(k for k, v in answers.STRUCTS.items() if v is kind)} **")
        self._check(getattr(lib, function)(self._handle, *arguments, out))
        return answer(kind, out[0])

    def estimate(self) -> answers.Result:
        """The memory of the run."""
        self._check(lib.vram_run(self._handle))
        return answer(answers.Result, lib.vram_result(self._handle))

    def fit(self) -> answers.Fit:
        """Whether it fits the card of field gpu."""
        return self._answer("vram_fit", answers.Fit)

    def max_batch(self) -> answers.MaxBatch:
        """The largest batch_size that fits."""
        return self._answer("vram_max_batch", answers.MaxBatch)

    def solve(self, field: str) -> answers.Solution:
        """The largest or smallest value of a count that fits: solve("seq_len")."""
        return self._answer("vram_solve", answers.Solution, field.encode())

    def cards(self) -> answers.Cards:
        """Every card, and up to eight of each, that fits."""
        return self._answer("vram_cards", answers.Cards)

    def serve(self) -> answers.Serving:
        """How long a context, and how many sequences, a server has room for."""
        return self._answer("vram_serve", answers.Serving)

    def segments(self, moment: str | int = "growth") -> answers.Segments:
        """The allocator's segments: at "peak", "growth" or "end", or after the event of a number."""
        names = {"peak": lib.VRAM_MOMENT_PEAK, "growth": lib.VRAM_MOMENT_GROWTH, "end": lib.VRAM_MOMENT_END}
        if moment not in names and (isinstance(moment, str) or moment < 0):
            raise ValueError(f"{moment!r} is no moment: {', '.join(names)}, or the number of an event")
        event = 0 if isinstance(moment, str) else moment
        return self._answer("vram_segments", answers.Segments, names.get(moment, lib.VRAM_MOMENT_EVENT), event)

    def advise(self) -> answers.Advice:
        """What to change."""
        return self._answer("vram_advise", answers.Advice)

    def take(self, change: int | None = None) -> Estimator:
        """The configuration with a change of the last advice, or with all of its plan (None)."""
        other = Estimator()
        number = ffi.cast("size_t", -1) if change is None else change
        self._check(lib.vram_take_advice(self._handle, int(number), other._handle))
        return other

    def compare(self) -> answers.Comparison:
        """The peak beside the formulas of others."""
        return self._answer("vram_compare", answers.Comparison)

    def explain_oom(self, message: str | BaseException, with_config: bool = True) -> answers.Oom:
        """What PyTorch's out-of-memory message says, or the exception itself, and which tensor of this configuration it is about."""
        data = str(message).encode()
        return self._answer("vram_explain_oom", answers.Oom, data, len(data), with_config)

    def snapshot(self, of: Dump, with_config: bool = True) -> answers.Snapshot:
        """What torch.cuda.memory._dump_snapshot wrote to a file, or _snapshot() returned, beside this configuration. Nothing in
        a file is run."""
        if isinstance(of, Mapping):
            data, name = pickle.dumps(of, 4), "snapshot"
        else:
            with open(of, "rb") as file:
                data, name = file.read(), os.fspath(of)
        return self._answer("vram_read_snapshot", answers.Snapshot, data, len(data), name.encode(), with_config)

    def step_seconds(self) -> float:
        """Seconds of an optimizer step by a roofline: for ratios, not for a clock."""
        out = ffi.new("double *")
        self._check(lib.vram_step_seconds(self._handle, out))
        return out[0]

    def trace(self) -> list[answers.Event]:
        """Every allocation and free of the step, in order."""
        events: list[answers.Event] = []

        @ffi.callback("int(void *, const struct vram_event *)")
        def each(_, event):
            events.append(answer(answers.Event, event[0]))
            return 0

        self._check(lib.vram_trace(self._handle, each, ffi.NULL))
        return events

    def parameters(self) -> list[answers.Param]:
        """Every parameter tensor, in the order in which the model registers it."""
        out, found = ffi.new("struct vram_param *"), []
        while lib.vram_param_at(self._handle, len(found), out) == lib.VRAM_OK:
            found.append(answer(answers.Param, out[0]))
        return found

    def sweep(self, ranges: str) -> list[tuple[dict[str, str], answers.Result | answers.Message]]:
        """Every combination of "batch_size=1:64 block_size=256,512": its values, and its result or its error."""
        rows = []

        @ffi.callback("int(void *, const struct vram_sweep *, const struct vram_sweep_row *)")
        def each(_, sweep, row):
            values = {text_of(sweep.keys[i]): text_of(row.values[i]) for i in range(sweep.key_count)}
            wrong = row.error != ffi.NULL
            rows.append((values, answer(answers.Message, row.error) if wrong else answer(answers.Result, row.result)))
            return 0

        self._check(lib.vram_sweep(self._handle, ranges.encode(), each, ffi.NULL))
        return rows


def _table(function: str, kind: Any) -> list[Any]:
    found: list[Any] = []
    while (row := getattr(lib, function)(len(found))) != ffi.NULL:
        found.append(answer(kind, row[0]))
    return found


def fields() -> list[answers.Field]:
    """The fields of a configuration."""
    return _table("vram_field_at", answers.Field)


def gpus() -> list[answers.Gpu]:
    """The cards that the library knows."""
    return _table("vram_gpu_at", answers.Gpu)


def presets() -> list[answers.Preset]:
    """The models that the library knows."""
    return _table("vram_preset_at", answers.Preset)


def estimate(source: Any = None, **fields: Value) -> answers.Result:
    """The memory of a run: estimate("llama-3.1-8b", batch_size=4, lora_rank=16). See Estimator for `source`."""
    return Estimator(source, **fields).estimate()


def fit(source: Any = None, **fields: Value) -> answers.Fit:
    """Whether a run fits its card: fit("gpt2", batch_size=8, gpu="RTX 4070")."""
    return Estimator(source, **fields).fit()


def max_batch(source: Any = None, **fields: Value) -> answers.MaxBatch:
    """The largest batch_size with which a run fits its card."""
    return Estimator(source, **fields).max_batch()


def solve(field: str, source: Any = None, **fields: Value) -> answers.Solution:
    """The largest or smallest value of a count with which a run fits: solve("seq_len", "gpt2", gpu="T4")."""
    return Estimator(source, **fields).solve(field)


def cards(source: Any = None, **fields: Value) -> answers.Cards:
    """Every card, and up to eight of each, that a run fits."""
    return Estimator(source, **fields).cards()


def serve(source: Any = None, **fields: Value) -> answers.Serving:
    """What a server has room for: serve("llama-3.1-8b", quantization="q4_k_m", seq_len=8192, gpu="RTX 3060")."""
    return Estimator(source, **fields).serve()


def segments(source: Any = None, moment: str | int = "growth", **fields: Value) -> answers.Segments:
    """The allocator's segments and blocks at a moment of a run: segments("gpt2", "peak", batch_size=8)."""
    return Estimator(source, **fields).segments(moment)


def advise(source: Any = None, **fields: Value) -> answers.Advice:
    """What to change in a run that does not fit."""
    return Estimator(source, **fields).advise()


def compare(source: Any = None, **fields: Value) -> answers.Comparison:
    """The peak of a run beside the formulas of others."""
    return Estimator(source, **fields).compare()


def explain_oom(message: str | BaseException, source: Any = None, **fields: Value) -> answers.Oom:
    """What an out-of-memory message, or the exception with it, is about; of a run, if one is given."""
    return Estimator(source, **fields).explain_oom(message, with_config=source is not None or bool(fields))


def snapshot(of: Dump, source: Any = None, **fields: Value) -> answers.Snapshot:
    """What a memory snapshot of PyTorch holds: snapshot("snapshot.pickle", "gpt2", batch_size=8), or of
    torch.cuda.memory._snapshot() itself."""
    return Estimator(source, **fields).snapshot(of, with_config=source is not None or bool(fields))


def version() -> str:
    """The version of the library."""
    return text_of(lib.vram_version())
