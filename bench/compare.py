#!/usr/bin/env python3
"""Prints one table of lines of JSON that serried-bench-core and its peers wrote: Serried beside the best peer.

A share of a copy is of the fastest copy in the files, whoever made it. "peer / serried" above 1: Serried is faster.
Targets are one GPU's (bench/targets.json) and judged only for lines of a GPU. Exit status 1: a target was missed.
"""

import argparse
import json
import pathlib
import sys

TARGETS = pathlib.Path(__file__).parent / "targets.json"


def key_of(line):
    return line["name"], tuple(line["shape"]), line["dtype"]


def read(paths):
    """{key: {library: line}}, keys in the order of the files."""
    found = {}
    for path in paths:
        for text in pathlib.Path(path).read_text().splitlines():
            if text.startswith("{"):
                line = json.loads(text)
                found.setdefault(key_of(line), {})[line["library"]] = line
    return found


def fastest_copy(found):
    """GB/s."""
    copies = [line["gb_per_s"] for key, lines in found.items() if key[0] == "copy" for line in lines.values()]
    return max(copies, default=None)


def share_of_copy(line, copy):
    return line["gb_per_s"] / copy if copy and "gb_per_s" in line else None


def judge(target, line, peers, copy):
    """The target in words, and whether it is met (None: cannot be said)."""
    if "share_of_copy" in target:
        share = share_of_copy(line, copy)
        return f">= {target['share_of_copy']:.1%} of copy", None if share is None else share >= target["share_of_copy"]
    if "times" in target:
        ((peer, most),) = target["times"].items()
        return f"<= {most} x {peer}", line["ms"] <= most * peers[peer]["ms"] if peer in peers else None
    if "host_us" in target:
        return f"<= {target['host_us']} us", line["host_us"] <= target["host_us"]
    return f"<= {target['ms']} ms", line["ms"] <= target["ms"]


def row_of(key, lines, target, copy):
    """The cells of a table's row, and whether the target is missed."""
    name, shape, dtype = key
    line = lines["serried"]
    peers = {library: peer for library, peer in lines.items() if library != "serried"}
    share = share_of_copy(line, copy)
    best = min(peers.values(), key=lambda peer: peer["ms"], default=None)
    goal, met = "", None
    if target and line["device"] == "cuda":
        goal, met = judge(target, line, peers, copy)
    verdict = "" if not goal else "no peer" if met is None else "met" if met else "MISSED"
    cells = [
        name,
        "x".join(map(str, shape)),
        dtype,
        f"{line['ms']:.4g}",
        f"{line['gb_per_s']:.0f}" if "gb_per_s" in line else "",
        "" if share is None else f"{share:.1%}",
        f"{line['host_us']:.1f}",
        best["library"] if best else "",
        f"{best['ms']:.4g}" if best else "",
        f"{best['ms'] / line['ms']:.2f}" if best else "",
        goal,
        verdict,
    ]
    return cells, met is False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", help="of serried-bench-core, bench/peers/peers.py, bench/peers/cub_sum.cu")
    parser.add_argument("--targets", default=TARGETS)
    arguments = parser.parse_args()
    targets = {key_of(target): target for target in json.loads(pathlib.Path(arguments.targets).read_text())}
    found = read(arguments.files)
    copy = fastest_copy(found)
    head = ["name", "shape", "dtype", "ms", "GB/s", "of copy", "host us", "best peer", "its ms", "peer / serried"]
    rows = [head + ["target", ""]]
    missed = False
    for key, lines in found.items():
        if "serried" in lines:
            cells, failed = row_of(key, lines, targets.get(key), copy)
            rows.append(cells)
            missed |= failed
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    if copy:
        print(f"\nfastest copy: {copy:.0f} GB/s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
