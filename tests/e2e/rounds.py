"""Judges snapshots of the program `rounds` by the counters it keeps outside of the trace.

Reads a line for each snapshot: its file, the two counters before it was asked for, the two after it was there. In each
snapshot both threads must be named, with round after round whole and none left out, up to one between the two counters;
main must be open; no record lost, and no wait that would not end.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../independent")
import fxtdecode

# Calls are open in a running program, and the first half of what it did is gone.
EXPECTED = ("calls:left_open", "calls:records_lost")
# A thread waits for 50 ms at most, by its own clock; a busy machine may let it sleep much
# longer than that.
WAIT_NS = 20_000_000_000


def whole_rounds(slices):
    """The numbers of the rounds of one thread that the trace has from begin to end, in order."""
    rounds, digits = [], None
    for _, _, _, name, _, end in slices:
        if name == "one_round":
            digits = "" if end != "" else None
        elif name.startswith("digit_") and digits is not None:
            digits += name[6:]
            if len(digits) == 8:
                rounds.append(int(digits, 16))
                digits = None
    return rounds


def judge(path, before, after):
    trace = fxtdecode.Trace(path)
    for cause, count in trace.check().items():
        assert count == 0 or cause in EXPECTED, (path, cause, count)
    slices = list(trace.slices())
    assert not any("records lost" in slice_[3] for slice_ in slices), path
    assert [slice_[5] for slice_ in slices if slice_[3] == "main"] == [""], path
    waits = [slice_[5] - slice_[4] for slice_ in slices if slice_[3] == "fxt: waited"]
    assert all(wait < WAIT_NS for wait in waits), (path, waits)
    threads = {trace.thread_name(thread)[1]: thread for thread in trace.timeline}
    for n in 0, 1:
        rounds = whole_rounds(slice_ for slice_ in slices if tuple(slice_[:2]) == threads[f"round {n}"])
        assert rounds, (path, n)
        assert rounds == list(range(rounds[0], rounds[-1] + 1)), (path, n, "a round is left out")
        assert before[n] <= rounds[-1] <= after[n] + 1, (path, n, before[n], rounds[-1], after[n])


for line in sys.stdin:
    path, *counts = line.split()
    judge(path, [int(count) for count in counts[:2]], [int(count) for count in counts[2:]])
