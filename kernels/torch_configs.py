"""Which training runs are measured: those that the pages cite, and any list of configs in a JSON file."""

import hashlib
import json

DEFAULTS = {
    "batch_size": 12, "block_size": 1024, "n_layer": 12, "n_head": 12, "n_embd": 768, "vocab_size": 50304,
    "bias": False, "dropout": 0.0, "dtype": "bfloat16", "attention": "flash", "gradient_accumulation_steps": 2,
    "optimizer": "adamw_fused", "checkpointing": "none", "compile": "none", "loop": "train",
}
CHOICES = {
    "dtype": ("float32", "float16", "bfloat16"),
    "attention": ("flash", "mem_efficient", "math"),
    "optimizer": ("adamw_fused", "adamw_foreach"),
    "checkpointing": ("none", "block"),
    "compile": ("none", "inductor"),
    "loop": ("train", "reference"),
}

# The run on an RTX 4070 whose process takes 4464 MiB, and the 124M run that does not fit 12 GB.
SMALL = {"batch_size": 16, "block_size": 512, "n_layer": 6, "n_head": 6, "n_embd": 384, "dtype": "float16",
         "gradient_accumulation_steps": 4}
GPT2 = {"batch_size": 16, "block_size": 1024, "dtype": "float16", "gradient_accumulation_steps": 32}

CITED = [
    dict(SMALL), dict(SMALL, batch_size=8, gradient_accumulation_steps=8), dict(SMALL, block_size=256),
    dict(SMALL, batch_size=8, block_size=256), dict(SMALL, dtype="bfloat16"),
    dict(SMALL, dtype="float32", attention="mem_efficient"), dict(SMALL, checkpointing="block"),
    dict(SMALL, attention="math"), dict(SMALL, gradient_accumulation_steps=1),
    dict(GPT2), dict(GPT2, batch_size=8), dict(GPT2, batch_size=8, gradient_accumulation_steps=64),
    dict(GPT2, batch_size=4, gradient_accumulation_steps=128),
    dict(GPT2, batch_size=2, gradient_accumulation_steps=256), dict(GPT2, n_layer=9),
    dict(GPT2, n_embd=512, n_head=8), dict(GPT2, checkpointing="block"),
    dict(GPT2, batch_size=8, dtype="bfloat16", gradient_accumulation_steps=64),
]


def complete(given):
    """A whole config from the keys that differ from the defaults. Raises ValueError with the reason when it cannot be."""
    config = dict(DEFAULTS)
    for key, value in given.items():
        if key in DEFAULTS or key == "seq_len":
            config[key] = value
    config.setdefault("seq_len", config["block_size"])
    if config["checkpointing"] == "block":
        config["use_reentrant"] = bool(given.get("use_reentrant", False))
    for key, allowed in CHOICES.items():
        if config[key] not in allowed:
            raise ValueError("%s=%s: use one of %s" % (key, config[key], ", ".join(allowed)))
    for key in ("batch_size", "block_size", "seq_len", "n_layer", "n_head", "n_embd", "vocab_size",
                "gradient_accumulation_steps"):
        if type(config[key]) is not int or config[key] < 1:
            raise ValueError("%s=%s: a whole number above 0 is wanted" % (key, config[key]))
    if config["dtype"] == "float32" and config["attention"] == "flash":
        raise ValueError("attention=flash: float32 has no such kernel; use mem_efficient or math")
    if config["n_embd"] % config["n_head"]:
        raise ValueError("n_embd=%d cannot be divided among n_head=%d" % (config["n_embd"], config["n_head"]))
    if config["seq_len"] > config["block_size"]:
        raise ValueError("seq_len=%d is longer than block_size=%d" % (config["seq_len"], config["block_size"]))
    return config


def engine(config):
    return "torch-eager" if config["compile"] == "none" else "torch-compile"


def both_ways(config):
    """A checkpointed config by both implementations of torch.utils.checkpoint; the older one is not compiled."""
    yield config
    if config["checkpointing"] == "block" and config["compile"] == "none":
        yield dict(config, use_reentrant=True)


def cited():
    """Each cited run, eager and compiled."""
    wholes = [complete(dict(c, compile=mode)) for c in CITED for mode in ("none", "inductor")]
    return [config for whole in wholes for config in both_ways(whole)]


def accuracy(path):
    """The configs of a reference file (tests/calc/truth/nanogpt.json), in the loop that its values were made in."""
    with open(path) as f:
        rows = json.load(f)
    reference = [config for row in rows for config in both_ways(complete(dict(row, loop="reference")))]
    train = [dict(config, loop="train") for config in reference]
    return reference + train + [dict(c, compile="inductor") for c in train if not c.get("use_reentrant")]


def key(experiment, config):
    """A name for the result of one config, the same in every call: what makes a run resumable."""
    text = json.dumps([experiment, config], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]
