"""Owns the loaded library: cffi's declarations, the check of its ABI, and the way from C structs to dataclasses.

ABI mode compiles nothing on the reader's machine and checks nothing either: the declarations are vram.h itself, passed
through the preprocessor when the wheel is built (vram.cdef), and a library of another ABI is refused.
"""

from __future__ import annotations

import dataclasses
import os
import re
from typing import Any

import cffi

from . import answers

HERE = os.path.dirname(os.path.abspath(__file__))


def _declarations() -> tuple[str, int]:
    """The declarations and the ABI number that they belong to."""
    with open(os.path.join(HERE, "vram.cdef"), encoding="utf-8") as file:
        text = file.read()
    return text, int(re.search(r"#define VRAM_ABI (\d+)", text).group(1))


class AbiError(ImportError):
    """The library that was found has another ABI than these declarations."""


def load(path: str | None = None) -> tuple[cffi.FFI, Any]:
    """cffi's FFI and the library at path, that of VRAM_LIBRARY, or the one beside this file.

    Raises AbiError if the library's ABI is another one, OSError if there is no library.
    """
    text, abi = _declarations()
    ffi = cffi.FFI()
    ffi.cdef(text)
    path = path or os.environ.get("VRAM_LIBRARY") or os.path.join(HERE, "libvram.so")
    library = ffi.dlopen(path)
    found = library.vram_abi_version()
    if found != abi:
        raise AbiError(f"{path} has ABI {found} and these declarations have {abi}: install the library and the package "
                       "of one version")
    return ffi, library


ffi, lib = load()


def text_of(pointer: Any) -> str | None:
    """A C string as str; None for NULL."""
    return None if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8")


def _name(enumeration: str, number: int) -> str:
    return text_of(getattr(lib, f"vram_{enumeration}_name")(number))


def _args(pointer: Any, count: int) -> dict[str, int | str]:
    """The values of a sentence's placeholders by their names."""
    return {text_of(pointer[i].name): pointer[i].number if pointer[i].text == ffi.NULL else text_of(pointer[i].text)
            for i in range(count)}


def _elements(pointer: Any, count: int | None) -> list[Any]:
    """The elements of an array with a count, or of one that ends with NULL."""
    if pointer == ffi.NULL:
        return []
    if count is not None:
        return [plain(pointer[i]) for i in range(count)]
    out = []
    while pointer[len(out)] != ffi.NULL:
        out.append(plain(pointer[len(out)]))
    return out


def _array(kind: Any, name: str, pointer: Any, count: int | None) -> Any:
    if kind is answers.Message and name == "args":
        return _args(pointer, count)
    if name == "by_category":
        return {_name("category", i): pointer[i] for i in range(count)}
    return tuple(_elements(pointer, count))


def plain(value: Any) -> Any:
    """A C value as Python's: numbers as they are, strings decoded, structs as their dataclass."""
    if isinstance(value, (int, float, bool)) or not isinstance(value, ffi.CData):
        return value
    kind = ffi.typeof(value)
    if kind.kind == "pointer":
        if value == ffi.NULL:
            return None
        return text_of(value) if kind.item.kind == "primitive" else plain(value[0])
    return answer(answers.STRUCTS[kind.cname.removeprefix("struct ")], value)


def _sentence(message: Any) -> str:
    """A message's text as Python asks: gpu="NAME" and not --gpu NAME."""
    text = ffi.new(f"char[{lib.VRAM_SENTENCE}]")
    lib.vram_say(message if ffi.typeof(message).kind == "pointer" else ffi.addressof(message), lib.VRAM_DOOR_PYTHON, text)
    return ffi.string(text).decode("utf-8", "replace")


def answer(kind: Any, struct: Any) -> Any:
    """A struct as an instance of the dataclass `kind`."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        member = getattr(struct, field.name)
        if kind is answers.Message and field.name == "text":
            values[field.name] = _sentence(struct)
        elif "count" in field.metadata:
            counted = field.metadata["count"]
            values[field.name] = _array(kind, field.name, member, getattr(struct, counted) if counted else None)
        elif "enum" in field.metadata:
            values[field.name] = _name(field.metadata["enum"], int(member))
        else:
            values[field.name] = plain(member)
    return kind(**values)
