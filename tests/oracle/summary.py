"""Gathers what each case wrote beside its trace into one table, cases.tsv: summary.py FOLDER"""
import glob
import json
import os
import sys

COLUMNS = ("name", "family", "trainer", "options", "layers", "batch", "seq", "card", "torch", "transformers", "others",
           "peak_requested", "peak_id", "peak_allocated", "peak_reserved", "peak_active", "end_allocated", "retries",
           "events")


def main(folder):
    table = os.path.join(folder, "cases.tsv")
    rows = {}
    if os.path.exists(table):
        with open(table) as f:
            for line in f:
                if not line.startswith("#"):
                    words = line.rstrip("\n").split("\t")
                    if words[0] != "name":
                        rows[words[0]] = words
    for path in glob.glob(os.path.join(folder, "*.json")):
        with open(path) as f:
            case = json.load(f)
        versions = case.pop("versions")
        case["torch"], case["transformers"] = versions.pop("torch"), versions.pop("transformers", "-")
        case["others"] = " ".join(f"{k}={v}" for k, v in sorted(versions.items())) or "-"
        rows[case["name"]] = [str(case[c]) for c in COLUMNS]
        os.remove(path)
    with open(table, "w") as f:
        f.write("# Made by ./build.sh truth: one row a trace of this folder; figures in bytes, of two training steps unless"
                " the trainer says otherwise.\n")
        f.write("\t".join(COLUMNS) + "\n")
        for name in sorted(rows):
            f.write("\t".join(rows[name]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
