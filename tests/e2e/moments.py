#!/usr/bin/env python3
"""Whether fxt says of each slow call of tests/programs/moments/causes.c why it was slow.

    moments.py FXT TRACE MEASURED TIMES

MEASURED is what the program printed: cause, number of the call, and in ns by its own clocks how long the call took, how
long its thread was on a CPU, how long the part took that makes it slow, and how long the busy thread was on a CPU.
TIMES is what the independent decoder prints of all slices.

Prints the causes for which the clocks say what fxt says. Those of a program tell also what the machine and its host did
meanwhile: a cause that is not printed is to be tried again. All else holds in every trace, or the exit status is 1.
"""

import json
import subprocess
import sys

fxt, trace, measured, times = sys.argv[1:]
failed = set()  # "": what holds in every trace; a cause: the clocks say otherwise


def check(what, holds, cause=""):
    if not holds:
        failed.add(cause)
        print((cause + " by the clocks: " if cause else "wrong: ") + what, file=sys.stderr)


def ask(*arguments):
    answer = json.loads(subprocess.run([fxt, *arguments, "--json", trace], check=True, stdout=subprocess.PIPE).stdout)
    return answer["traces"][0]["tables"][0]["rows"]


rows = [line.rstrip("\n").split("\t") for line in open(times)]
handles = [ns for _, ns in sorted((int(row[4]), int(row[5])) for row in rows if row[3] == "handle")]
slow = ask("slow", "handle", "--limit=1000")
check("200 calls of handle", len(slow) == len(handles) == 200)
check("the slowest first", [row["time_ns"] for row in slow] == sorted(handles, reverse=True))
slow.sort(key=lambda row: row["start_ns"])

for line in open(measured):
    cause, *numbers = line.split()
    number, wall, cpu, part, busy = map(int, numbers)
    took, row = handles[number], slow[number]
    parts = ask("why", "handle:%d" % row["call"])
    own = [p for p in parts if p["level"] == 0]
    told = "%s: %s" % (cause, [(p["kind"], p["function"], p["time_ns"]) for p in own])

    # To the nanosecond.
    check(told + " sum to %d" % took, sum(p["time_ns"] for p in own) == took == row["time_ns"])
    for kinds, column in ((("ran", "allocated"), "running_ns"), (("preempted",), "preempted_ns"),
                          (("waited", "woken", "blocked"), "waiting_ns")):
        check(told + " " + column, sum(p["time_ns"] for p in own if p["kind"] in kinds) == row[column])
    check(told + ": slow names its longest part", row["mostly"] == max(own, key=lambda p: p["time_ns"])["part"])

    def part_of(kinds, **also):
        return sum(p["time_ns"] for p in own if p["kind"] in kinds and all(p[key] == also[key] for key in also))

    # By the clocks: they are read outside of the call, or inside.
    check(told + " took %d to %d" % (part, wall), part * 0.999 <= took <= wall * 1.001 + 1000)
    # The reason for which it was off the CPU may be outside the call, between the readings
    # of the clocks.
    off, tolerance = wall - cpu, 0.05 * wall + 200000
    check(told + ": off the CPU for %d" % off, -tolerance <= off - (took - row["running_ns"]) <= wall - took + tolerance, cause)
    if cause == "preempted":
        hog = [p for p in own if p["kind"] == "preempted" and '"hog"' in p["part"]]
        check(told + ": the hog preempted it", len(hog) == 1 and abs(hog[0]["time_ns"] - busy) <= 0.05 * busy + 500000, cause)
    elif cause == "locked":
        wait = [p for p in own if p["kind"] == "waited"]
        check(told + ": one lock", len(wait) == 1 and wait[0]["object"] == "index_lock")
        check(told + ": its holder", wait[0]["part"].endswith(' "keeper" in keeper > rebuild_index'))
        check(told + ": it was kept for 5 ms", 5000000 <= part_of(("waited",)) <= part)
        inside = [p for p in parts if p["level"] == 1]
        check(told + ": what the holder did", [p["part"] for p in inside][:1] == ["sleeping in nanosleep"], cause)
        check(told + ": it slept meanwhile", sum(p["time_ns"] for p in inside if p["kind"] in ("blocked", "waited")) >= 4900000, cause)
    elif cause == "grows":
        check(told + ": in grow", part_of(("ran",), function="grow") >= 0.9 * cpu, cause)
    elif cause == "sleeps":
        check(told + ": 20 ms in pause_for", 19990000 <= part_of(("blocked", "waited")) <= part)
        check(told + ": and that is named", any("pause_for" in p["part"] or "nanosleep" in p["part"] for p in own))
    elif cause == "works":
        step = [p for p in parts if p["level"] == 1 and p["function"] == "step"]
        check(told + ": more steps", len(step) == 1 and (step[0]["calls"], step[0]["median_calls"]) == (60020, 20))
    if cause not in failed:
        print(cause)
sys.exit("" in failed)
