"""What a trace says of a job of MPI, as lines that the program in tests/programs/mpi/every.c
prints of itself: mpi.py said TRACE; and the messages with the times of both ends, in ticks:
mpi.py times TRACE. Reads what `fxt dump TRACE` prints."""
import collections
import re
import subprocess
import sys

EVENT = re.compile(r'\S+ (\S+) thread=(\d+)/\d+ time=(\d+) .*category="mpi" name="([^"]+)" \{(.*)\}')
OBJECT = re.compile(r'kernel-object .*koid=(\d+) .*rank=uint32:(\d+)')


def number(text, name):
    return int(re.search(name + r'=u?int\d+:(-?\d+)', text).group(1))


def read(trace):
    """Calls by rank and function; messages by id: [begin, end], each (rank, time, facts)."""
    ranks, calls, messages = {}, collections.Counter(), collections.defaultdict(lambda: [None, None])
    for line in subprocess.run(['fxt', 'dump', trace], capture_output=True, text=True).stdout.splitlines():
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
    return calls, messages


calls, messages = read(sys.argv[2])
if sys.argv[1] == 'said':
    for (rank, name), count in calls.items():
        print('calls', rank, name, count)
for begin, end in messages.values():
    assert begin and end, (begin, end)
    assert number(begin[2], 'peer') == end[0] and number(end[2], 'peer') == begin[0], (begin, end)
    for fact in ('tag', 'comm', 'bytes'):
        assert number(begin[2], fact) == number(end[2], fact), (begin, end)
    if sys.argv[1] == 'said':
        print('message', begin[0], end[0], number(end[2], 'tag'), number(end[2], 'bytes'))
    else:
        print(begin[0], end[0], begin[1], end[1])
