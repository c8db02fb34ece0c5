"""A program whose calls raise triggers, and who knows how long its calls took: what the tests of triggers share."""

import glob
import time

from control import Session, decoded, faults

LEAST = 3000000  # ns that a call takes which raises one


def complete(trace):
    """The calls of serve(), by thread and number, that took so long, of a trace that has all."""
    wrong = set(faults(trace)) - {"calls:left_open"}
    assert not wrong, (trace, wrong)
    count, slow = {}, set()
    for _, thread, category, name, start, end in decoded("slices", trace):
        if category == "function" and name == "serve":
            number = count[int(thread)] = count.get(int(thread), -1) + 1
            if end and int(end) - int(start) >= LEAST:
                slow.add((int(thread), number))
    return slow


class Program:
    """Runs it. .slow are the calls that took so long for certain, .perhaps those that may have; .calls is how many there
    were, .traces the snapshots."""

    def __init__(self, program, options, after_slow=lambda program, call: None):
        self.session = Session(["--no-sched", "--buffering-mode=circular", *options], program)
        self.found, self.traces = set(), []
        self.calls, self.slow, self.perhaps = 0, set(), set()
        for line in self.session.process.stdout:
            what, *numbers = line.split()
            numbers = [int(number) for number in numbers]
            if what == "slow":
                after_slow(self, tuple(numbers))
                self.answer()
            elif what == "call":
                self.calls += 1
                if numbers[2] >= LEAST:
                    self.slow.add(tuple(numbers[:2]))
                if numbers[3] >= LEAST:
                    self.perhaps.add(tuple(numbers[:2]))
            else:
                break
        self.look()
        status, self.said = self.session.end()
        assert status == 0, self.said
        assert len(self.slow) >= 6, self.slow

    def answer(self):
        self.session.process.stdin.write("\n")
        self.session.process.stdin.flush()

    def look(self):
        """Reads the snapshots that there are, once all are written that were begun."""
        while self.session.client.call("GetState")["snapshots_waiting"]:
            time.sleep(0.01)
        for trace in sorted(set(glob.glob("trace-*.fxt")) - set(self.traces)):
            self.traces.append(trace)
            self.found |= complete(trace)

    def await_snapshot(self, call):
        """Until the call, which took long, is in a snapshot."""
        while call not in self.found:
            self.look()
