#!/usr/bin/env python3
"""Prints the calls that a filter leaves of a whole trace: "function<tab>calls", sorted.

    filter.py SLICES [-F REGEX] [-N REGEX] [-D DEPTH]

SLICES is what `fxtdecode.py slices` writes of the whole trace; the regular expressions match names in full. Written from
the manual page alone.
"""
import argparse
import collections
import re

parser = argparse.ArgumentParser()
parser.add_argument("slices")
parser.add_argument("-F")
parser.add_argument("-N")
parser.add_argument("-D", type=int, default=10**9)
options = parser.parse_args()
matches = lambda pattern, name: bool(pattern and re.fullmatch(pattern, name))

threads = collections.defaultdict(list)
for line in open(options.slices):
    process, thread, category, name, start, end = line.rstrip("\n").split("\t")
    if category == "function":
        threads[process, thread].append((int(start), int(end) if end.isdigit() else 10**30, name))

counts = collections.Counter()
for calls in threads.values():
    open_calls = []  # (end, inside of what is wanted, of what is not, how many calls deep may be recorded inside)
    for start, end, name in sorted(calls, key=lambda call: (call[0], -call[1])):
        while open_calls and start >= open_calls[-1][0]:
            open_calls.pop()
        _, is_in, is_out, depth = open_calls[-1] if open_calls else (0, not options.F, False, options.D)
        is_out |= matches(options.N, name)
        if not is_out and matches(options.F, name):
            is_in, depth = True, options.D
        if is_in and not is_out and depth > 0:
            counts[name] += 1
            depth -= 1
        open_calls.append((end, is_in, is_out, depth))
for name, calls in sorted(counts.items()):
    print(name, calls, sep="\t")
