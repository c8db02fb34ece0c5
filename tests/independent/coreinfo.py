#!/usr/bin/env python3
"""coreinfo.py CORE: the signal of an x86-64 or aarch64 core file and where its thread was: number and code of the
siginfo, the last 12 bits of its address (those that no address space layout changes; of a fault alone), and of the
program counter."""
import struct
import sys


def notes(core):
    at, = struct.unpack_from("<Q", core, 32)
    count, = struct.unpack_from("<H", core, 56)
    for i in range(count):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", core, at + 56 * i)
        end = offset + size
        while kind == 4 and offset < end:
            name, bytes_, note = struct.unpack_from("<III", core, offset)
            offset += 12 + (name + 3 & ~3)
            yield note, core[offset:offset + bytes_]
            offset += bytes_ + 3 & ~3


core = open(sys.argv[1], "rb").read()
machine, = struct.unpack_from("<H", core, 18)
seen = set()
for note, data in notes(core):
    if note in seen:  # of the thread that died, which comes first
        continue
    seen.add(note)
    if note == 0x53494749:
        number, _, code = struct.unpack_from("<3i", data)
        address, = struct.unpack_from("<Q", data, 16)
        print("signal", number, code, hex(address & 0xfff) if code > 0 else "-")
    elif note == 1:
        register = 16 if machine == 62 else 32
        print("at", hex(struct.unpack_from("<34Q" if machine != 62 else "<27Q", data, 112)[register] & 0xfff))
