#!/usr/bin/env python3
"""Lawful traces that no part of fxt wrote: each uses what the format allows and fxtrun does not write.

    foreign.py names              the names of the traces, a line each
    foreign.py write NAME FILE    writes one

Written from the specification of the format alone.
"""
import struct
import sys

INSTANT, COUNTER, BEGIN, END, COMPLETE = range(5)
FLOW_BEGIN, FLOW_STEP, FLOW_END = 8, 9, 10
INT32, UINT32, POINTER, KOID = 1, 2, 7, 8
PROCESS, THREAD = 1, 2
CATEGORY, NAME, INNER = 1, 2, 3  # indices of strings
MAGIC = 0x0016547846040010


def stream(text):
    data = text.encode()
    return data + bytes(-len(data) % 8)


class Trace:
    """A trace with one provider, three strings and a thread, 11 of process 10, by index 1."""

    def __init__(self, rate=10**9, names=("c", "outer", "inner")):
        self.data = struct.pack("<Q", MAGIC)
        self.provider(1, "p")
        self.record(1, 0, struct.pack("<Q", rate))
        for index, text in enumerate(names, 1):
            self.record(2, index << 16 | len(text.encode()) << 32, stream(text))
        self.record(3, 1 << 16, struct.pack("<QQ", 10, 11))

    def record(self, kind, bits, contents=b""):
        words = 1 + len(contents) // 8
        self.data += struct.pack("<Q", kind | words << 4 | bits) + contents

    def provider(self, number, name):
        self.record(0, 1 << 16 | number << 20 | len(name) << 52, stream(name))

    def section(self, number):
        self.record(0, 2 << 16 | number << 20)

    def buffer_full(self, number=1):
        self.record(0, 3 << 16 | number << 20)

    @staticmethod
    def arguments(arguments):
        """Each is (type, name, value); the name is inline."""
        data = b""
        for kind, name, value in arguments:
            contents = stream(name)
            bits = (0x8000 | len(name)) << 16
            if kind in (INT32, UINT32):
                bits |= value << 32
            else:
                contents += struct.pack("<Q", value)
            data += struct.pack("<Q", kind | 1 + len(contents) // 8 << 4 | bits) + contents
        return len(arguments), data

    def event(self, kind, time, name=NAME, extra=None, arguments=(), thread=1):
        count, data = self.arguments(arguments)
        data = struct.pack("<Q", time) + data + (b"" if extra is None else struct.pack("<Q", extra))
        self.record(4, kind << 16 | count << 20 | thread << 24 | CATEGORY << 32 | name << 48, data)

    def kernel_object(self, kind, koid, name, arguments=()):
        count, data = self.arguments(arguments)
        data = struct.pack("<Q", koid) + stream(name) + data
        self.record(7, kind << 16 | (0x8000 | len(name)) << 24 | count << 40, data)

    def userspace_object(self, pointer, name, arguments=(), process=10):
        count, data = self.arguments(arguments)
        data = struct.pack("<QQ", pointer, process) + stream(name) + data
        self.record(6, (0x8000 | len(name)) << 24 | count << 40, data)


def full():
    """A provider's buffer was full: an unknown number of records is missing."""
    t = Trace()
    t.buffer_full()
    t.event(COMPLETE, 100, extra=200)
    return t


def full_of_another():
    """The same, told in the section of another provider, and by a provider without records."""
    t = Trace()
    t.event(COMPLETE, 100, extra=200)
    t.provider(2, "q")
    t.buffer_full(1)
    t.buffer_full(3)
    return t


TRACES = {function.__name__: function for function in (full, full_of_another)}

if __name__ == "__main__":
    if sys.argv[1:] == ["names"]:
        print(*TRACES, sep="\n")
    else:
        with open(sys.argv[3], "wb") as file:
            file.write(TRACES[sys.argv[2]]().data)
