#!/usr/bin/env python3
"""Changes what a trace says of the clocks it was recorded by, as if it came from elsewhere.

    strip IN OUT          takes the anchors out, as of a recorder that writes none
    boot IN OUT NS        another boot, whose CLOCK_MONOTONIC is so many ns further
    word IN OUT N VALUE   the N-th word of all anchors, from 0, is this value
"""
import struct
import sys

NAME = b"fxt:anchor"


def main():
    what, source, target = sys.argv[1:4]
    data = open(source, "rb").read()
    out, at = bytearray(), 0
    while at < len(data):
        header = struct.unpack_from("<Q", data, at)[0]
        bits = 32 if header & 15 == 15 else 12
        size = 8 * (header >> 4 & (1 << bits) - 1)
        record = bytearray(data[at : at + size])
        at += size
        if header & 15 != 5 or record[8 : 8 + len(NAME)] != NAME:
            out += record
        elif what == "boot":
            # clock, ticks, monotonic_ns, realtime_ns, width_ticks, boot, and the namespaces
            monotonic = struct.unpack_from("<Q", record, 24 + 16)[0]
            struct.pack_into("<Q", record, 24 + 16, monotonic + int(sys.argv[4]))
            record[24 + 40] ^= 0xFF
            out += record
        elif what == "word":
            struct.pack_into("<Q", record, 24 + 8 * int(sys.argv[4]), int(sys.argv[5], 0))
            out += record
    open(target, "wb").write(out)


main()
