#!/usr/bin/env python3
"""Writes a trace made to exhaust its reader: hostile.py SHAPE BYTES [MODULE] >trace.fxt

Each shape makes one thing as numerous, or as far apart, as so many bytes of trace can. From the format's specification
alone, like fxtdecode.py.
"""
import re
import struct
import subprocess
import sys

MAGIC = 0x0016547846040010


def words(*values):
    return struct.pack("<%dQ" % len(values), *values)


def text(value):
    return value + b"\0" * (-len(value) % 8)


def provider(number):
    return words(0 | 1 << 4 | 1 << 16 | number << 20)


def string(index, value):
    return words(2 | 1 + len(text(value)) // 8 << 4 | index << 16 | len(value) << 32) + text(value)


def call(thread, start, end):
    return words(4 | 5 << 4 | 4 << 16, start, 1, thread, end)


def log(value):
    return words(9 | 2 + len(text(value)) // 8 << 4 | len(value) << 16 | 1 << 32, 0) + text(value)


def spelling(i, module):
    """The path of a module with some of its slashes doubled or followed by a dot: one of 16,384."""
    directory, _, name = module.rpartition("/")
    return "%s/%s/%s" % (directory, "/".join("." if i >> bit & 1 else "" for bit in range(14)), name)


def spellings(module):
    notes = subprocess.run(["readelf", "-n", module], capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: (\w+)", notes)

    yield words(3 | 3 << 4 | 1 << 16, 1, 1)
    for i in range(1, 16384):
        path = spelling(i, module)
        yield log(("{{{module:%d:%s:elf:%s}}}" % (i, path, build_id.group(1) if build_id else "")).encode()) + \
            log(b"{{{mmap:0x%x:0x1000000:load:%d:rx:0x0}}}" % (i << 32, i)) + \
            string(i, b"{{{pc:0x%x:%d}}}" % ((i << 32) + 0x1000 + 16 * i, i))


def numbered(one):
    i = 0
    while True:
        i += 1
        yield one(i)


SHAPES = {
    # As many providers as can be, each with its highest string, or thread, alone.
    "far_strings": lambda: numbered(lambda i: provider(i) + string(0x7fff, b"")),
    "far_threads": lambda: numbered(lambda i: provider(i) + words(3 | 3 << 4 | 255 << 16, 1, 1)),
    "providers": lambda: numbered(provider),
    # A provider that is announced again and again, and has forgotten its strings each time.
    "announcements": lambda: numbered(lambda i: provider(1) + string(0x7fff, b"")),
    # The highest of the strings first.
    "downwards": lambda: numbered(lambda i: string(0x7fff - i % 0x7fff, b"")),
    "names": lambda: numbered(lambda i: string(1 + i % 0x7fff, b"%d" % i)),
    "threads": lambda: numbered(lambda i: words(3 | 3 << 4 | 1 + i % 255 << 16, 1, i)),
    "processes": lambda: numbered(lambda i: words(7 | 2 << 4 | 1 << 16, i)),
    "equal_calls": lambda: numbered(lambda i: call(1, 1, 2)),
    "calls_of_threads": lambda: numbered(lambda i: call(i, 2 * i, 2 * i + 1)),
}


def main():
    shape, most = sys.argv[1], int(sys.argv[2])
    records = spellings(sys.argv[3]) if shape == "spellings" else SHAPES[shape]()
    trace, size = [words(MAGIC), words(1 | 2 << 4, 10**9)], 24

    for record in records:
        size += len(record)
        if size > most:
            break
        trace.append(record)
    sys.stdout.buffer.write(b"".join(trace))


main()
