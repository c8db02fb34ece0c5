#!/usr/bin/env python3
"""report.py DECODED REPORT: whether `fxt report --threads --csv` (REPORT) says what the independent decoder has counted.

Every number is compared, to the nanosecond."""
import csv
import re
import sys


def decoded(path):
    rows = {}
    for line in open(path, encoding="utf-8"):
        process, thread, kind, name, calls, open_, total, self_, least, most, sum_ = line.rstrip("\n").split("\t")
        rows[process, thread, kind, name] = [int(calls), int(open_), int(total), int(self_), int(sum_) / int(calls),
                                             int(least), int(most)]
    return rows


def reported(path):
    rows, head = {}, []
    for row in csv.reader(open(path, encoding="utf-8")):
        if row[0] == "table":
            head = row
        elif row[0] in ("functions", "others"):
            row = dict(zip(head, row))
            thread, process = re.match(r"thread (\d+).* of process (\d+)", row["of"]).groups()
            key = process, thread, "function" if row["table"] == "functions" else "other", row["name"]
            rows[key] = [float(row[column]) for column in ("calls", "not_ended", "total_ns", "self_ns", "avg_ns",
                                                           "min_ns", "max_ns")]
    return rows


def main():
    expected, rows = decoded(sys.argv[1]), reported(sys.argv[2])
    wrong = [f"missing: {key}" for key in expected.keys() - rows.keys()]
    wrong += [f"invented: {key}" for key in rows.keys() - expected.keys()]
    for key in expected.keys() & rows.keys():
        wrong += [f"{key}: {got}, not {count}" for got, count in zip(rows[key], expected[key]) if abs(got - count) > 1]
    print(*wrong[:20], sep="\n")
    print(f"{len(expected)} rows, {len(wrong)} wrong")
    return bool(wrong) or not expected


sys.exit(main())
