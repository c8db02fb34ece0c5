"""Shared by the tests of the control socket: a session of fxtrun, and clients that know nothing but its socket."""

import atexit
import collections
import contextlib
import glob
import json
import os
import signal
import socket
import subprocess


class Client:
    """A connection. Notifications that come before a reply are kept in .states."""

    def __init__(self, name="srv"):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(os.environ["XDG_RUNTIME_DIR"] + "/fxt/" + name)
        self.file = self.socket.makefile("rwb")
        self.states = []
        self.replies = {}
        self.last = 0

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, method, **params):
        self.last += 1
        self.file.write(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}).encode()
                        + b"\n")
        self.file.flush()
        return self.last

    def next(self):
        """Takes what comes next; False: the session has ended."""
        line = self.file.readline()
        if not line:
            return False
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", message
        if "id" in message:
            self.replies[message["id"]] = message
        else:
            assert message["method"] == "OnSessionStateChange", message
            self.states.append(message["params"]["state"])
        return True

    def reply(self, number):
        """The result of a request, or its error's code."""
        while number not in self.replies:
            assert self.next(), "the session has ended"
        message = self.replies.pop(number)
        return message["result"] if "result" in message else message["error"]["code"]

    def call(self, method, **params):
        return self.reply(self.send(method, **params))

    def take_states(self):
        self.call("GetState")
        states, self.states = self.states, []
        return states

    def state(self):
        return self.call("GetState")["state"]


class Session:
    """fxtrun with a program of ours, which does what it is told by lines."""

    def __init__(self, options, program, *arguments):
        self.process = subprocess.Popen(["fxtrun", "--session=srv", *options, program, *arguments], text=True,
                                        close_fds=False, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        atexit.register(self.end_left)
        self.client = None
        if "--start=controller" not in options:
            self.ready()
            self.client = Client()

    def end_left(self):
        """Ends what a failed test did not end, so that it is not in the way of the next one."""
        pids = [self.process.pid] if self.process.poll() is None else []
        with contextlib.suppress(OSError):  # some have ended by themselves
            for pid in pids:
                for path in glob.glob(f"/proc/{pid}/task/*/children"):
                    with open(path, encoding="ascii") as children:
                        pids += map(int, children.read().split())
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @classmethod
    def waiting(cls, program):
        """One that waits for a controller."""
        session = cls(["--start=controller"], program)
        while True:
            try:
                Client().socket.close()
                return session
            except (FileNotFoundError, ConnectionRefusedError):  # it does not listen yet
                pass

    def ready(self):
        assert self.process.stdout.readline() == "ready\n"

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().split()

    def end(self):
        """Returns the exit status and what fxtrun said."""
        errors = self.process.communicate(timeout=60)[1]
        return self.process.returncode, errors


def decoded(*arguments):
    """The lines of the independent decoder, fields apart."""
    here = os.path.dirname(os.path.abspath(__file__))
    run = subprocess.run(["python3", here + "/../independent/fxtdecode.py", *arguments], capture_output=True, text=True)
    return [line.split("\t") for line in run.stdout.splitlines()]


def calls(trace):
    """Calls by thread id and function."""
    count = collections.Counter()
    for line in decoded("slices", trace):
        if line[2] == "function":
            count[line[1], line[3]] += 1
    return count


def faults(trace):
    """The faults that the independent decoder finds in it."""
    return {cause: int(n) for n, cause in decoded("check", trace) if int(n)}
