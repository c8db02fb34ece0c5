"""The code of a program that runs, and its calls while the filter changes."""

import collections
import glob
import os
import random
import re
import subprocess
import time
from control import Session, calls


class Code:
    """The bytes of functions in a running program's memory, by /proc, that differ from those in its file."""

    def __init__(self, program, *functions):
        def runs(path):
            try:
                return os.readlink(path) == program
            except OSError:
                return False

        pid, = (path.split("/")[2] for path in glob.glob("/proc/[0-9]*/exe") if runs(path))
        symbols = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout
        self.ranges = [(int(at, 16), int(size, 16)) for at, size, _, name in re.findall(r"(\w+) (\w+) (\w) (\w+)\n", symbols)
                       if name in functions]
        self.memory = f"/proc/{pid}/mem"
        with open(f"/proc/{pid}/maps", encoding="ascii") as maps:
            self.base = int(maps.readline().split("-")[0], 16)
        with open(program, "rb") as file:
            self.text = file.read()

    def changed(self):
        """The bytes of the functions that are others now: (before, after)."""
        found = []
        with open(self.memory, "rb") as memory:
            for at, size in self.ranges:
                memory.seek(self.base + at)
                found += [(a, b) for a, b in zip(self.text[at:at + size], memory.read(size)) if a != b]
        return sorted(found)

    def await_changed(self, count, seconds=20, do=lambda: time.sleep(0.01)):
        """Until so many are: then these, or those that are when the time is up."""
        deadline = time.monotonic() + seconds
        while len(self.changed()) < count and time.monotonic() < deadline:
            do()
        return self.changed()


def record_under_changes(program, count, *arguments, options=()):
    """Changes the filter COUNT times while the program runs, which prints how often it called each function. Functions
    that are never excluded are recorded exactly, the others at most as often as they were called; and no call lacks its
    exit. Returns the lines of fxt dump."""
    rng = random.Random(count)
    session = Session(["--heap=off", "-o", "x.fxt", "--exclude=leaf", *options], program, *arguments)
    names = "leaf", "tail", "deep", "one", "other", "both", "signalled", "plugged", "inner"
    for _ in range(count):
        assert session.client.call("SetFilter", exclude=rng.sample(names, rng.randint(0, len(names)))) in ({}, {"late": 1})
    printed, errors = session.process.communicate(timeout=100)
    assert session.process.returncode == 0 and " 0 lost," in errors, errors
    made = {name: int(number) for name, number in map(str.split, printed.splitlines())}
    recorded = collections.Counter()
    for (_, name), number in calls("x.fxt").items():
        recorded[name] += number
    for name, number in made.items():
        if name.startswith("kept"):
            assert recorded[name] == number > 0, (name, recorded[name], number)
        else:
            assert recorded[name] <= number, (name, recorded[name], number)
    dump = subprocess.run(["fxt", "dump", "x.fxt"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert not [line for line in dump if "duration-complete" in line and "abandoned=" in line
                and re.search(r' name="(\w+)"', line)[1] in made]
    check = subprocess.run(["fxt", "check", "x.fxt"], capture_output=True, text=True)
    assert check.returncode == 0, check.stdout
    return dump


def follow_filters(program, first, second, on, off, *options):
    """The program says at each line it gets where two of its functions lead to: `on` while their calls are recorded,
    `off` while recording stopped or they are excluded."""
    session = Session(["--heap=off", *options, "-o", "x.fxt"], program)

    def is_so(of_first, of_second):
        return session.tell("")[1:] == [first, of_first, second, of_second]

    def shows(of_first, of_second):
        # Until it is so: an excluded function is taken out once it was called.
        deadline = time.monotonic() + 60
        while not is_so(of_first, of_second):
            assert time.monotonic() < deadline, (of_first, of_second)
            time.sleep(0.01)

    shows(on, on)
    for _ in range(3):
        assert "provider_stats" in session.client.call("StopTracing")
        assert is_so(off, off)
        assert session.client.call("StartTracing") == {}
        assert is_so(on, on)
        assert session.client.call("SetFilter", exclude=[first]) == {}
        shows(off, on)
        assert session.client.call("SetFilter", exclude=[second]) == {}
        shows(on, off)
        assert session.client.call("SetFilter", exclude=[]) == {}
        assert is_so(on, on)
    assert session.end()[0] == 0
