"""How far a merged trace of two programs that talked is from what these programs printed
(tests/programs/connections/talk.c): connections.py MERGED WHAT_MERGE_SAID SERVED ASKED.
Reads what the independent decoder finds in the trace."""
import os
import re
import subprocess
import sys

DECODER = os.path.join(os.path.dirname(__file__), '..', 'independent', 'fxtdecode.py')


def calls_of(trace):
    """By process: name and start of its calls, in their order."""
    processes = {}
    text = subprocess.run([sys.executable, DECODER, 'slices', trace], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        process, _, _, name, start, *_ = line.split('\t')
        if name in ('sends', 'receives'):
            processes.setdefault(process, []).append((int(start), name))
    return [sorted(calls) for calls in processes.values()]


def moments_of(printed):
    """Name, number, and CLOCK_REALTIME before and after each call."""
    return [(name, *map(int, rest)) for name, *rest in map(str.split, open(printed))]


def nanoseconds(text):
    units = {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9}
    return sum(float(value.replace(',', '')) * units[unit] for value, unit in re.findall(r'(?:to|by) ([\d.,]+) (\w+)', text))


merged, merge_said, *printed = sys.argv[1:]
traced = sorted(calls_of(merged), key=lambda calls: calls[0][1])  # the server receives first
assert len(traced) == 2, len(traced)
offsets, starts = [], {}
for calls, moments in zip(traced, map(moments_of, printed)):
    assert [name for _, name in calls] == [name for name, *_ in moments]
    # The merged clock is ahead of CLOCK_REALTIME by this much: each call bounds it.
    offsets.append((max(start - after for (start, _), (*_, after) in zip(calls, moments)),
                    min(start - before for (start, _), (_, _, before, _) in zip(calls, moments))))
    for (start, _), (name, number, *_) in zip(calls, moments):
        starts[name, number] = start
for (name, number), start in starts.items():
    assert name == 'receives' or start < starts['receives', number], ('received before it was sent', number)
apart = max(offsets[0][0] - offsets[1][1], offsets[1][0] - offsets[0][1], 0)
bound = sum(nanoseconds(line.split(': ', 1)[1]) for line in open(merge_said) if '.fxt: to ' in line)
# Both clocks are steered, and not alike, by at most 500 millionths.
steered = (max(starts.values()) - min(starts.values())) * 1000e-6
print(f'{len(starts) // 2} messages, {apart:.0f} ns apart, bound {bound:.0f} ns, offsets {offsets}')
assert len(starts) == 720 and 0 < bound and apart <= bound * 1.001 + steered
