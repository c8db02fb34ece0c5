"""What a trace says of a job of MPI, as lines that the program in tests/programs/mpi/every.c
prints of itself: mpi.py said TRACE. How far the times of messages in a merged trace are from
those by a clock that all ranks share: mpi.py residual MERGED WHAT_MERGE_SAID
TICKS_A_SECOND TRACE... How much comparisons of clocks between make it more exact: mpi.py drift
MERGED MERGED_WITHOUT_THEM OUTPUT. Reads what `fxt dump TRACE` prints."""
import collections
import re
import struct
import subprocess
import sys

EVENT = re.compile(r'\S+ (\S+) thread=(\d+)/\d+ time=(\d+) .*category="mpi" name="([^"]+)" \{(.*)\}')
OBJECT = re.compile(r'kernel-object .*koid=(\d+) .*rank=uint32:(\d+)')


def dumped(trace):
    return subprocess.run(['fxt', 'dump', trace], capture_output=True, text=True).stdout


def number(text, name):
    return int(re.search(name + r'=u?int\d+:(-?\d+)', text).group(1))


def read(trace, is_part=False):
    """Calls by rank and function; messages by id: [begin, end], each (rank, time, facts). A
    message to or from a rank that is not in the trace is left out."""
    ranks, calls, messages = {}, collections.Counter(), collections.defaultdict(lambda: [None, None])
    for line in dumped(trace).splitlines():
        found = OBJECT.search(line)
        if found:
            ranks[found.group(1)] = int(found.group(2))
        found = EVENT.match(line)
        if not found:
            continue
        kind, process, time, name, facts = found.groups()
        if kind == 'duration-complete':
            calls[ranks[process], name] += 1
        elif name == 'message':
            end = kind == 'flow-end'
            place = messages[re.search(r'id=(\w+)', line).group(1)]
            assert place[end] is None, line
            place[end] = (ranks[process], int(time), facts)
    return calls, {key: ends for key, ends in messages.items()
                   if is_part or all(ends) or number((ends[0] or ends[1])[2], 'peer') in ranks.values()}


def pairs(messages):
    for key, (begin, end) in messages.items():
        assert begin and end, (begin, end)
        assert number(begin[2], 'peer') == end[0] and number(end[2], 'peer') == begin[0], (begin, end)
        for fact in ('tag', 'comm', 'bytes'):
            assert number(begin[2], fact) == number(end[2], fact), (begin, end)
        yield key, begin, end


def said(trace):
    calls, messages = read(trace)
    for (rank, name), count in calls.items():
        print('calls', rank, name, count)
    for _, begin, end in pairs(messages):
        print('message', begin[0], end[0], number(end[2], 'tag'), number(end[2], 'bytes'))


def nanoseconds(text):
    """The sum of the times in a line of merge: its error, and how far the trace was moved."""
    units = {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9}
    return sum(float(value.replace(',', '')) * units[unit]
               for value, unit in re.findall(r'(?:to|by) ([\d.,]+) (\w+)', text))


def residual(merged, merge_said, rate, *traces):
    """The merged times are nanoseconds; those of the traces are ticks of one counter, which
    all ranks of one machine share, whatever their other clocks say. On a machine without that
    counter they are nanoseconds of clocks that are whole days apart, so of the same day. The time of a message is
    wrong by at most what merge said of both ranks, and what it rounded there."""
    day = 86400 * 10**9
    shared = (lambda ticks: ticks % day) if int(rate) == 10**9 else (lambda ticks: ticks)
    errors = sorted(nanoseconds(line.split(': ', 1)[1]) for line in open(merge_said) if line.startswith('trace.'))
    bound = (errors[-1] + errors[-2]) * 1.001 + 100
    truth = {}
    for trace in traces:
        for key, ends in read(trace, True)[1].items():
            truth[key] = [mine or known for mine, known in zip(ends, truth.get(key, [None, None]))]
    worst = count = 0
    for key, begin, end in pairs(read(merged)[1]):
        assert end[1] >= begin[1], ('received before it was sent', begin, end)
        took = (shared(truth[key][1][1]) - shared(truth[key][0][1])) * 1e9 / float(rate)
        worst, count = max(worst, abs(end[1] - begin[1] - took)), count + 1
    print(f'{count} messages, residual {worst:.0f} ns, bound {bound:.0f} ns')
    assert count > 0 and worst <= bound


def order(merged):
    for _, begin, end in pairs(read(merged)[1]):
        assert end[1] >= begin[1], ('received before it was sent', begin, end)


def moments(merged, out):
    """How far the calls of moment() in a merged trace are from the times that the program in
    tests/programs/mpi/drift.c printed, at most, in nanoseconds."""
    printed, calls, worst = collections.defaultdict(list), collections.defaultdict(list), 0
    for line in open(out):
        _, rank, _, earliest, latest = line.split()
        printed[int(rank)].append((int(earliest), int(latest)))
    text = dumped(merged)
    ranks = {koid: int(rank) for koid, rank in OBJECT.findall(text)}
    for process, time in re.findall(r' thread=(\d+)/\d+ time=(\d+) .*category="function" name="moment"', text):
        calls[ranks[process]].append(int(time))
    assert calls.keys() == printed.keys()
    for rank, times in calls.items():
        assert len(times) == len(printed[rank]) > 5
        for time, (earliest, latest) in zip(sorted(times), printed[rank]):
            worst = max(worst, earliest - time, time - latest)
    return worst


def drift(merged, without, out):
    """Comparisons of clocks between the first and the last make the times more exact. By how
    much depends on how far they are apart: the drift grows with the square of the time."""
    within, alone = moments(merged, out), moments(without, out)
    print(f'residual {within} ns, without the comparisons between {alone} ns')
    assert within < alone


def between(trace):
    """Spoils the comparisons between the first and the last: such a clock is impossible."""
    data = open(trace, 'rb').read()
    times = re.findall(r'name="clock" .*reference_ns=int64:(\d+)', dumped(trace))
    assert len(times) >= 4
    for time in times[1:-1]:
        assert data.count(struct.pack('<q', int(time))) == 1
        data = data.replace(struct.pack('<q', int(time)), struct.pack('<q', -1))
    open(trace, 'wb').write(data)


def spoil(trace, wrong):
    """Changes what a trace says of its clock by so many nanoseconds."""
    data = open(trace, 'rb').read()
    for offset in set(re.findall(r'name="clock" .*reference_ns=int64:(-?\d+)',
                                 dumped(trace))):
        assert data.count(struct.pack('<q', int(offset))) == 1
        data = data.replace(struct.pack('<q', int(offset)), struct.pack('<q', int(offset) + int(wrong)))
    open(trace, 'wb').write(data)


{'said': said, 'residual': residual, 'order': order, 'spoil': spoil, 'drift': drift,
 'between': between}[sys.argv[1]](*sys.argv[2:])
