"""Says in symbols what a trace shows: what a layer saves, what is alive at the peak. saved.py FOLDER NAME..."""
import collections
import csv
import gzip
import os
import re
import sys

from models import WIDTHS


def widths(family):
    w = WIDTHS[family]
    c = w.get("hidden_size", w.get("n_embd"))
    h = w.get("num_attention_heads", w.get("n_head"))
    one = w.get("multi_query")
    k = 1 if one else w.get("num_key_value_heads", h)
    d = w.get("head_dim", c // h)
    f = w.get("intermediate_size", w.get("n_inner", 4 * c))
    return dict(C=c, H=h, K=k, D=d, F=f, V=w["vocab_size"], moe=w.get("moe_intermediate_size"),
                R=w.get("q_lora_rank"), KR=w.get("kv_lora_rank"), E=w.get("num_local_experts", w.get("n_routed_experts")),
                topk=w.get("num_experts_per_tok"))


def symbols(family, batch, seq):
    """size -> what it may be called; the caller takes the name that suits the place."""
    w = widths(family)
    c, h, k, d, f, v = (w[x] for x in "CHKDFV")
    n = batch * seq
    names = {"": 1, "C": c, "HD": h * d, "KD": k * d, "F": f, "2F": 2 * f, "V": v, "(H+2K)D": (h + 2 * k) * d, "D": d,
             "D/2": d // 2, "H": h, "K": k, "HT": h * seq, "T": seq}
    found = collections.defaultdict(list)
    for name, width in names.items():
        for size in (4, 8, 2, 1):
            found[size * width * n].append(f"{size}N{name}")
            found[size * width * (n - batch)].append(f"{size}(N-B){name}")
            found[size * width * seq].append(f"{size}T{name}")
    for size in (2, 4):
        for x, y in (("C", "F"), ("HD", "C"), ("KD", "C"), ("V", "C"), ("(H+2K)D", "C"), ("C", "2F")):
            found[size * names[x] * names[y]].append(f"{size}*{x}*{y}")
    return found


def call(size, module, op, found):
    choices = found.get(size)
    if not choices:
        return str(size)
    if any(o in op for o in ("rsqrt", "mean")) or "logsumexp" in op:
        first = [c for c in choices if c in ("4N", "4NH", "4NK")]
    elif "lm_head" in module or "cross_entropy" in op:
        first = [c for c in choices if "V" in c]
    elif "attention_forward" in op:
        first = [c for c in choices if c.endswith("HD") or c == "4NH"]
    elif "rotary" in module:
        first = [c for c in choices if c.endswith("D")]
    elif "attn" in module and any(p in module for p in ("q_", "c_attn", "qkv", "query")):
        first = [c for c in choices if "HD" in c or "H+2K" in c]
    elif "attn" in module and any(p in module for p in ("k_", "v_")):
        first = [c for c in choices if "KD" in c]
    elif "attn" in module and "lora" not in module:
        first = [c for c in choices if c.endswith("KD") or c.endswith("HD")]
    else:
        first = [c for c in choices if c[-1] in "CFV" or "*" in c]
    if not first and "mlp" in module or "mlp" in module and "c_proj" not in module:
        first = [c for c in first or choices if c.endswith("F")] or first
    return min(first or choices, key=lambda c: (c[1] != "N", "T" in c, choices.index(c)))


def read(path):
    with gzip.open(path, "rt") as lines:
        return [line.split() for line in lines]


def walk(events):
    """(alive when the second backward begins, alive at the peak, the event of the peak, peak)"""
    start = next((i for i, w in enumerate(events) if w[0] == "a" and w[4].startswith("bwd:it1")), None)
    live, now, most, at, alive, before = {}, 0, 0, None, {}, {}
    for i, w in enumerate(events):
        if i == start:
            before = dict(live)
        if w[0] == "a":
            live[w[1]] = w
            now += int(w[2])
            if now > most:
                most, at, alive = now, w, None
        else:
            if alive is None:
                alive = dict(live)
            now -= int(live.pop(w[1])[2])
    return before, alive or live, at, most


def layer_of(word):
    found = re.search(r"(?:layers|h|layer)\.(\d+)\.?(.*)", word[6])
    return (int(found.group(1)), found.group(2)) if found else (None, word[6])


def say(word, names):
    return call(int(word[2]), word[6], word[3], names)


def report(folder, row):
    name = row["name"]
    events = read(os.path.join(folder, name + ".txt.gz"))
    names = symbols(row["family"], int(row["batch"]), int(row["seq"]))
    before, alive, at, most = walk(events)
    print(f"### {name}: {row['trainer']} {row['options']} (B={row['batch']} T={row['seq']} L={row['layers']})")
    sums = collections.Counter()
    for w in alive.values():
        sums[w[5]] += int(w[2])
    print(f"peak {most} B at {at[3]} in {at[4]}, module {at[6]}: " + ", ".join(f"{k} {v}" for k, v in sums.most_common()))
    layers = [layer_of(w)[0] for w in before.values() if w[4].startswith("fwd:it1")]
    last = max((x for x in layers if x is not None), default=None)
    for which in (last, None):
        chosen = [w for w in before.values() if w[4].startswith("fwd:it1") and layer_of(w)[0] == which]
        if not chosen:
            continue
        print(f"saved by {'the last layer' if which is not None else 'the rest'}: {sum(int(w[2]) for w in chosen)} B")
        for w in chosen:
            if int(w[2]) >= 64:
                print(f"  - {say(w, names)}  `{w[3]}` {layer_of(w)[1] or '(the layer itself)'} [{w[5]}]")
    print()


def main():
    folder, wanted = sys.argv[1], sys.argv[2:]
    with open(os.path.join(folder, "cases.tsv"), newline="") as f:
        for row in csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t"):
            if not wanted or any(row["name"].startswith(w) for w in wanted):
                report(folder, row)


if __name__ == "__main__":
    main()
