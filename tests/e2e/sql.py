#!/usr/bin/env python3
"""Compares the answers of `fxt sql` with what others know.

sql.py report DECODED CSV       every slice summed up by thread and name, against the independent decoder's sums
sql.py functions DECODED CSV    the same of the sums by function
sql.py manual MAN CSV           the tables and columns of the manual page, against those of --tables
sql.py prompt FXT TRACE         what somebody at a terminal types and sees
"""
import csv
import os
import pty
import re
import signal
import sys


def report(decoded, answered):
    expected = {}
    for line in open(decoded, encoding="utf-8"):
        process, thread, kind, name, calls, open_, _, self_, least, most, sum_, *_ = line.rstrip("\n").split("\t")
        expected[process, thread, kind, name] = [int(calls), int(open_), *map(int, (self_, least, most, sum_))]
    rows = {tuple(row[1:5]): [int(cell) for cell in row[5:]] for row in list(csv.reader(open(answered)))[1:]}
    wrong = [f"missing: {key}" for key in expected.keys() - rows.keys()]
    wrong += [f"invented: {key}" for key in rows.keys() - expected.keys()]
    for key in expected.keys() & rows.keys():
        # Each time is rounded to a nanosecond, and so is each of a sum; the time inside a
        # call is rounded once more.
        off = [abs(a - b) for a, b in zip(rows[key], expected[key])]
        calls = expected[key][0]
        if off[:2] != [0, 0] or max(off[3:5]) > 1 or off[2] > 2 * calls or off[5] > calls:
            wrong.append(f"{key}: {rows[key]}, not {expected[key]}")
    print(*wrong[:20], sep="\n")
    print(f"{len(expected)} rows, {len(wrong)} wrong")
    return bool(wrong) or not expected


def functions(decoded, answered):
    expected = {}
    for line in open(decoded, encoding="utf-8"):
        _, _, kind, name, calls, open_, total, self_, least, most, *_ = line.rstrip("\n").split("\t")
        if kind != "function":
            continue
        sum_ = expected.setdefault(name, [0, 0, 0, 0, int(least), 0])
        for i, value in enumerate((calls, open_, total, self_)):
            sum_[i] += int(value)
        sum_[4:] = min(sum_[4], int(least)), max(sum_[5], int(most))
    rows = {row[1]: [int(cell) for cell in row[2:]] for row in list(csv.reader(open(answered)))[1:]}
    wrong = [f"missing or invented: {key}" for key in expected.keys() ^ rows.keys()]
    for key in expected.keys() & rows.keys():
        # Each time of a call is rounded to a nanosecond, and the time inside it once more.
        off = [abs(a - b) for a, b in zip(rows[key], expected[key])]
        if off[:2] != [0, 0] or off[2] > rows[key][0] or off[3] > 2 * rows[key][0] or max(off[4:]) > 1:
            wrong.append(f"{key}: {rows[key]}, not {expected[key]}")
    print(*wrong, sep="\n")
    return bool(wrong) or not expected


def manual(page, answered):
    text = open(page, encoding="utf-8").read()
    text = re.search(r"^\.Sh TABLES\n(.*?)^\.Sh ", text, re.M | re.S)[1]
    found, table, kind = [], None, "table"
    for match in re.finditer(r"^\.Ss (\w+)\n(.*)|^\.It Va (\w+)(?: Pq (\w+))?\n(.*)", text, re.M):
        section, about, name, type_, meaning = match.groups()
        if section == "Views":
            kind = "view"
        elif section:
            table = section
            found.append([table, "", kind, about])
        else:
            found.append([name, "", kind, meaning] if kind == "view" else [table, name, type_, meaning])
    rows = [row[1:] for row in list(csv.reader(open(answered)))[1:]]
    wrong = [f"only in the manual: {row}" for row in found if row not in rows]
    wrong += [f"not in the manual: {row}" for row in rows if row not in found]
    print(*wrong, sep="\n")
    return bool(wrong) or not rows


def prompt(fxt, trace):
    signal.alarm(60)
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        os.execl(fxt, "fxt", "sql", trace)
    seen = b""

    def await_(pattern):
        nonlocal seen
        while not re.search(pattern, seen):
            seen += os.read(terminal, 4096)
        seen = seen[re.search(pattern, seen).end():]

    for typed, pattern in ((b".tables\n", rb"waits_by_lock"), (b".columns trace\n", rb"is_finished"),
                           (b".columns nothing\n", rb"no table 'nothing'"),
                           (b"select 6 *\n", rb"\.\.\.> "), (b"7;\n", rb"\b42\r"), (b"select nowhere;\n", rb"no such column"),
                           (b"select count(*) from trace;\n", rb"\b1\r")):
        os.write(terminal, typed)
        await_(pattern)
    # Numbers wider than those that the width of the column was made for are whole.
    os.write(terminal, b"with recursive r(x) as (select 1 union all select x + 1 from r where x < 1200) "
             b"select iif(x < 1100, x, x * 1000003) as n from r;\n")
    await_(rb"\b1200003600\r")
    os.write(terminal, b"with recursive r(x) as (select 1 union all select x + 1 from r) select x from r;\n")
    await_(rb"\b1500\r")
    os.write(terminal, b"\x03")
    await_(rb"fxt sql: interrupted\r")
    os.write(terminal, b".quit\n")
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


sys.exit({"report": report, "functions": functions, "manual": manual, "prompt": prompt}[sys.argv[1]](*sys.argv[2:]))
