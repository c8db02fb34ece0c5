#!/usr/bin/env python3
"""Calls that are shorter than some time and have no other slice inside: none is in a trace of fxtrun --min-duration.

    short.py TIMES NANOSECONDS [FUNCTION=NANOSECONDS ...]

TIMES is what `fxtdecode.py times` writes of the trace. Functions may have a time of their own.
"""
import collections
import sys

general = int(sys.argv[2])
own = {name: int(least) for name, least in (argument.rsplit("=", 1) for argument in sys.argv[3:])}
threads = collections.defaultdict(list)
for line in open(sys.argv[1]):
    process, thread, category, name, start, duration = line.rstrip("\n").split("\t")
    if duration:
        threads[process, thread].append((int(start), -int(duration), category, name))
for slices in threads.values():
    slices.sort()
    for (start, duration, category, name), after in zip(slices, slices[1:] + [(1 << 64, 0, "", "")]):
        if category == "function" and -duration < own.get(name, general) and after[0] > start - duration:
            print(name, start, -duration, sep="\t")
