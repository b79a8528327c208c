#!/usr/bin/env python3
"""How much of the exchanges lay under computing, from the files that SERRIED_TRACE=PREFIX left.

usage: bench/timeline.py PREFIX [--skip STEPS]
Prints one line of JSON per rank, and one over all: seconds of exchange, of it under the interior, and the share. The
first STEPS (default 5) exchanges are left out: they compile kernels and open connections.
"""
import argparse
import glob
import json


def spans(events, name):
    return sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["ph"] == "X" and e["name"] == name)


def overlap(exchanges, computing):
    """Length of `exchanges` that lies in `computing`; both sorted, neither overlapping itself."""
    total, first = 0.0, 0
    for begin, end in exchanges:
        while first < len(computing) and computing[first][1] <= begin:
            first += 1
        for low, high in computing[first:]:
            if low >= end:
                break
            total += max(0.0, min(end, high) - max(begin, low))
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--skip", type=int, default=5)
    arguments = parser.parse_args()
    paths = sorted(glob.glob(glob.escape(arguments.prefix) + ".*.json"))
    if not paths:
        parser.error(f"no files {arguments.prefix}.RANK.json")
    all_exchange = all_hidden = 0.0
    for path in paths:
        with open(path) as file:
            trace = json.load(file)
        events = trace["traceEvents"]
        exchanges = spans(events, "exchange")[arguments.skip:]
        exchange = sum(end - begin for begin, end in exchanges)
        hidden = overlap(exchanges, spans(events, "interior"))
        all_exchange += exchange
        all_hidden += hidden
        print(json.dumps(line(exchange, hidden, len(exchanges), file=path, device=trace["otherData"]["device"])))
    print(json.dumps(line(all_exchange, all_hidden, None, ranks=len(paths))))


def line(exchange, hidden, count, **more):
    share = hidden / exchange if exchange > 0 else None
    figures = {"exchange_s": exchange * 1e-6, "hidden_s": hidden * 1e-6, "hidden_share": share}
    return {**more, **({} if count is None else {"exchanges": count}), **figures}


if __name__ == "__main__":
    main()
