#!/usr/bin/env python3
"""Calls beyond the first so many of their function in a process that have no other slice inside: none is in a trace of
fxtrun --max-calls.

    beyond.py TIMES CALLS

TIMES is what `fxtdecode.py times` writes of the trace.
"""
import collections
import sys

limit = int(sys.argv[2])
threads = collections.defaultdict(list)
for line in open(sys.argv[1]):
    process, thread, category, name, start, duration = line.rstrip("\n").split("\t")
    if duration:
        threads[process, thread].append((int(start), -int(duration), category, name))
calls = collections.defaultdict(list)
for (process, _), slices in threads.items():
    slices.sort()
    for (start, duration, category, name), after in zip(slices, slices[1:] + [(1 << 64, 0, "", "")]):
        if category == "function":
            calls[process, name].append((start, after[0] > start - duration))
for (_, name), begun in calls.items():
    for start, has_nothing_inside in sorted(begun)[limit:]:
        if has_nothing_inside:
            print(name, start, sep="\t")
