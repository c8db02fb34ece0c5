#!/usr/bin/env python3
"""Whether what another tool read of an export is what the independent decoder knows: exports.py KIND READ PATHS [PATHS...]

PATHS has what `fxtdecode.py paths` printed of the trace; of further kinds of costs, lines of a call path, bytes and blocks,
separated by tabs. KIND says which tool READ is from:

    folded           the export itself
    pprof            what `go tool pprof -raw` printed: calls, time, and as many costs of bytes as there are further PATHS
    callgrind        what `callgrind_annotate --threshold=100` printed: each function's own time
    speedscope       what speedscope saved of it (tests/judges/speedscope)
    firefox          the export itself, and what Perfetto's importer found in it: tid, time and call path, separated by tabs
    inclusive        the same with --inclusive=yes: its time with all it called

Or whether the two exports of tables have the same: exports.py tables DATABASE DIRECTORY
"""
import collections
import csv
import json
import re
import sqlite3
import sys

ROUNDED = 1  # ns in each row of PATHS, whose times are rounded down


def truth(path):
    """[(path, calls, total, self)]"""
    for line in open(path, encoding="utf-8"):
        fields = line.rstrip("\n").split("\t")
        if len(fields) == 3:
            yield fields[0], int(fields[2]), int(fields[1]), int(fields[1])
        else:
            yield fields[3], int(fields[4]), int(fields[6]), int(fields[7])


def sums_of(rows):
    sums = collections.Counter()
    for key, value in rows:
        sums[key] += value
    return {key: value for key, value in sums.items() if value}


def folded(path):
    for line in open(path, encoding="utf-8"):
        name, _, value = line.rstrip("\n").rpartition(" ")
        yield name, int(value)


def pprof(path):
    """[(path, values)]"""
    part, samples, names = None, [], {}
    for line in open(path, encoding="utf-8"):
        if re.match(r"[A-Z]\w*:?$", line):
            part = line.strip().rstrip(":")
        row = re.match(r" +([\d ]+): ([\d ]+?) *$", line)
        if part == "Samples" and row:
            samples.append((row[2].split(), list(map(int, row[1].split()))))
        row = re.match(r" +(\d+): 0x0 (?:M=\d+ )?(.*) :0(?::0)? s=0", line)
        if part == "Locations" and row:
            names[row[1]] = row[2]
    for stack, values in samples:
        yield ";".join(names[number] for number in reversed(stack)), values


def speedscope(path):
    document = json.load(open(path, encoding="utf-8"))
    for profile in document["profiles"]:
        stack, before = [], 0
        for event in profile["events"]:
            if stack:
                yield ";".join(stack), event["at"] - before
            name, before = document["shared"]["frames"][event["frame"]]["name"], event["at"]
            if event["type"] == "O":
                stack.append(name)
            elif stack.pop() != name:
                raise ValueError(f"{name} ends, which is not the innermost")


def firefox(path, found):
    """[(path, ns)]: what each sample weighs is the export's, what it is of the importer's."""
    samples = {thread["tid"]: thread["samples"] for thread in json.load(open(path, encoding="utf-8"))["threads"]}
    left = {tid: list(zip(rows["time"], rows["weight"], strict=True))[::-1] for tid, rows in samples.items()}
    for line in open(found, encoding="utf-8"):
        tid, at, stack = line.rstrip("\n").split("\t")
        time, weight = left[int(tid)].pop()
        if abs(round(time * 1e6) - int(at)) > ROUNDED:
            raise ValueError(f"thread {tid}: a sample at {at}, not {time} ms")
        yield stack, round(weight * 1e6)
    if any(left.values()):
        raise ValueError("samples were not found")


def annotated(path):
    for line in open(path, encoding="utf-8"):
        row = re.match(r" *([\d,]+) +\([\d. ]+%\)  [^:]+:(.*?)(?: \[.*\])?$", line)
        if row:
            yield row[2], int(row[1].replace(",", ""))


def by_function(rows, inclusive):
    for path, _, total, own in rows:
        names = path.split(";")
        if not inclusive:
            yield names[-1], own
        elif names[-1] not in names[:-1]:
            yield names[-1], total


def compare(what, got, rows, allowed):
    expected = sums_of(rows)
    wrong = [f"{what}: {key}: {got.get(key)}, not {expected.get(key)}" for key in got.keys() | expected.keys()
             if abs(got.get(key, 0) - expected.get(key, 0)) > allowed(key)]
    print(*wrong[:20], sep="\n")
    print(f"{what}: {len(got)} rows, {len(wrong)} wrong")
    return bool(wrong) or not got


def tables(database, directory):
    connection, wrong, rows = sqlite3.connect(database), [], 0
    for name, in connection.execute("select name from sqlite_schema where type = 'table'").fetchall():
        query = connection.execute(f'select * from "{name}"')
        expected = [tuple(column[0] for column in query.description), *query]
        got = list(csv.reader(open(f"{directory}/{name}.csv", encoding="utf-8", newline="")))
        rows += len(got) - 1
        wrong += [f"{name}: {len(got)} rows, not {len(expected)}"] * (len(got) != len(expected))
        wrong += [f"{name}: {left}, not {right}" for left, right in zip(got, expected)
                  if any(type(value)(cell) != value if value is not None else cell for cell, value in zip(left, right, strict=True))]
    print(*wrong[:20], sep="\n")
    print(f"{rows} rows, {len(wrong)} wrong")
    return bool(wrong) or not rows


def main():
    kind, read, *paths = sys.argv[1:]
    if kind == "tables":
        return tables(read, *paths)
    rows = list(truth(paths[-1] if kind == "firefox" else paths[0]))
    times = collections.Counter(path for path, *_ in rows)
    of_function = collections.Counter(name for path in times.elements() for name in set(path.split(";")))
    if kind == "folded":
        is_bad = compare(kind, sums_of(folded(read)), ((row[0], row[3]) for row in rows), lambda path: times[path] * ROUNDED)
    elif kind == "speedscope":
        is_bad = compare(kind, sums_of(speedscope(read)), ((row[0], row[3]) for row in rows), lambda path: times[path] * ROUNDED)
    elif kind == "firefox":
        is_bad = compare(kind, sums_of(firefox(read, paths[0])), ((row[0], row[3]) for row in rows), lambda path: times[path] * ROUNDED)
    elif kind == "pprof":
        samples = list(pprof(read))
        is_bad = compare("calls", sums_of((path, values[0]) for path, values in samples), ((row[0], row[1]) for row in rows),
                         lambda path: 0)
        is_bad |= compare("time", sums_of((path, values[1]) for path, values in samples), ((row[0], row[3]) for row in rows),
                          lambda path: times[path] * ROUNDED)
        for number, more in enumerate(paths[1:]):
            is_bad |= compare(more, sums_of((path, values[2 + number]) for path, values in samples),
                              ((row[0], row[3]) for row in truth(more)), lambda path: 0)
    else:
        got = sums_of((name, value) for name, value in annotated(read) if not name.endswith("'2") or kind != "inclusive")
        if kind == "callgrind":
            got = sums_of((name.removesuffix("'2"), value) for name, value in got.items())
        is_bad = compare(kind, got, by_function(rows, kind == "inclusive"), lambda name: of_function[name] * ROUNDED)
    return is_bad


sys.exit(main())
