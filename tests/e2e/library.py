#!/usr/bin/env python3
"""library.py SLICES LIBRARY REPORT: whether `fxt report --csv` (REPORT) folds the functions of LIBRARY, a name a line.

SLICES are those of the independent decoder: each call is put into the call around it, and a call of the library that has
one is taken out, so that its time stays with that call."""
import collections
import csv
import sys


def folded(slices, library):
    calls, totals, selves = collections.Counter(), collections.Counter(), collections.Counter()
    threads = collections.defaultdict(list)
    for line in open(slices, encoding="utf-8"):
        process, thread, category, name, start, length = line.rstrip("\n").split("\t")
        threads[process, thread].append((int(start), -int(start) - int(length), category, name))
    for all_ in threads.values():
        open_ = []
        for start, minus_end, category, name in sorted(all_):
            end, is_call = -minus_end, category == "function"
            while open_ and open_[-1][0] <= start:
                open_.pop()
            if is_call and name in library and open_ and open_[-1][2]:
                continue
            if open_:
                selves[open_[-1][1], open_[-1][2]] -= end - start
            selves[name, is_call] += end - start
            calls[name, is_call] += 1
            if not any(of == name for _, of, _ in open_):
                totals[name, is_call] += end - start
            open_.append((end, name, is_call))
    return {name: (calls[name, True], totals[name, True], selves[name, True]) for name, is_call in calls if is_call}


def main():
    expected = folded(sys.argv[1], set(open(sys.argv[2], encoding="utf-8").read().splitlines()))
    rows = [row for row in csv.reader(open(sys.argv[3], encoding="utf-8"))]
    head = next(row for row in rows if row[0] == "table")
    got = {}
    for row in rows:
        if row[0] == "functions":
            row = dict(zip(head, row))
            got[row["name"]] = tuple(float(row[column]) for column in ("calls", "total_ns", "self_ns"))
    assert got.keys() == expected.keys(), (got.keys() ^ expected.keys())
    slices = sum(1 for _ in open(sys.argv[1], encoding="utf-8"))
    for name, (calls, total, self_) in expected.items():
        # Each time is rounded to a nanosecond once there, and once a slice here.
        assert got[name][0] == calls, (name, got[name], calls)
        assert abs(got[name][1] - total) <= calls + 1, (name, got[name], total)
        assert abs(got[name][2] - self_) <= slices, (name, got[name], self_)
    print(len(expected), "functions")


main()
