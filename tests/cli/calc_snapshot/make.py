"""Writes the snapshots of this folder: python3 make.py. What they hold was written by hand in the structure that
torch/csrc/cuda/Module.cpp (THCPModule_memorySnapshot) builds; no GPU was there. A step of a small model: weights, eight
activations, logits with their loss, a gradient out of the autograd thread (no frames), the optimizer's state, a tensor that
a list keeps alive, and an allocation that failed."""

import json
import pickle

MIB = 1 << 20
BASE = 0x7F0000000000
PACKAGES = "/usr/lib/python3/site-packages/"


def frames(*lines):
    return [{"filename": file, "line": line, "name": name} for file, line, name in lines]


MAIN = ("/home/u/train.py", 30, "main")
INIT = frames((PACKAGES + "torch/nn/modules/module.py", 1355, "convert"), ("/home/u/train.py", 12, "main"))
FORWARD = frames((PACKAGES + "torch/nn/functional.py", 2000, "linear"), ("/home/u/model.py", 41, "forward"), MAIN)
LOSS = frames((PACKAGES + "torch/nn/functional.py", 3000, "cross_entropy"), ("/home/u/train.py", 31, "main"))
STEP = frames((PACKAGES + "torch/optim/adamw.py", 140, "_init_group"), ("/home/u/train.py", 40, "main"))
KEEP = frames(("/home/u/train.py", 33, "keep"), MAIN)


class Device:
    """A bump allocator that notes what the caching allocator would."""

    def __init__(self):
        self.events, self.live, self.next = [], {}, BASE
        self.event("segment_alloc", addr=BASE, size=200 * MIB, frames=INIT)

    def event(self, action, **rest):
        self.events.append({"action": action, **rest, "stream": 0, "time_us": len(self.events)})

    def alloc(self, size, stack):
        at, self.next = self.next, self.next + (size + 511) // 512 * 512
        self.event("alloc", addr=at, size=size, frames=stack)
        self.live[at] = size, stack
        return at

    def free(self, at):
        size, _ = self.live.pop(at)
        self.event("free_requested", addr=at, size=size, frames=[])
        self.event("free_completed", addr=at, size=size, frames=[])

    def block(self, at, size, requested=0, state="inactive", stack=()):
        return {"address": at, "size": size, "requested_size": requested, "state": state, "frames": list(stack)}

    def segment(self):
        blocks, at = [], BASE
        for start in sorted(self.live):
            requested, stack = self.live[start]
            if start > at:
                blocks.append(self.block(at, start - at))
            size = (requested + 511) // 512 * 512
            blocks.append(self.block(start, size, requested, "active_allocated", stack))
            at = start + size
        blocks.append(self.block(at, BASE + 200 * MIB - at))
        return {"device": 0, "address": BASE, "total_size": 200 * MIB, "allocated_size": 0, "active_size": 0,
                "requested_size": 0, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
                "is_expandable": False, "frames": INIT, "blocks": blocks}


def snapshot():
    d = Device()
    d.alloc(20 * MIB, INIT)
    d.alloc(3000, INIT)
    kept = [d.alloc(5 * MIB, FORWARD) for _ in range(8)]
    logits = d.alloc(32 * MIB + 4, LOSS)
    d.alloc(20 * MIB, [])
    d.free(d.alloc(5 * MIB, []))
    d.free(logits)
    for at in kept:
        d.free(at)
    d.alloc(20 * MIB, STEP)
    d.alloc(20 * MIB, STEP)
    d.alloc(7 * MIB, KEEP)
    d.event("oom", device_free=3 * MIB, size=99 * MIB, frames=FORWARD)
    return {"segments": [d.segment()], "device_traces": [d.events], "external_annotations": [],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:512", "max_split_size": 2 ** 64 - 1,
                                   "garbage_collection_threshold": 0.0, "expandable_segments": False}}


class Hostile:
    def __reduce__(self):
        return print, ("this was run",)


def main():
    whole = snapshot()
    for protocol in (2, 4, 5):
        with open(f"step{protocol}.pickle", "wb") as out:
            pickle.dump(whole, out, protocol)
    with open("step.json", "w", encoding="utf-8") as out:
        json.dump(whole, out)
    with open("segments.pickle", "wb") as out:
        pickle.dump(whole["segments"], out, 4)
    with open("hostile.pickle", "wb") as out:
        pickle.dump({"segments": [Hostile()]}, out, 4)
    with open("cut.pickle", "wb") as out:
        out.write(pickle.dumps(whole, 4)[:500])
    with open("other.pickle", "wb") as out:
        pickle.dump({"weights": [1, 2, 3]}, out, 4)
    with open("archive.pt", "wb") as out:
        out.write(b"PK\x03\x04 and so on")


if __name__ == "__main__":
    main()
