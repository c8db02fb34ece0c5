#!/usr/bin/env python3
"""A fleet against what fxt sql says of each of its traces.

    fleet.py rows FLEET                 each row of each table, read from the CSV; prints how many orders, calls and
                                        blocks of serve() the whole runs have
    fleet.py answers FLEET PAGE JUDGE LIBRARY
                                        the questions of a page, answered by DuckDB, and summed up here

A trace stands beside its fleet: FLEET/../VERSION/HOST/NAME.fxt.
"""
import collections
import csv
import glob
import json
import math
import os
import re
import subprocess
import sys

TABLES = ["calls", "functions", "call_sums", "threads", "processes", "switches", "waits", "flow_events", "counters", "events",
          "objects", "losses", "modules", "labels", "trace"]
failed = False


def wrong(*text):
    global failed
    failed = True
    print(*text)


def runs_of(fleet):
    """(version, host, trace, {table: rows}) of each trace beside the fleet, as fxt sql has them."""
    for trace in sorted(glob.glob(f"{os.path.dirname(fleet)}/*/*/*.fxt")):
        version, host = trace.split("/")[-3:-1]
        statements = ";".join(f"select * from {table}" for table in TABLES)
        said = subprocess.run(["fxt", "sql", "--json", statements, trace], check=True, capture_output=True, text=True).stdout
        yield version, host, trace, {name: table["rows"]
                                     for name, table in zip(TABLES, json.loads(said)["traces"][0]["tables"], strict=True)}


def unpack(fleet):
    """Unpacks all tables at once, into a directory beside the fleet; returns that."""
    plain = os.path.join(os.path.dirname(fleet), "plain")
    subprocess.run(["zstd", "-dqr", *glob.glob(f"{fleet}/version=*"), "--output-dir-mirror", plain], check=True)
    return plain


def csv_of(plain, path):
    with open(plain + path.removesuffix(".zst"), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def is_same(cell, value):
    """fxt sql prints 15 digits of a number with a fraction."""
    if isinstance(value, float):
        return math.isclose(float(cell), value, rel_tol=1e-14)
    return cell == ("" if value is None else str(value))


def rows(fleet):
    """Compares each table, and finds each run once."""
    folders, made, plain = {}, collections.Counter(), unpack(fleet)
    for folder in glob.glob(f"{fleet}/version=*/host=*/day=*/run=*"):
        folders[csv_of(plain, f"{folder}/trace.csv.zst")[0]["file"]] = folder
    left = set(glob.glob(f"{fleet}/**/*.zst", recursive=True))
    for version, host, trace, tables in runs_of(fleet):
        folder = folders[trace]
        if f"/version={version}/host={host}/day=" not in folder:
            wrong(f"{trace} is in {folder}")
        for name, expected in tables.items():
            got = csv_of(plain, f"{folder}/{name}.csv.zst")
            left.remove(f"{folder}/{name}.csv.zst")
            if tables["trace"][0]["is_whole"]:
                made[name] += len(got)
                made.update(row["function"] for row in got if name in ("calls", "objects"))
            if len(got) != len(expected) or any(
                    g.keys() != e.keys() or not all(is_same(g[key], e[key]) for key in e) for g, e in zip(got, expected)):
                wrong(f"{folder}/{name}.csv.zst is not what fxt sql has: {got[:1]}, {expected[:1]}")
    for path in left:
        wrong(f"{path} is of no trace")
    print(made["order"], made["calls"], made["serve"] - made["order"])


def sums(pairs):
    """{key: (sum, ...)} of pairs of a key and numbers."""
    found = {}
    for key, values in pairs:
        before = found.get(key, (0,) * len(values))
        found[key] = tuple(a + b for a, b in zip(before, values))
    return found


def expected(runs):
    """The answers to the page's questions, in their order."""
    each = lambda table: ((version, host, trace, row) for version, host, trace, tables in runs for row in tables[table])
    orders = [(version, host, trace, row) for version, host, trace, row in each("calls") if row["function"] == "order"]

    yield sorted((host, *s) for host, s in sums(
        (host, (1, row["is_whole"], row["lost"] + row["overwritten"])) for _, host, _, row in each("trace")).items())

    times = collections.defaultdict(list)
    for version, host, _, row in orders:
        times[version, host].append(row["duration"])
    yield sorted((*key, len(t), sorted(t)[math.ceil(0.99 * len(t)) - 1]) for key, t in times.items())

    own = sums(((version, row["name"]), (row["self"], row["total"], row["calls"])) for version, _, _, row in each("functions"))
    slowest = {}
    for (version, name), (self, _, _) in own.items():
        slowest[version] = min(slowest.get(version, (0, "")), (-self, name))
    yield sorted((version, name, -self) for version, (self, name) in slowest.items())

    mean = {key: total // calls for key, (_, total, calls) in own.items()}
    yield sorted(((name, mean["1.0", name], after) for (version, name), after in mean.items() if version == "1.1"),
                 key=lambda row: (row[1] - row[2], row[0]))

    locks = sums((row["symbol"] or row["object"], (1, row["duration"])) for *_, row in each("waits") if row["object"])
    whole = sum(total for _, total in locks.values())
    yield sorted(((lock, n, total, round(100 * total / whole, 1)) for lock, (n, total) in locks.items()),
                 key=lambda row: (-row[2], row[0]))

    blocks = sums(((version, row["function"]), (row["weight"], row["weight"] * row["size"],
                                                row["weight"] * row["size"] * (row["fate"] == "leaked")))
                  for version, _, _, row in each("objects"))
    yield sorted((*key, n, size, leaked or None) for key, (n, size, leaked) in blocks.items())

    lost = collections.defaultdict(list)
    for _, host, trace, row in each("losses"):
        lost[host, row["process"], row["fate"]].append((row["records"], trace))
    yield sorted((*key, sum(n for n, _ in found), len({trace for _, trace in found})) for key, found in lost.items())

    yield sorted((path, *s) for path, s in sums((json.loads(row["arguments"])["path"], (1, row["duration"]))
                                               for *_, row in orders).items())

    longest = {}
    for version, _, trace, row in orders:
        longest[version] = max(longest.get(version, (0, "")), (row["duration"], trace))
    yield sorted((version, *found) for version, found in longest.items())

    builds = collections.defaultdict(list)
    for _, _, trace, tables in runs:
        ids = {row["module"]: row["build_id"] for row in tables["modules"]}
        for row in tables["functions"]:
            if row["module"] in ids:
                builds[ids[row["module"]]].append((trace, tables["trace"][0]["began"], row["calls"]))
    yield sorted((build, len({trace for trace, _, _ in found}), min(began for _, began, _ in found),
                  sum(calls for *_, calls in found)) for build, found in builds.items())


def answers(fleet, page, judge, library):
    text = open(page, encoding="utf-8").read()
    questions = re.findall(r"^\*\*\d+\.\*\* (.*?)\n\n((?:    [^\n]*\n)+)", text.split("## Ten questions")[1], re.M | re.S)
    parquet = re.search(r"^    COPY .*;$", text, re.M)[0]
    sums_of = "\nSELECT count(*), sum(duration) FROM "
    more = f"{parquet}{sums_of}read_parquet('../calls/**/*.parquet');{sums_of}calls;"
    said = subprocess.run([judge, library, "fleet.sql", "-"], cwd=fleet, input="".join(sql for _, sql in questions) + more,
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    *got, in_parquet, in_csv = (json.loads(line) for line in said.splitlines())
    runs = list(runs_of(fleet))
    if len(questions) != 10:
        wrong(f"{len(questions)} questions")
    for (question, _), found, rows_of in zip(questions, got, expected(runs), strict=True):
        rows_of = [list(row) for row in rows_of]
        print(f"{question.splitlines()[0]} {len(found)} rows: {found[:2]}")
        if len(found) != len(rows_of) or not rows_of or not all(
                is_same(cell or "", value) for f, e in zip(found, rows_of) for cell, value in zip(f, e, strict=True)):
            wrong(f"  not {rows_of}")
    calls = [row["duration"] for *_, tables in runs for row in tables["calls"]]
    if not in_parquet == in_csv == [[str(len(calls)), str(sum(calls))]]:
        wrong(f"Parquet has {in_parquet}, CSV {in_csv}, the traces {len(calls)}, {sum(calls)}")


def main():
    kind, fleet, *more = sys.argv[1:]
    {"rows": rows, "answers": answers}[kind](fleet, *more)
    return failed


sys.exit(main())
