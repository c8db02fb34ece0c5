#!/usr/bin/env python3
"""The heap of a trace, by an independent decoder: the truth that the tests hold against `fxt heap` and the agent.

Written from the text of the format, and from the description of protocol buffers and of Perfetto's trace packets; it
shares nothing with the writer or the reader of this project.

    heapdecode.py blocks TRACE     pointer, size, function, path, start and end in ns ("" = never freed), tab-separated
    heapdecode.py books TRACE FUNCTION...
                                   what the blocks allocated by these functions come to, as tests/programs/heap/script
                                   prints its books
    heapdecode.py peak TRACE       blocks and bytes allocated, bytes at the peak, blocks and bytes leaked
    heapdecode.py counters TRACE   whether every counter of live objects agrees with the blocks at its own time
    heapdecode.py curve TRACE      bytes and blocks that live, at each moment at which that changes
    heapdecode.py sums TRACE       time in ns and value of each series of all counters, by time and value
    heapdecode.py live TRACE       process, live bytes and objects of each process's last counters, and the least of each
    heapdecode.py objects TRACE    of each allocation and free: name, size, path, and the bytes of its records; all but the last
                                   as the object says that its pointer leads to, "?" if there is none
    heapdecode.py sampled TRACE    blocks and bytes allocated, estimated from the sizes of those sampled
    heapdecode.py profiles TRACE   the heap profiles embedded for the Perfetto UI: process, heap, time, path, live bytes, blocks

Several commands, with commas, print one after the other; a large trace is decoded once then.
"""

import bisect
import collections
import itertools
import math
import struct
import sys

MARK_BYTES = 1000000
MARKS = 100
DISORDER = 100000  # ns by which clocks of two processors may seem out of order
EARLY = 1000       # ns by which a free may seem to be earlier than the allocation of its own block
INTERRUPTED = 4    # threads that may stand between an event and its count


class Provider:
    def __init__(self):
        self.rate, self.strings, self.threads = 10**9, {}, {}


class Heap:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.words = struct.unpack(f"<{len(self.data) // 8}Q", self.data[:len(self.data) // 8 * 8])
        self.nodes, self.events, self.counters, self.packets, self.sample_bytes = {}, [], [], b"", {}
        self.objects, self.pointed = {}, []
        providers, provider, at, pending = {}, Provider(), 0, None
        while at < len(self.words):
            header = self.words[at]
            if header & 0xFFFFFF == 0x40034:  # a plain call
                at += 3
                continue
            kind, size = header & 15, header >> 4 & (0xFFFFFFFF if header & 15 == 15 else 0xFFF)
            self.at, self.provider = at + 1, provider
            if kind == 0 and header >> 16 & 15 in (1, 2):
                number = header >> 20 & 0xFFFFFFFF
                if header >> 16 & 15 == 1:
                    providers[number] = Provider()
                provider = providers[number]
            elif kind == 1:
                provider.rate = self.words[at + 1]
            elif kind == 2:
                provider.strings[header >> 16 & 0x7FFF] = self.text(header >> 32 & 0x7FFF)
            elif kind == 3:
                provider.threads[header >> 16 & 0xFF] = self.words[at + 1:at + 3]
            elif kind == 5 and header >> 48 & 0xFF == 3:
                self.string(header >> 16 & 0xFFFF)
                self.packets += self.data[self.at * 8:self.at * 8 + (header >> 32 & 0x7FFF)]
            elif kind == 6:
                pending = self.object(header)
            elif kind == 4:
                self.event(header, pending)
            elif kind == 15 and header >> 40 & 15 == 0:
                self.sums(self.word())
            at += size

    def word(self):
        self.at += 1
        return self.words[self.at - 1]

    def text(self, size):
        at, self.at = self.at, self.at + (size + 7) // 8
        return self.data[at * 8:at * 8 + size].decode()

    def string(self, ref):
        return self.text(ref & 0x7FFF) if ref & 0x8000 else self.provider.strings.get(ref, "")

    def arguments(self, count):
        found = {}
        for _ in range(count):
            end, header = self.at, self.word()
            end += header >> 4 & 0xFFF
            name, kind = self.string(header >> 16 & 0xFFFF), header & 15
            if kind in (3, 4, 7, 8):
                found[name] = self.word()
            elif kind == 6:
                found[name] = self.string(header >> 32 & 0xFFFF)
            else:
                found[name] = header >> 32
            if kind == 3:
                found[name] -= (found[name] >> 63) << 64
            self.at = end
        return found

    def object(self, header):
        pointer, ref = self.word(), header >> 16 & 0xFF
        process = self.provider.threads[ref][0] if ref else self.word()
        name = self.string(header >> 24 & 0xFFFF)
        arguments = self.arguments(header >> 40 & 15)
        if pointer >> 63:
            self.nodes[self.provider, pointer] = name, arguments.get("parent", 0)
        self.objects[process, pointer] = name, arguments, header >> 4 & 0xFFF
        return process, pointer, name, arguments

    def event(self, header, pending):
        kind, ref = header >> 16 & 15, header >> 24 & 0xFF
        ns = self.word() * 10**9 // self.provider.rate
        process, thread = self.provider.threads[ref] if ref else (self.word(), self.word())
        category, name = self.string(header >> 32 & 0xFFFF), self.string(header >> 48)
        if category != "heap":
            return
        arguments = self.arguments(header >> 20 & 15)
        if name == "recorded":
            self.sample_bytes[process] = arguments.get("sample_bytes", 0)
        else:
            self.pointed.append((name, self.provider, process, arguments["pointer"], header >> 4 & 0xFFF,
                                 self.objects.get((process, arguments["pointer"]))))
        if name == "allocate":
            if "path" in arguments:
                path = arguments["path"] and arguments["path"] | 1 << 63
            else:  # in older traces an object has it, or even the size
                assert pending[:2] == (process, arguments["pointer"]), "an allocation without its object"
                path = pending[3]["path"]
                arguments = pending[3] | arguments
            block = arguments["size"], (self.provider, path)
            self.events.append((process, ns, len(self.events), arguments["pointer"], block, thread))
        elif name == "free":
            self.events.append((process, ns, len(self.events), arguments["pointer"], None, thread))

    def sums(self, form):
        """The sums of live blocks, in the metadata of a large blob."""
        category, name = self.string(form & 0xFFFF), self.string(form >> 16 & 0xFFFF)
        ns = self.word() * 10**9 // self.provider.rate
        process, _ = self.provider.threads[form >> 36 & 0xFF] if form >> 36 & 0xFF else (self.word(), self.word())
        if (category, name) == ("heap", "heap"):
            arguments = self.arguments(form >> 32 & 15)
            self.counters.append((process, ns, arguments["live bytes"], arguments["live objects"]))

    def function(self, path):
        return self.nodes[path][0] if path[1] else ""

    def path(self, path):
        provider, node = path
        names = []
        while node:
            name, node = self.nodes[provider, node]
            names.append(name)
        return ";".join(reversed(names)) or "(call path unknown)"

    def blocks(self):
        """[process, pointer, size, function, path, start, end or None] in order of start."""
        blocks, live, owed, dead, early = [], {}, {}, set(), {}
        for process, ns, _, pointer, block, thread in sorted(self.events, key=lambda event: event[:3]):
            place = process, pointer
            if block:
                if place in live:
                    live[place][6], owed[place] = ns, ns + DISORDER
                size, path = block
                live[place] = [process, pointer, size, self.function(path), path, ns, None]
                blocks.append(live[place])
                until, by = early.pop(place, (0, 0))
                if ns < until and thread != by:
                    live.pop(place)[6] = ns
            elif owed.pop(place, 0) <= ns:
                if place in live:
                    live.pop(place)[6] = ns
                    dead.add(place)
                elif place in dead:
                    early[place] = ns + EARLY, thread
        return blocks

    def live(self, blocks, ns):
        return [block for block in blocks if block[5] <= ns and (block[6] is None or block[6] > ns)]


def books(heap, functions):
    blocks = heap.blocks()
    own = [block for block in blocks if block[3] in functions]
    marks = sorted((block[2] - MARK_BYTES, block[5]) for block in blocks
                   if MARK_BYTES <= block[2] < MARK_BYTES + MARKS)
    leaked = [block for block in own if block[6] is None]
    print("allocated", len(own), sum(block[2] for block in own))
    print("freed", len(own) - len(leaked))
    for number, ns in marks:
        live = heap.live(own, ns)
        print("checkpoint", number, len(live), sum(block[2] for block in live))
    print("leaked", len(leaked), sum(block[2] for block in leaked))


def objects(heap):
    for name, provider, process, pointer, words, found in heap.pointed:
        if found:
            function, arguments, own = found
            path, words = arguments["path"], words + (own if name == "allocate" else 0)
            assert not path or heap.objects[process, path][0] == function, "a path that leads to another function"
            print(name, function, arguments["size"], heap.path((provider, path)), 8 * words, sep="\t")
        else:
            print(name, "?", "?", "?", 8 * words, sep="\t")


def peak(heap):
    """Live bytes at the peak, over all blocks; and how many were allocated, and never freed, with their bytes."""
    blocks, live, most = heap.blocks(), 0, 0
    ends = [(block[6], 0, -block[2]) for block in blocks if block[6] is not None]
    for _, _, size in sorted(ends + [(block[5], 1, block[2]) for block in blocks]):
        live += size
        most = max(most, live)
    leaked = [block[2] for block in blocks if block[6] is None]
    print(len(blocks), sum(block[2] for block in blocks), most, len(leaked), sum(leaked))


def counters(heap):
    """The sums behind a counter were read within a millisecond from its time on."""
    times, counts, live = [0], [0], 0
    for _, ns, _, _, block, _ in sorted(heap.events, key=lambda event: event[:3]):
        live += 1 if block else -1
        times.append(ns)
        counts.append(live)
    wrong = 0
    for number, (_, ns, _, objects) in enumerate(heap.counters):
        first, last = bisect.bisect_right(times, ns) - 1, bisect.bisect_right(times, ns + 1000000)
        near = counts[first:last]
        slack = 0 if number == len(heap.counters) - 1 else INTERRUPTED
        if not min(near) - slack <= objects <= max(near) + slack:
            wrong += 1
            print(f"counter {number} at {ns} ns says {objects} objects, the records {min(near)} to {max(near)}")
    print(len(heap.counters), "counters,", wrong, "wrong")
    sys.exit(wrong > 0 or not heap.counters)


def curve(heap):
    live, moments = [0, 0], {}
    blocks = heap.blocks()
    for ns, sign, size in sorted([(b[5], 1, b[2]) for b in blocks] + [(b[6], -1, b[2]) for b in blocks if b[6] is not None]):
        live = moments[ns] = [live[0] + sign * size, live[1] + sign]
    for values, _ in itertools.groupby(moments[ns] for ns in sorted(moments)):
        print(*values, sep="\t")


def sums(heap):
    for at, value in sorted((ns, value) for _, ns, *values in heap.counters for value in values):
        print(at, value, sep="\t")


def live(heap):
    of = collections.defaultdict(list)
    for process, _, *values in heap.counters:
        of[process].append(values)
    for process, values in of.items():
        print(process, *values[-1], *map(min, zip(*values)))


def sampled(heap):
    count = total = 0
    for process, _, size, *_ in heap.blocks():
        weight = 1 / -math.expm1(-size / heap.sample_bytes[process])
        count, total = count + weight, total + weight * size
    print(f"{count:.0f} {total:.0f}")


# ---- protocol buffers ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """The (number, value) of a message's fields; bytes for those that have a length."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a field is cut off"
        else:
            raise AssertionError(f"field of wire type {key & 7}")
        yield key >> 3, value


def message(data):
    """Field number -> list of values."""
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def profiles(heap):
    names, frames, stacks, snapshot, sequences = {}, {}, {}, False, {}
    continued = collections.defaultdict(list)
    for number, packet in fields(heap.packets):
        assert number == 1, "something else than a packet"
        packet = message(packet)
        snapshot |= 6 in packet
        if 37 not in packet and 12 not in packet:
            continue
        assert snapshot, "a profile before the clock snapshot: the viewer drops it"
        sequence = packet[10][0]
        assert sequence and packet[13][0] == (2 if sequence in sequences else 1)
        sequences.setdefault(sequence, 0)
        for interned in map(message, packet[12]):
            for name in map(message, interned[5]):
                names[sequence, name[1][0]] = name[2][0].decode()
            mappings = {(sequence, message(m)[1][0]) for m in interned[19]}
            for frame in map(message, interned[6]):
                frames[sequence, frame[1][0]] = names[sequence, frame[2][0]]
                assert frame[3], "a frame without a mapping"
            for stack in map(message, interned[7]):
                ids = [i for value in stack[2] for i in ([value] if isinstance(value, int) else unpack(value))]
                stacks[sequence, stack[1][0]] = ";".join(frames[sequence, i] for i in ids)
            del mappings
        for profile in map(message, packet[37]):
            index = profile[7][0]
            for dump in map(message, profile[5]):
                name = dump[11][0].decode()
                assert "'" not in name and ":" not in name
                continued[sequence].append((dump[1][0], name, dump[9][0], [
                    (stacks[sequence, s[1][0]], s[2][0] - (s[3] or [0])[0], s[5][0] - (s[6] or [0])[0])
                    for s in map(message, dump[2])]))
            assert index == sequences[sequence], "an index out of turn"
            sequences[sequence] += 1
    for sequence in sorted(continued):
        dumps = collections.defaultdict(list)
        for process, name, ns, samples in continued[sequence]:
            dumps[process, name, ns] += samples
        for (process, name, ns), samples in sorted(dumps.items()):
            for path, size, count in sorted(samples):
                print(process, name, ns, path, size, count, sep="\t")


def unpack(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def main():
    heap = Heap(sys.argv[2])
    for command in sys.argv[1].split(","):
        if command == "blocks":
            for _, pointer, size, function, path, start, end in heap.blocks():
                print(hex(pointer), size, function, heap.path(path), start, end or "", sep="\t")
        elif command == "books":
            books(heap, sys.argv[3:])
        else:
            {"peak": peak, "counters": counters, "curve": curve, "live": live, "sums": sums, "sampled": sampled, "objects": objects,
             "profiles": profiles}[command](heap)


main()
