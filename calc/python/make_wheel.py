#!/usr/bin/env python3
"""Writes the wheel: make_wheel.py FOLDER VERSION OUT. FOLDER holds the package `vram` with its library and declarations.

A wheel is a zip with three files of its own (PEP 427): nothing is compiled on the reader's machine, and nothing but
Python's own library is needed to write one. The same input gives the same bytes.
"""

import base64
import hashlib
import os
import sys
import zipfile

TAG = "py3-none-linux_x86_64"
REQUIRES_PYTHON, REQUIRES = ">=3.9", "cffi>=1.15"


def metadata(version, readme):
    return (f"Metadata-Version: 2.1\nName: vram\nVersion: {version}\n"
            "Summary: The GPU memory of a transformer run, tensor by tensor, before it is launched\n"
            f"License: MIT\nRequires-Python: {REQUIRES_PYTHON}\nRequires-Dist: {REQUIRES}\n"
            f"Description-Content-Type: text/markdown\n\n{readme}")


def wheel(version):
    return f"Wheel-Version: 1.0\nGenerator: make_wheel.py ({version})\nRoot-Is-Purelib: false\nTag: {TAG}\n"


def files(folder):
    """(name in the wheel, bytes) of the package, in order of name."""
    for base, folders, names in os.walk(os.path.join(folder, "vram")):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = os.path.join(base, name)
            with open(path, "rb") as file:
                yield os.path.relpath(path, folder), file.read()


def main():
    folder, version, out = sys.argv[1:]
    info = f"vram-{version}.dist-info"
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "README.md"), encoding="utf-8") as file:
        readme = file.read()
    entries = list(files(folder))
    entries += [(f"{info}/METADATA", metadata(version, readme).encode()), (f"{info}/WHEEL", wheel(version).encode())]
    rows = []
    for name, data in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}\n")
    entries.append((f"{info}/RECORD", ("".join(rows) + f"{info}/RECORD,,\n").encode()))
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, f"vram-{version}-{TAG}.whl")
    with zipfile.ZipFile(path + ".tmp", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    os.replace(path + ".tmp", path)
    print(path)


if __name__ == "__main__":
    main()
