#!/usr/bin/env python3
"""Writes a trace of a shape and size, to see how the work of its reader grows: growth.py SHAPE COUNT >trace.fxt

From the format's specification alone, like fxtdecode.py.
"""
import struct
import sys

MAGIC = 0x0016547846040010
FUNCTIONS = 50


def words(*values):
    return struct.pack("<%dQ" % len(values), *values)


def text(value):
    return value + b"\0" * (-len(value) % 8)


def string(index, value):
    return words(2 | 1 + len(text(value)) // 8 << 4 | index << 16 | len(value) << 32) + text(value)


def thread(index, process, koid):
    return words(3 | 3 << 4 | index << 16, process, koid)


def call(name, start, end):
    """A complete event of category 1, on thread 1 of the table."""
    return words(4 | 3 << 4 | 4 << 16 | 1 << 24 | 1 << 32 | name << 48, start, end)


def calls(now):
    """Each function calls the next; the records stand in the order in which the calls end."""
    return b"".join(call(2 + i, now + i, now + 2 * FUNCTIONS - i) for i in reversed(range(FUNCTIONS)))


def names():
    return string(1, b"function") + b"".join(string(2 + i, b"f%d" % i) for i in range(FUNCTIONS))


def processes(count):
    yield names()
    for i in range(count):
        yield thread(1, 1000 + i, 1000 + i) + calls(1000 * (i + 1))


def threads(count):
    yield names()
    for i in range(count):
        yield thread(1, 1000, 1000 + i) + calls(1000 * (i + 1))


def nested(count, name_of, leaf=None):
    """Calls inside of each other, each with a call of the function `leaf` before the next, if there is one."""
    yield names() + thread(1, 1000, 1000)
    for i in range(count if leaf else 0):
        yield call(2 + leaf, 1000 + 3 * i + 1, 1000 + 3 * i + 2)
    for i in reversed(range(count)):
        yield call(2 + name_of(i), 1000 + 3 * i, 1000 + 6 * count - i)


def deep(count):
    """One function inside of itself."""
    return nested(count, lambda i: 0)


def mutual(count):
    """Three functions in turn."""
    return nested(count, lambda i: i % 3)


def visiting(count):
    """One function inside of itself, which calls another one each time."""
    return nested(count, lambda i: 0, leaf=1)


def irregular(count):
    """Functions in an order without a cycle."""
    return nested(count, lambda i: (i * i ^ i >> 3) * 2654435761 % 2**32 >> 16 & 7)


def ladder(count):
    """Each function calls the next one: none is inside of itself, as long as there are names."""
    functions = min(count, 32000)
    yield string(1, b"function") + b"".join(string(2 + i, b"step_%d" % i) for i in range(functions))
    yield thread(1, 1000, 1000)
    for i in reversed(range(count)):
        yield call(2 + i % functions, 1000 + i, 1000 + 2 * count - i)


def messages(count):
    """A rank of MPI whose one thread sends in no call of MPI, while the other makes such calls."""
    yield string(1, b"mpi") + string(2, b"MPI_Send") + string(3, b"rank") + thread(1, 1000, 1000) + thread(2, 1000, 1001)
    yield words(7 | 3 << 4 | 1 << 16 | 2 << 24 | 1 << 40, 1000, 2 | 1 << 4 | 3 << 16 | 5 << 32)
    for i in range(count):
        yield words(4 | 3 << 4 | 8 << 16 | 1 << 24 | 1 << 32 | 2 << 48, 1000 + i, 1 << 63 | i)
    for i in range(count):
        yield words(4 | 3 << 4 | 4 << 16 | 2 << 24 | 1 << 32 | 2 << 48, 1000 + 2 * i, 1001 + 2 * i)


SHAPES = {shape.__name__: shape
          for shape in (processes, threads, deep, mutual, visiting, irregular, ladder, messages)}

shape, size = SHAPES[sys.argv[1]], int(sys.argv[2])
sys.stdout.buffer.write(words(MAGIC) + words(1 | 2 << 4, 10**9) + b"".join(shape(size)))
