#!/usr/bin/env python3
"""An independent decoder of the Fuchsia trace format: the truth that the tests hold against this project.

Written from the text of the format alone; it shares nothing with the writer or the reader of this project.
Several traces can be given; each is a world of its own.

    fxtdecode.py calls TRACE    process, thread, function and number of calls, a line each, tab-separated
    fxtdecode.py threads TRACE  process id, thread id, process, thread
    fxtdecode.py slices TRACE   process id, thread id, category, name, start and end in ns, a slice a line by start on
                                each thread, tab-separated; a slice that was left open has no end
    fxtdecode.py times TRACE    the same slices, with start and duration in ns, each rounded down once
    fxtdecode.py report TRACE   process id, thread id, "function" or "other", name, number of slices, of these never ended,
                                and in ns the total, the time of their own, the shortest, the longest and the sum, tab-separated
    fxtdecode.py whole TRACE    function, number of calls, how many of these were left out of the trace and told as sums, and
                                in ns the total and the time of their own of all, tab-separated, over all threads
    fxtdecode.py paths TRACE    the same, with the names of all slices around before each name, outermost first, and
                                semicolons between them
    fxtdecode.py cpu TRACE      thread id, ns it ran, ns it could have run, ns it waited, and how often it was switched
                                away, a thread a line, tab-separated; from its first context switch to its end or
                                its last one
    fxtdecode.py lives TRACE    thread id, and ns from its first context switch to the one that ended it, as far as they are
                                between the first event of the trace and its last one, page faults apart; tab-separated
    fxtdecode.py switches TRACE thread id, ns it came to a CPU, ns it left it, a line each by thread and time, tab-separated
    fxtdecode.py check TRACE    what breaks the format or would be lost in a viewer, by cause, with a count

`check` prints every cause, also those with 0, and exits with 1 if any is not 0. Causes without a prefix are the
import statistics of Perfetto's trace processor, whose treatment of slices and flows is modelled here; those with
"format:" break the format, and those with "calls:" break what this project promises beyond it:
  calls:start_not_increasing   two slices of a thread begin in the same nanosecond (or the outer one later)
  calls:left_open              calls that begin and do not end; a wait that lasts when its process's recording stops, and the calls
                               around it, may
  calls:records_lost           buffer-full events, those of context switches apart, and slices that say that records were lost
  cpu:thread_on_two            a thread comes to a CPU while it runs on one
  cpu:two_threads              a thread comes to a CPU where another one runs
"""

import array
import bisect
import collections
import re
import struct
import sys

MAGIC = 0x0016547846040010
COMPLETE_INDEXED = 0x40034  # header bits 0-23 of a Duration Complete event of 3 words, no arguments
WORD = (1 << 64) - 1
NS_LIMIT = 1 << 63
CALL_CATEGORY = "function"
INHERITED_CATEGORY = "inherited"  # of a forked child: calls that its parent was inside of, and that count there
MAX_DEPTH = 512  # slices a thread may nest in the viewer

# Bits of the header word that must be zero, by record type; event and scheduling headers
# are full.
RESERVED = {1: 0xFFFFFFFFFFFF0000, 2: 0xFFFF800080000000, 3: 0xFFFFFFFFFF000000, 5: 0xFF00800000000000,
            6: 0xFFFFF00000000000, 7: 0xFFFFF00000000000, 9: 0xFFFFFF0080000000}

STATISTICS = """fuchsia_invalid_string_ref fuchsia_timestamp_overflow fuchsia_record_read_error
fuchsia_non_numeric_counters fuchsia_invalid_event_arg_type fuchsia_invalid_event
slice_drop_overlapping_complete_event slice_max_depth_exceeded misplaced_end_event flow_no_enclosing_slice
flow_duplicate_id flow_step_without_start flow_end_without_start
format:no_magic format:record_of_size_0 format:truncated_tail format:unknown_record format:reserved_bits
format:padding_not_zero format:not_utf8 format:index_0 format:unknown_thread_ref format:end_without_begin
format:large_record_desynchronises_viewer format:record_longer
calls:start_not_increasing calls:left_open calls:records_lost
cpu:thread_on_two cpu:two_threads""".split()


class ShortRecord(Exception):
    """A record, or an argument, ends before its contents do."""


class Cursor:
    """Reads the atoms of one record."""

    def __init__(self, trace, at, end):
        self.trace, self.at, self.end = trace, at, end

    def word(self):
        if self.at >= self.end:
            raise ShortRecord
        self.at += 1
        return self.trace.words[self.at - 1]

    def stream(self, size):
        words = (size + 7) // 8
        if self.at + words > self.end:
            raise ShortRecord
        data = self.trace.data[self.at * 8:(self.at + words) * 8]
        self.at += words
        if any(data[size:]):
            self.trace.count["format:padding_not_zero"] += 1
        return data[:size]

    def text(self, size):
        data = self.stream(size)
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.trace.count["format:not_utf8"] += 1
            return data.decode(errors="replace")

    def string(self, ref, provider):
        if ref & 0x8000:
            return self.text(ref & 0x7FFF)
        if ref and ref not in provider.strings:
            self.trace.count["fuchsia_invalid_string_ref"] += 1
        return provider.strings.get(ref, "")

    def thread(self, ref, provider):
        if ref == 0:
            return (self.word(), self.word())
        if ref not in provider.threads:
            self.trace.count["format:unknown_thread_ref"] += 1
        return provider.threads.get(ref, (0, 0))

    def argument(self, provider):
        """The (name, type, value) of the next argument."""
        start, header = self.at, self.word()
        kind, size = header & 15, header >> 4 & 0xFFF
        whole, self.end = self.end, min(self.end, start + size)
        name, value = self.string(header >> 16 & 0xFFFF, provider), header >> 32
        if kind in (3, 4, 7, 8):
            value = self.word()
        elif kind == 5:
            value = struct.unpack("<d", struct.pack("<Q", self.word()))[0]
        elif kind == 6:
            value = self.string(value & 0xFFFF, provider)
        elif kind == 10:
            value = self.stream(value)
        if kind in (1, 3):
            bits = 32 if kind == 1 else 64
            value -= (value >> bits - 1) << bits
        if start + size > whole or size == 0:
            raise ShortRecord
        self.at, self.end = start + size, whole
        return name, kind, value


class Provider:
    def __init__(self, name):
        self.name, self.rate, self.strings, self.threads = name, 10**9, {}, {}
        self.lists = {}  # header bits 24-63 of a plain call -> what it appends to; valid until a table changes


class Trace:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.words = array.array("Q", self.data[:len(self.data) // 8 * 8])
        if sys.byteorder != "little":
            self.words.byteswap()
        self.count = collections.Counter()
        self.timeline = collections.defaultdict(list)  # (process, thread) -> [(ns, end or kind, category, name, id)]
        self.switches_lost = False
        self.switches = []                             # (ns, CPU, thread that leaves, its state, thread that comes)
        self.moments = array.array("Q")                # of events that are no slices, in ns
        self.names = {}                                # (process, thread or None) -> name
        self.providers, self.provider = {}, None
        self.order = 0
        self.rate, self.last_instant, self.killed = None, 0, []  # killed: (process, ns)
        self.stops = []                                # (process, ns): its recording stopped
        self.left_out = []                             # arguments of the events that tell of calls left out
        self.read()

    # ---- records ----

    def read(self):
        words, end, at = self.words, len(self.words), 0
        if not end or words[0] != MAGIC:
            self.count["format:no_magic"] += 1
        if len(self.data) % 8:
            self.count["format:truncated_tail"] += 1
        while at < end:
            header = words[at]
            if header & 0xFFFFFF == COMPLETE_INDEXED and self.provider and at + 3 <= end:
                call = self.provider.lists.get(header >> 24)
                if call:
                    self.plain_call(call, words[at + 1], words[at + 2])
                    at += 3
                    continue
            large = header & 15 == 15
            size = header >> 4 & (0xFFFFFFFF if large else 0xFFF)
            if size == 0:
                self.count["format:record_of_size_0"] += 1
                return
            if at + size > end:
                self.count["format:truncated_tail"] += 1
                return
            if large and size > 0xFFF:
                self.count["format:large_record_desynchronises_viewer"] += 1
            try:
                self.record(header, Cursor(self, at + 1, at + size))
            except ShortRecord:
                self.count["fuchsia_record_read_error"] += 1
            at += size

    def record(self, header, cursor):
        kind = header & 15
        if header & RESERVED.get(kind, 0):
            self.count["format:reserved_bits"] += 1
        if kind == 0:
            self.metadata(header, cursor)
            return
        # A blob needs no provider: the viewer reads those of its own kind, and no others,
        # wherever they stand.
        if self.provider is None and kind != 5:
            self.count["fuchsia_invalid_event"] += 1
            return
        read = {1: self.initialization, 2: self.string, 3: self.thread, 4: self.event, 5: self.blob,
                6: self.userspace_object, 7: self.kernel_object, 8: self.scheduling, 9: self.log,
                15: self.large}.get(kind)
        if read:
            read(header, cursor, self.provider)
            if cursor.at < cursor.end:
                self.count["format:record_longer"] += 1
        else:
            self.count["format:unknown_record"] += 1

    def metadata(self, header, cursor):
        kind, number = header >> 16 & 15, header >> 20 & 0xFFFFFFFF
        if kind == 1:
            self.provider = self.providers[number] = Provider(cursor.text(header >> 52 & 0xFF))
        elif kind == 2:
            self.provider = self.providers.get(number)
        elif kind == 3 and header >> 52 & 15 == 0:
            # A loaded machine may lose context switches, and then a thread may be where it
            # cannot be.
            if number in self.providers and self.providers[number].name == "scheduler":
                self.switches_lost = True
            else:
                self.count["calls:records_lost"] += 1
        elif kind not in (3, 4):
            self.count["format:unknown_record"] += 1

    def initialization(self, _, cursor, provider):
        provider.rate = cursor.word()
        provider.lists.clear()

    def string(self, header, cursor, provider):
        index, text = header >> 16 & 0x7FFF, cursor.text(header >> 32 & 0x7FFF)
        if index == 0:
            self.count["format:index_0"] += 1
        else:
            provider.strings[index] = text
            provider.lists.clear()

    def thread(self, header, cursor, provider):
        index = header >> 16 & 0xFF
        if index == 0:
            self.count["format:index_0"] += 1
        else:
            provider.threads[index] = (cursor.word(), cursor.word())
            provider.lists.clear()

    def event(self, header, cursor, provider):
        kind, count = header >> 16 & 15, header >> 20 & 15
        ns = self.ns(cursor.word(), provider)
        thread = cursor.thread(header >> 24 & 0xFF, provider)
        category = cursor.string(header >> 32 & 0xFFFF, provider)
        name = cursor.string(header >> 48, provider)
        arguments = [cursor.argument(provider) for _ in range(count)]
        extra = cursor.word() if kind in (1, 4, 5, 6, 7, 8, 9, 10) else None
        if kind not in (2, 3, 4) and ns is not None and (category, name) != ("sched", "page fault"):
            self.moments.append(ns)
        if kind > 10:
            self.count["format:unknown_record"] += 1
        if kind == 1:
            self.count["fuchsia_non_numeric_counters"] += sum(a[1] not in (1, 2, 3, 4, 5) for a in arguments)
        if kind == 4:
            extra = self.ns(extra, provider)
            if extra is not None and ns is not None and extra < ns:
                extra = None
        if ns is None or (kind == 4 and extra is None):
            self.count["fuchsia_timestamp_overflow"] += 1
            return
        if kind != 0 or category != "sched":  # what the kernel tells of threads makes no trace longer
            self.last_instant = max(self.last_instant, ns)
        if kind == 0 and (category, name) in (("process", "killed"), ("fxt", "process ends"), ("fxt", "recording stops")):
            self.killed.append((thread[0], ns))
            if name == "recording stops":
                self.stops.append((thread[0], ns))
        if kind == 0 and (category, name) == ("fxt", "fxt: calls left out"):
            self.left_out.append({key: value for key, _, value in arguments})
        if category == "fxt" and any(argument[0] == "records" for argument in arguments):
            name = re.sub(r"^fxt: \d+ records", "fxt: records", name)
        if kind in (2, 3, 4, 8, 9, 10):
            self.timeline[thread].append((ns, kind, extra, category, name))
        if kind == 4 and count == 0 and not (header >> 24 & 0xFF == 0 or header >> 32 & 0x8000 or header >> 63):
            rate = provider.rate
            provider.lists[header >> 24] = (self.timeline[thread].append, (10**9 << 32) // rate, rate, category, name)

    def plain_call(self, call, start, end):
        append, high, rate, category, name = call
        start = (start >> 32) * high + (start & 0xFFFFFFFF) * 10**9 // rate
        end = (end >> 32) * high + (end & 0xFFFFFFFF) * 10**9 // rate
        if start <= end < NS_LIMIT:
            append((start, 4, end, category, name))
        else:
            self.count["fuchsia_timestamp_overflow"] += 1

    @staticmethod
    def ns(ticks, provider):
        """As the viewer converts, in two halves; None if it refuses."""
        if provider.rate == 0:
            return None
        ns = (ticks >> 32) * ((10**9 << 32) // provider.rate) + (ticks & 0xFFFFFFFF) * 10**9 // provider.rate
        return ns if ns < NS_LIMIT else None

    def blob(self, header, cursor, provider):
        cursor.string(header >> 16 & 0xFFFF, provider)
        cursor.stream(header >> 32 & 0x7FFF)

    def userspace_object(self, header, cursor, provider):
        cursor.word()
        if header >> 16 & 0xFF == 0:
            cursor.word()
        cursor.string(header >> 24 & 0xFFFF, provider)
        for _ in range(header >> 40 & 15):
            cursor.argument(provider)

    def kernel_object(self, header, cursor, provider):
        kind, koid = header >> 16 & 0xFF, cursor.word()
        name = cursor.string(header >> 24 & 0xFFFF, provider)
        arguments = [cursor.argument(provider) for _ in range(header >> 40 & 15)]
        process = [value for key, type_, value in arguments if key == "process" and type_ == 8]
        if kind == 1:
            self.names[koid, None] = name
        elif kind == 2 and process:
            self.names[process[0], koid] = name
        elif kind == 2:
            self.count["fuchsia_invalid_event_arg_type"] += 1

    def scheduling(self, header, cursor, provider):
        kind, ns = header >> 60, self.ns(cursor.word(), provider)
        if ns is None:
            self.count["fuchsia_timestamp_overflow"] += 1
        if kind == 0:
            for ref in (header >> 28 & 0xFF, header >> 36 & 0xFF):
                cursor.thread(ref, provider)
        elif kind in (1, 2):
            threads = [cursor.word() for _ in range(3 - kind)]
            weights = {}
            for _ in range(header >> 16 & 15):
                name, type_, value = cursor.argument(provider)
                weights[name] = value
                if name.endswith("weight") and type_ != 1:
                    self.count["fuchsia_invalid_event_arg_type"] += 1
            if kind == 1 and ns is not None:
                idle = [weights.get(name) == -1 << 31 for name in ("outgoing_weight", "incoming_weight")]
                leaves, comes = (None if nobody else thread for thread, nobody in zip(threads, idle))
                self.switches.append((ns, header >> 20 & 0xFFFF, leaves, header >> 36 & 15, comes))
        else:
            self.count["format:unknown_record"] += 1

    def log(self, header, cursor, provider):
        cursor.word()
        cursor.thread(header >> 32 & 0xFF, provider)
        cursor.text(header >> 16 & 0x7FFF)

    def large(self, header, cursor, provider):
        if header >> 36 & 15 or header >> 40 & 15 > 1:
            self.count["format:unknown_record"] += 1
            return
        form = cursor.word()
        cursor.string(form & 0xFFFF, provider)
        cursor.string(form >> 16 & 0xFFFF, provider)
        if header >> 40 & 15 == 0:
            cursor.word()
            cursor.thread(form >> 36 & 0xFF, provider)
            for _ in range(form >> 32 & 15):
                cursor.argument(provider)
        cursor.stream(cursor.word())

    # ---- what comes of them ----

    def thread_name(self, thread):
        process = self.names.get((thread[0], None), "")
        return process, self.names.get(thread, "")

    def calls(self):
        """Counter of (process name, thread name, function) over complete and begun calls."""
        calls = collections.Counter()
        for thread, events in self.timeline.items():
            names = self.thread_name(thread)
            for (category, name), number in collections.Counter(
                    (event[3], event[4]) for event in events if event[1] in (2, 4)).items():
                if category == CALL_CATEGORY:
                    calls[names + (name,)] += number
        return calls

    def slices(self):
        """The slices of each thread, by start: (process, thread, category, name, start, end or "")."""
        for thread, events in sorted(self.timeline.items()):
            slices, open_ = [], []
            for ns, kind, extra, category, name in sorted(events, key=lambda event: event[0]):
                if kind in (2, 4):
                    slices.append([*thread, category, name, ns, extra if kind == 4 else ""])
                if kind == 2:
                    open_.append(slices[-1])
                elif kind == 3 and open_:
                    open_.pop()[-1] = ns
            yield from slices

    def report(self, by_path=False):
        """{(process, thread, is it a call, name): [slices, never ended, total, self, shortest, longest, sum, median,
        90th and 99th percentile, self on a CPU]}, ns or ticks.

        A slice is inside the innermost one that begins no later and ends no earlier; of two with the same times the
        outer one stands later in the file. One that never ended lasts until its process was killed, or the trace ends.
        From calls, what the tracer made their thread wait is taken off. Percentiles are of nearest rank. By path, a name
        is that of a slice and of all around it, and nothing is taken off. What is inherited is no slice, but a part of
        paths, with the time of what is inside of it.
        """
        last = max((max(event[0], event[2] if event[1] == 4 else 0)
                    for events in self.timeline.values() for event in events), default=0)
        last = max(last, self.last_instant)
        sums, ran = {}, {}  # ran: thread -> ([when it came to a CPU], [when it left], [how long it had run before])
        for thread, start, end in self.stays():
            starts, ends, before = ran.setdefault(thread, ([], [], [0]))
            starts.append(start)
            ends.append(end)
            before.append(before[-1] + end - start)
        for thread, events in self.timeline.items():
            slices, begun = [], []
            for place, (time, kind, extra, category, name) in sorted(
                    enumerate(events), key=lambda event: (event[1][0], event[0])):
                if kind == 4:
                    slices.append([time, extra, place, category, name, False])
                elif kind == 2:
                    begun.append([time, None, place, category, name, False])
                elif kind == 3 and begun:
                    slices.append(begun.pop())
                    slices[-1][1] = time
            for open_ in begun:
                over = [time for process, time in self.killed if process == thread[0] and time >= open_[0]]
                slices.append([open_[0], over[0] if over else last, *open_[2:5], True])
            slices.sort(key=lambda slice_: (slice_[0], -slice_[1], -slice_[2]))
            stack = []  # [end, key, start, time of slices inside, of that the tracer's waits at any depth, ran inside]
            for start, end, _, category, name, never_ended in slices:
                while stack and stack[-1][0] < end:
                    self.leave(stack, sums, ran.get(thread[1]), by_path)
                if (category, name) == ("fxt", "fxt: waited") and not by_path:
                    for outer in stack:
                        outer[4] += end - start if outer[1][2] else 0
                if by_path and stack:
                    name = f"{stack[-1][1][3]};{name}"
                if category == INHERITED_CATEGORY:
                    stack.append([end, (*thread, None, name), start, 0, 0, 0])
                    continue
                key = (*thread, category not in ("fxt", "process", "sync"), name)
                sum_ = sums.setdefault(key, [0, 0, 0, 0, [], 0])
                sum_[0] += 1
                sum_[1] += never_ended
                stack.append([end, key, start, 0, 0, 0])
            while stack:
                self.leave(stack, sums, ran.get(thread[1]), by_path)
        for sum_ in sums.values():
            times, running = sorted(sum_[4]) or [0], sum_[5]
            ranks = [-(-len(times) * share // 100) - 1 for share in (50, 90, 99)]
            sum_[4:] = [times[0], times[-1], sum(times), *(times[rank] for rank in ranks), running]
        return sums

    @staticmethod
    def leave(stack, sums, ran, by_path):
        end, key, start, inside, waited, ran_inside = stack.pop()
        if key[2] is None:
            if by_path and inside:
                sums.setdefault((*key[:2], True, key[3]), [0, 0, 0, 0, [], 0])[2] += inside
            if stack:
                stack[-1][3] += inside
                stack[-1][5] += ran_inside
            return
        sum_, running = sums[key], [0, 0]
        for i, moment in enumerate((start, end) if ran else ()):
            at = bisect.bisect_right(ran[0], moment)
            running[i] = ran[2][at] - (max(ran[1][at - 1] - moment, 0) if at else 0)
        running = running[1] - running[0]
        sum_[2] += 0 if any(outer[1] == key for outer in stack) else end - start - waited
        sum_[3] += end - start - inside
        sum_[4].append(end - start - waited)
        sum_[5] += running - ran_inside
        if stack:
            stack[-1][3] += end - start
            stack[-1][5] += running

    def cpu(self):
        """[ns it ran, ns it could have run, ns it waited, how often it left] of each thread."""
        times = collections.defaultdict(lambda: [0, 0, 0, 0])
        since = {}  # thread -> (ns, which of its times passes)
        for ns, _, leaves, state, comes in sorted(self.switches, key=lambda switch: switch[0]):
            for thread, passes in ((leaves, {0: 1, 1: 1, 3: 2}.get(state)), (comes, 0)):
                if thread is None:
                    continue
                start, passed = since.get(thread, (ns, 0))
                times[thread][passed] += ns - start
                if passes is None:
                    del since[thread]
                else:
                    since[thread] = (ns, passes)
                times[thread][3] += passes in (1, 2)
        return times

    def stays(self):
        """(thread, start, end) of each stay on a CPU whose start and end are both known."""
        start, stays = {}, []
        for ns, _, leaves, _, comes in sorted(self.switches, key=lambda switch: switch[0]):
            if leaves in start:
                stays.append((leaves, start.pop(leaves), ns))
            if comes is not None:
                start[comes] = ns
        return sorted(stays)

    def check_cpus(self):
        """A CPU runs one thread, and a thread runs on one CPU."""
        runs, where = {}, {}
        for ns, cpu, leaves, _, comes in sorted(self.switches, key=lambda switch: switch[0]):
            if leaves is not None and where.pop(leaves, None) is not None:
                runs.pop(cpu, None)
            if comes is not None:
                self.count["cpu:thread_on_two"] += comes in where
                self.count["cpu:two_threads"] += cpu in runs
                runs[cpu], where[comes] = comes, cpu

    def check(self):
        """Plays the timeline the way the viewer does and returns the counts of all causes."""
        flows = []
        if not self.switches_lost:
            self.check_cpus()
        for thread, events in self.timeline.items():
            self.play(sorted(events, key=lambda event: event[0]), thread, flows)
        active = set()
        for _, kind, flow in sorted(flows):
            if kind == 8:
                self.count["flow_duplicate_id"] += flow in active
                active.add(flow)
            elif flow not in active:
                self.count["flow_step_without_start" if kind == 9 else "flow_end_without_start"] += 1
            elif kind == 10:
                active.remove(flow)
        return self.count

    def play(self, events, thread, flows):
        count, stack, last = self.count, [], -1  # stack of [end ns or None while it is open]
        begun = []  # category and begin of the open ones
        for ns, kind, extra, category, name in events:
            end = extra if kind == 4 else None
            if not self.close(stack, ns, end):
                count["slice_drop_overlapping_complete_event"] += 1
                continue
            if kind in (2, 4):
                if ns <= last:
                    count["calls:start_not_increasing"] += 1
                last = ns
                if category != CALL_CATEGORY and "lost" in name:
                    count["calls:records_lost"] += 1
                if len(stack) >= MAX_DEPTH:
                    count["slice_max_depth_exceeded"] += 1
                else:
                    stack.append(end)
                    if kind == 2:
                        begun.append((category, ns))
            elif kind == 3:
                if None in stack:
                    top = len(stack) - 1 - stack[::-1].index(None)
                    stack[top] = ns
                    begun.pop()
                else:
                    count["format:end_without_begin"] += 1
            elif not stack:
                count["flow_no_enclosing_slice"] += 1
            else:
                flows.append((ns, kind, (thread[0], extra)))
        is_waiting = begun and begun[-1][0] == "sync"
        if not (is_waiting and any(process == thread[0] and ns >= begun[-1][1] for process, ns in self.stops)):
            count["calls:left_open"] += stack.count(None)

    def close(self, stack, ns, end):
        """Takes slices that are over off the stack; False if a complete slice would stick out of its parent."""
        if None in stack:
            # At the end of a slice the viewer ends the slices that are still open inside
            # it.
            for at, outer in enumerate(stack):
                if outer is not None and outer < ns and None in stack[at:]:
                    del stack[at:]
                    self.count["misplaced_end_event"] += 1
                    break
        while stack and stack[-1] is not None and stack[-1] <= ns:
            stack.pop()
        return end is None or not stack or stack[-1] is None or end <= stack[-1]


class Ticks(Trace):
    """A trace with times in ticks, not rounded. All of its clocks have the same rate."""

    def plain_call(self, call, start, end):
        append, _, self.rate, category, name = call
        if start <= end:
            append((start, 4, end, category, name))

    def ns(self, ticks, provider):
        assert self.rate in (None, provider.rate), "two rates"
        self.rate = provider.rate
        return ticks

    def to_ns(self, ticks):
        return ticks * 10**9 // self.rate

    def lives(self):
        """Begin and end of each thread's life within the trace."""
        moments = [*self.moments, *(moment for events in self.timeline.values() for ns, kind, end, *_ in events
                                    for moment in ((ns, end) if kind == 4 else (ns,)))]
        first, last, born, lives = min(moments), max(moments), {}, {}
        for ticks, _, leaves, state, comes in sorted(self.switches, key=lambda switch: switch[0]):
            if leaves is not None and state not in (0, 1, 3):
                lives[leaves] = max(born.pop(leaves, ticks), first), min(ticks, last)
            for thread in (leaves, comes):
                if thread is not None and thread not in lives:
                    born.setdefault(thread, ticks)
        lives.update((thread, (max(ticks, first), last)) for thread, ticks in born.items())
        return lives


def show(what, path):
    """Prints what is asked for of a trace; true if anything is wrong with it."""
    if what in ("report", "paths"):
        trace = Ticks(path)
        for (process, thread, is_call, name), sums in sorted(trace.report(what == "paths").items()):
            print(process, thread, "function" if is_call else "other", name, *sums[:2], *map(trace.to_ns, sums[2:]),
                  sep="\t")
        return False
    if what == "whole":
        trace = Ticks(path)
        sums = collections.defaultdict(lambda: [0, 0, 0, 0])
        for (_, _, is_call, name), (calls, _, total, own, *_) in trace.report(False).items():
            if is_call:
                sums[name] = [a + b for a, b in zip(sums[name], (calls, 0, total, own))]
        for left in trace.left_out:
            there = sums[left["function"]]
            sums[left["function"]] = [a + b for a, b in zip(there, (left["calls"], left["calls"], left["total_ticks"],
                                                                    left["self_ticks"]))]
        for name, (calls, left, total, own) in sorted(sums.items()):
            print(name, calls, left, trace.to_ns(total), trace.to_ns(own), sep="\t")
        return False
    if what == "lives":
        trace = Ticks(path)
        for thread, (begin, end) in sorted(trace.lives().items()):
            print(thread, max(0, trace.to_ns(end) - trace.to_ns(begin)), sep="\t")
        return False
    if what == "times":
        trace = Ticks(path)
        for *slice_, start, end in trace.slices():
            print(*slice_, trace.to_ns(start), trace.to_ns(end - start) if end != "" else "", sep="\t")
        return False
    trace = Trace(path)
    if what == "calls":
        for key, number in sorted(trace.calls().items()):
            print(*key, number, sep="\t")
    elif what == "threads":
        for thread in sorted(trace.timeline):
            print(*thread, *trace.thread_name(thread), sep="\t")
    elif what == "slices":
        for slice_ in trace.slices():
            print(*slice_, sep="\t")
    elif what == "switches":
        for stay in trace.stays():
            print(*stay, sep="\t")
    elif what == "cpu":
        for thread, times in sorted(trace.cpu().items()):
            print(thread, *times, sep="\t")
    else:
        count = trace.check()
        for cause in STATISTICS:
            print(count[cause], cause, sep="\t")
        return any(count[cause] for cause in STATISTICS)
    return False


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("calls", "threads", "slices", "times", "report", "whole", "paths", "cpu",
                                               "lives", "switches", "check"):
        sys.exit("usage: fxtdecode.py calls|threads|slices|times|report|whole|paths|cpu|lives|switches|check TRACE...")
    sys.exit(any([show(sys.argv[1], path) for path in sys.argv[2:]]))


if __name__ == "__main__":
    main()
