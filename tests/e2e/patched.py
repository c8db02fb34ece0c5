"""What stands in the code of a program that runs, and not in its file: by /proc, and by its symbols."""

import glob
import os
import re
import subprocess
import time


class Code:
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
