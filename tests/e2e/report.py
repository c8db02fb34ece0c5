#!/usr/bin/env python3
"""report.py DECODED REPORT: whether `fxt report --threads --csv` (REPORT) says what the independent decoder has counted.

Every number is compared, to the nanosecond; percentiles to 1/32, and the time on a CPU but for what rounding to
nanoseconds takes at each switch."""
import csv
import re
import sys


def decoded(path):
    rows = {}
    for line in open(path, encoding="utf-8"):
        process, thread, kind, name, calls, open_, total, self_, least, most, sum_, *rest = line.rstrip("\n").split("\t")
        rows[process, thread, kind, name] = [int(calls), int(open_), int(total), int(self_), int(sum_) / int(calls),
                                             int(least), int(most), *map(int, rest)]
    return rows


def reported(path):
    rows, head = {}, []
    for row in csv.reader(open(path, encoding="utf-8")):
        if row[0] == "table":
            head = row
        elif row[0] in ("functions", "others"):
            row = dict(zip(head, row))
            thread, process = re.match(r"thread (\d+).* of process (\d+)", row["of"]).groups()
            # The decoder knows names alone; no thread here has calls of two functions with
            # one name.
            name = re.sub(r" \[(?!clone )[^]]*\]$", "", row["name"])
            key = process, thread, "function" if row["table"] == "functions" else "other", name
            assert key not in rows
            rows[key] = [float(row[column]) for column in ("calls", "not_ended", "total_ns", "self_ns", "avg_ns",
                                                           "min_ns", "max_ns", "p50_ns", "p90_ns", "p99_ns")]
            rows[key].append(float(row["on_cpu_ns"] or 0))
    return rows


def main():
    expected, rows = decoded(sys.argv[1]), reported(sys.argv[2])
    wrong = [f"missing: {key}" for key in expected.keys() - rows.keys()]
    wrong += [f"invented: {key}" for key in rows.keys() - expected.keys()]
    for key in expected.keys() & rows.keys():
        errors = [1] * 7 + [count / 32 + 1 for count in expected[key][7:10]] + [expected[key][10] / 1000 + 1000]
        wrong += [f"{key}: {got}, not {count}" for got, count, error in zip(rows[key], expected[key], errors, strict=True)
                  if abs(got - count) > error]
    print(*wrong[:20], sep="\n")
    print(f"{len(expected)} rows, {len(wrong)} wrong")
    return bool(wrong) or not expected


sys.exit(main())
