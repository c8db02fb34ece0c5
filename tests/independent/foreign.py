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


def ends_first():
    """Slices of two records, whose ends stand before their begins."""
    t = Trace()
    t.event(END, 400)
    t.event(END, 300, INNER)
    t.event(BEGIN, 200, INNER)
    t.event(BEGIN, 100)
    return t


def ends_first_around():
    """The same around a slice of one record, and beside slices in the usual order."""
    t = Trace()
    t.event(END, 200)
    t.event(BEGIN, 100)
    t.event(COMPLETE, 120, INNER, 130)
    for start in range(300, 800, 100):
        t.event(BEGIN, start)
        t.event(INSTANT, start + 10, arguments=[(UINT32, "line", start)])
        t.event(END, start + 50)
    return t


def never_ended():
    """A begin of which the end never came, and one that lies in it."""
    t = Trace()
    t.event(BEGIN, 100)
    t.event(END, 300, INNER)
    t.event(BEGIN, 200, INNER)
    t.event(COMPLETE, 400, INNER, 500)
    return t


def ticks_of_three():
    """A clock with three ticks a nanosecond, and with one tick in three nanoseconds."""
    t = Trace(rate=3 * 10**9)
    t.event(COMPLETE, 3000, extra=6000)
    t.event(COMPLETE, 3300, INNER, 3900)
    t.provider(2, "q")
    t.record(1, 0, struct.pack("<Q", 10**9 // 3))
    for index, text in ((CATEGORY, "c"), (NAME, "slow"), (INNER, "slower")):
        t.record(2, index << 16 | len(text) << 32, stream(text))
    t.record(3, 1 << 16, struct.pack("<QQ", 20, 21))
    t.event(COMPLETE, 500, extra=900)
    t.section(1)
    t.event(COMPLETE, 7000, extra=8000)
    return t


def unknown_kinds():
    """Records of kinds that the format does not have yet: of every type that has kinds, and of unknown types."""
    t = Trace()
    for kind in range(5, 16):
        t.record(0, kind << 16, struct.pack("<Q", kind))
    t.record(0, 4 << 16 | 1 << 20, struct.pack("<Q", 1))
    for kind in range(3, 16):
        t.record(8, kind << 60, struct.pack("<QQ", kind, 2))
    for kind in (10, 11, 12, 13, 14):
        t.record(kind, 0, struct.pack("<Q", kind))
    t.record(15, 1 << 36, struct.pack("<Q", 3))
    t.record(15, 2 << 40, struct.pack("<Q", 4))
    t.event(11, 110)
    t.event(COMPLETE, 100, extra=200)
    return t


def thread_alone():
    """A thread object that does not say its process, and a process object."""
    t = Trace()
    t.kernel_object(PROCESS, 10, "tile")
    t.kernel_object(THREAD, 11, "after")
    t.event(BEGIN, 100)
    t.event(END, 200)
    return t


def starts_together():
    """Slices that start in one nanosecond, the outer one first."""
    t = Trace()
    t.event(COMPLETE, 100, extra=200)
    t.event(COMPLETE, 100, INNER, 150)
    return t


def flow_outside():
    """A flow outside of every slice of its thread."""
    t = Trace()
    t.event(COMPLETE, 100, extra=200)
    t.event(FLOW_BEGIN, 300, extra=7)
    t.event(FLOW_END, 310, extra=7)
    return t


def large():
    """A large record of more words than the others can have."""
    t = Trace()
    t.event(COMPLETE, 100, extra=200)
    t.record(15, 1 << 40, struct.pack("<QQ", CATEGORY | NAME << 16, 40000) + bytes(40000))
    return t


def extended():
    """Words behind the contents of records and of an argument, which the format lets a writer add."""
    t = Trace()
    t.event(COMPLETE, 100, extra=200)
    t.record(4, INSTANT << 16 | 1 << 24 | CATEGORY << 32 | NAME << 48, struct.pack("<QQ", 150, 1))
    t.record(4, INSTANT << 16 | 1 << 20 | 1 << 24 | CATEGORY << 32 | NAME << 48,
             struct.pack("<QQQ", 160, UINT32 | 2 << 4 | INNER << 16 | 5 << 32, 0))
    return t


def objects():
    """Objects with names and without arguments; events point to them by pointers and koids, across providers."""
    t = Trace()
    t.userspace_object(0xabc, "Widget")
    t.userspace_object(0xdef, "Button", [(POINTER, "parent", 0xabc)])
    t.userspace_object(0xabc, "Stranger", process=99)
    t.userspace_object(0x777, "Unused")
    t.kernel_object(17, 500, "port")
    t.event(COMPLETE, 100, extra=200, arguments=[(POINTER, "self", 0xdef), (KOID, "on", 500)])
    t.event(COMPLETE, 300, extra=400, arguments=[(POINTER, "self", 0xabc), (POINTER, "other", 0x999)])
    return t


def pointer_reused():
    """A pointer that means one object, and then another."""
    t = Trace()
    t.userspace_object(0xabc, "First")
    t.event(COMPLETE, 100, extra=200, arguments=[(POINTER, "self", 0xabc)])
    t.userspace_object(0xabc, "Second")
    t.event(COMPLETE, 300, extra=400, arguments=[(POINTER, "self", 0xabc)])
    return t


def described_thread():
    """Process and thread objects with arguments that nobody has asked for, one of them by an indexed text."""
    t = Trace()
    t.kernel_object(PROCESS, 10, "tile", [(UINT32, "cpus", 4)])
    t.kernel_object(THREAD, 11, "after", [(KOID, "process", 10), (UINT32, "priority", 7)])
    t.kernel_object(THREAD, 12, "pointed at")
    t.event(COMPLETE, 100, extra=200, arguments=[(KOID, "wakes", 12)])
    return t


TRACES = {function.__name__: function
          for function in (full, full_of_another, ends_first, ends_first_around, never_ended, ticks_of_three,
                           unknown_kinds, thread_alone, starts_together, flow_outside, large, extended, objects,
                           pointer_reused, described_thread)}

if __name__ == "__main__":
    if sys.argv[1:] == ["names"]:
        print(*TRACES, sep="\n")
    else:
        with open(sys.argv[3], "wb") as file:
            file.write(TRACES[sys.argv[2]]().data)
