#!/usr/bin/env python3
"""Writes a trace of planted calls: planted.py TRACE, with a line for each call on stdin:

    THREAD START END NAME [ARGUMENT=VALUE]...

Times are in ns. A thread is a number, a value is an integer or a text, and %20 stands for
a blank. A caller begins before its callees, and its line stands behind theirs.
"""
import re
import struct
import sys
from urllib.parse import unquote

names, threads, calls = {"function": 1}, {}, []


def padded(text):
    text = text.encode()
    return struct.unpack(f"<{(len(text) + 7) // 8}Q", text.ljust(len(text) + 7 & ~7, b"\0"))


def argument(text):
    name, value = text.split("=", 1)
    name = names.setdefault(name, len(names) + 1)
    if re.fullmatch(r"-?\d+", value):
        return [3 | 2 << 4 | name << 16, int(value) & 2**64 - 1]
    value = unquote(value)
    words = padded(value)
    return [6 | 1 + len(words) << 4 | name << 16 | (0x8000 | len(value.encode())) << 32, *words]


for line in sys.stdin:
    thread, start, end, name, *arguments = line.split()
    thread = threads.setdefault(int(thread), len(threads) + 1)
    name = names.setdefault(unquote(name), len(names) + 1)
    words = [word for text in arguments for word in argument(text)]
    calls += [4 | 3 + len(words) << 4 | 4 << 16 | len(arguments) << 20 | thread << 24 | 1 << 32 | name << 48,
              int(start), *words, int(end)]
words = [0x0016547846040010, 0x21, 10**9]
for name, index in names.items():
    text = padded(name)
    words += [2 | 1 + len(text) << 4 | index << 16 | len(name.encode()) << 32, *text]
for koid, index in threads.items():
    words += [0x33 | index << 16, 1, koid]
words += calls
open(sys.argv[1], "wb").write(struct.pack(f"<{len(words)}Q", *words))
