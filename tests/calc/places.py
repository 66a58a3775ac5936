"""Answers of the Python package as JSON: lines as places.lua reads them; of an answer the members that the paths of PLACES name."""

import dataclasses
import json
import sys

import vram


def plain(value):
    """Dataclasses as mappings, with their members' own names."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def ask(verb, argument, config):
    if verb == "solve":
        return vram.solve(argument, **config)
    if verb == "explain-oom":
        return vram.explain_oom(argument, None, **config)
    if verb == "segments":
        return vram.segments(None, int(argument) if argument.isdigit() else argument, **config)
    return getattr(vram, verb)(**config)


for line in sys.stdin:
    verb, argument, *words = line.rstrip("\n").split("\t")
    try:
        print(json.dumps(plain(ask(verb, argument, dict(word.split("=", 1) for word in words)))))
    except vram.VramError as e:
        print(json.dumps({"refused": str(e), "id": e.message.id}))
