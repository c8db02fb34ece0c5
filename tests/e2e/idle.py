"""A session that lasts loses its recorder: idle.py idle|recording SERVER"""

import os
import signal
import subprocess
import sys

from control import Client, Session

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../independent")
import fxtdecode

WHEN, SERVER = sys.argv[1:]


def record(number):
    """Has a recording begin, of requests of that kind; how many calls there were."""
    client = Client()
    assert client.call("InitializeTracing", output=os.path.abspath(f"{number}.fxt")) == {}
    assert client.call("StartTracing") == {}
    session.tell(f"serve {number}")
    session.tell("rest")
    begun, ended, killed = map(int, session.tell(f"made {number}"))
    assert begun == ended and killed == 0
    return client, begun


def calls(number):
    """How many calls of that kind the trace has."""
    return sum(calls for (_, _, function), calls in fxtdecode.Trace(f"{number}.fxt").calls().items()
               if function.endswith(f"_{number}"))


session = Session(["--start=idle", "--no-sched"], SERVER)
job = session.client.call("GetState")["pid"]
with open(f"/proc/{job}/task/{job}/children", encoding="ascii") as file:
    recorder = int(file.read())
client, made = record(1)
assert client.call("TerminateTracing")["complete"]
assert calls(1) == made
if WHEN == "recording":
    _, made = record(2)
os.kill(recorder, signal.SIGKILL)
assert session.process.wait() == -signal.SIGKILL
session.tell("serve 3")  # the program goes on
if WHEN == "recording":
    assert subprocess.run(["fxt", "check", "2.fxt"], check=False).returncode == 0
    assert "recovered: " in subprocess.run(["fxt", "info", "2.fxt"], capture_output=True, text=True, check=True).stdout
    assert calls(2) == made, (calls(2), made)
session.process.stdin.close()
