#!/usr/bin/env python3
"""report.py DECODED REPORT: whether `fxt report --threads` (REPORT) says what the independent decoder has counted.

Every number is compared, up to the digits that the report prints."""
import re
import sys

UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


def decoded(path):
    rows = {}
    for line in open(path, encoding="utf-8"):
        process, thread, kind, name, calls, open_, total, self_, least, most, sum_ = line.rstrip("\n").split("\t")
        rows[process, thread, kind, name] = [int(calls), int(open_), *map(int, (total, self_)), int(sum_) / int(calls),
                                             int(least), int(most)]
    return rows


def reported(path):
    rows, kind, thread = {}, None, None
    time = r" +([\d.]+) (ns|us|ms|s)"
    for line in open(path, encoding="utf-8"):
        head = re.match(r"thread (\d+).* of process (\d+)", line)
        row = re.match(r" *(\d+)" + 5 * time + r"  (.*?)(?: \((\d+) not ended\))?$", line)
        if head:
            thread = head[2], head[1]
        elif "calls  " in line:
            kind = "function" if line.rstrip().endswith("function") else "other"
        elif row and thread:
            times = [(float(row[i]) * UNITS[row[i + 1]], row[i], UNITS[row[i + 1]]) for i in range(2, 12, 2)]
            rows[(*thread, kind, row[12])] = [int(row[1]), int(row[13] or 0), *times]
    return rows


def main():
    expected, rows = decoded(sys.argv[1]), reported(sys.argv[2])
    wrong = [f"missing: {key}" for key in expected.keys() - rows.keys()]
    wrong += [f"invented: {key}" for key in rows.keys() - expected.keys()]
    for key in expected.keys() & rows.keys():
        wrong += [f"{key}: {got}, not {count}" for got, count in zip(rows[key][:2], expected[key][:2]) if got != count]
        for (ns, text, unit), count in zip(rows[key][2:], expected[key][2:]):
            digits = len(text.partition(".")[2])
            if abs(ns - count) > 0.51 * unit / 10**digits + 1e-3:
                wrong.append(f"{key}: {text} of {unit} ns, not {count} ns")
    print(*wrong[:20], sep="\n")
    print(f"{len(expected)} rows, {len(wrong)} wrong")
    return bool(wrong) or not expected


sys.exit(main())
