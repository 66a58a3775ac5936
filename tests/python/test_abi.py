"""ABI mode checks nothing by itself: what cffi believes of the structs is compared with what the C compiler says."""

import dataclasses
import re
import subprocess

import pytest
from conftest import BUILD, ROOT

from vram import answers
from vram._library import AbiError, ffi, load

STRUCTS = sorted(set(re.findall(r"^struct (vram_\w+) {", (BUILD / "python/vram/vram.cdef").read_text(), re.M)))


def members(struct):
    return [name for name, _ in ffi.typeof(f"struct {struct}").fields]


@pytest.fixture(scope="module")
def by_compiler(tmp_path_factory):
    """{(struct, member or None): number}: sizes and offsets as the compiler has them."""
    folder = tmp_path_factory.mktemp("layout")
    lines = []
    for struct in STRUCTS:
        lines.append(f'printf("{struct} - %zu\\n", sizeof(struct {struct}));')
        lines += [f'printf("{struct} {m} %zu\\n", offsetof(struct {struct}, {m}));' for m in members(struct)]
    (folder / "layout.c").write_text('#include <stdio.h>\n#include "calc/vram.h"\nint main(void)\n{\n' + "\n".join(lines) + "\n}\n")
    subprocess.run(["gcc", f"-I{ROOT}", folder / "layout.c", "-o", folder / "layout"], check=True)
    rows = subprocess.run([folder / "layout"], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    return {(a, None if b == "-" else b): int(n) for a, b, n in (row.split() for row in rows if row)}


@pytest.mark.parametrize("struct", STRUCTS)
def test_layout(struct, by_compiler):
    kind = f"struct {struct}"
    assert ffi.sizeof(kind) == by_compiler[struct, None]
    for name in members(struct):
        assert ffi.offsetof(kind, name) == by_compiler[struct, name], name


def test_the_header_has_structs():
    assert len(STRUCTS) > 20


# What a caller passes, and what rows hold while they are read.
NO_ANSWERS = {"vram_arg", "vram_pair", "vram_sweep", "vram_sweep_row", "vram_visitor"}


@pytest.mark.parametrize("struct", [name for name in STRUCTS if name not in NO_ANSWERS])
def test_each_struct_has_its_dataclass(struct):
    kind = answers.STRUCTS[struct]
    fields = dataclasses.fields(kind)
    counts = {field.metadata.get("count") for field in fields} - {None}
    assert {field.name for field in fields} == set(members(struct)) - counts
    assert kind.__doc__


def test_another_abi_is_refused(tmp_path):
    (tmp_path / "other.c").write_text("unsigned vram_abi_version(void) { return 4711; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "other.c", "-o", tmp_path / "other.so"], check=True)
    with pytest.raises(AbiError, match="ABI 4711"):
        load(str(tmp_path / "other.so"))


def test_no_library():
    with pytest.raises(OSError):
        load("/nowhere/libvram.so")
