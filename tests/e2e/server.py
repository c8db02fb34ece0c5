"""A server under load is recorded again and again, with other limits, categories, triggers, dispositions and outputs each time, while
its workers are forked, end and are killed: server.py MODE RECORDINGS SERVER

Each recording has exactly the calls that the server counted while it was on, nothing is wrong with any trace, and neither
the recorder nor the server has more descriptors, mappings or threads at the last recording than at the tenth; of memory only
what the recorder keeps of each process there was.
"""

import collections
import os
import subprocess
import sys
import time

from control import Client, Session

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../independent")
import fxtdecode

MODE, RECORDINGS, SERVER = sys.argv[1], int(sys.argv[2]), sys.argv[3]
LIMITS = ({"min_duration": "0us", "max_calls": None}, {"min_duration": "20us", "max_calls": None},
          {"min_duration": "0us", "max_calls": 20}, {"min_duration": "1h", "max_calls": 3})
CATEGORIES = ["function"], ["function", "sync"], ["sync"]
# The allowed faults in a trace of workers that were killed, that serve during a snapshot,
# or that were inside a request of no kind at a stop.
USUAL = "calls:left_open", "flow_end_without_start", "calls:records_lost"
# KiB by which memory use may grow: stacks of threads that the manager's libc keeps for
# later ones, pages of the server's that were shared with its children; and for each process
# that the manager knew.
GROWTH, PROCESS_GROWTH = 512, 4
# For a manager that forgets each recording, and all processes that have ended.
FORGOTTEN_GROWTH = 64


class Recording:
    """The known facts about a recording of requests of one kind."""

    def __init__(self, kind):
        self.kind = kind
        self.limits = LIMITS[kind % len(LIMITS)]
        self.categories = CATEGORIES[kind // len(LIMITS) % len(CATEGORIES)]
        self.begun = self.ended = self.killed = 0

    def expect(self, whole, left_out):
        """By function: how many calls there were, and how many of these are told as sums."""
        requests, steps = (whole[f"{name}_{self.kind}"] for name in ("request", "step"))
        sums = left_out[f"request_{self.kind}"] + left_out[f"step_{self.kind}"]
        told = vars(self), requests, steps, sums
        if "function" not in self.categories:
            assert requests == steps == 0, told
            return
        # A worker that is killed may have begun a call that it did not come to count.
        assert self.ended <= requests + steps <= self.begun + self.killed, told
        assert self.killed or steps == 2 * requests, told
        assert (sums == 0) == (self.limits is LIMITS[0]), told


def children(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return {int(child) for child in file.read().split()}


def buffers(process):
    """How many buffers it has open."""
    directory, count = f"/proc/{process}/fd/", 0
    for fd in os.listdir(directory):
        try:
            count += "fxt-buffer" in os.readlink(directory + fd)
        except FileNotFoundError:  # closed meanwhile
            pass
    return count


def await_ends(client, recorder, server):
    """Until the recorder has given back what it had of processes that have ended, and has those that live."""
    living = children(server) | {server}
    while {provider["pid"] for provider in client.call("GetProviders")["providers"]} != living or \
            buffers(recorder) != len(living):
        time.sleep(0.01)


def size(process):
    """How many descriptors, mappings of files and threads a process has, and how many KiB of memory of its own."""
    directory = f"/proc/{process}/"
    with open(directory + "status", encoding="ascii") as status:
        fields = dict(line.split(":", 1) for line in status)
    with open(directory + "maps", encoding="utf-8") as maps:
        mappings = sum("/" in line for line in maps)
    return len(os.listdir(directory + "fd")), mappings, int(fields["Threads"]), int(fields["RssAnon"].split()[0])


def check(path):
    """A trace that nothing is wrong with."""
    run = subprocess.run(["fxt", "check", path], capture_output=True, text=True)
    assert run.returncode == 0, (path, run)
    if path.endswith(".zst"):
        subprocess.run(["zstd", "-dqf", path, "-o", "plain.fxt"], check=True)
        path = "plain.fxt"
    trace = fxtdecode.Trace(path)
    wrong = {cause: n for cause, n in trace.check().items() if n and cause not in USUAL}
    assert not wrong, (path, wrong)
    return trace


def serve_unrecorded(session, client, kind):
    """Requests that are served once calls are recorded no more are in no trace."""
    assert client.call("SetCategories", categories=["process"]) == {}
    begun = session.tell(f"made {kind}")[0]
    session.tell(f"serve {kind}")
    while session.tell(f"made {kind}")[0] == begun:
        pass
    session.tell("rest")


def sums(trace):
    """The sums that Recording.expect() takes."""
    left_out = collections.Counter()
    for left in trace.left_out:
        left_out[left["function"]] += left["calls"]
    whole = collections.Counter(left_out)
    for (_, _, function), calls in trace.calls().items():
        whole[function] += calls
    return whole, left_out


def check_snapshot(client, recording, server):
    """Has a trace written of a circular buffer. It has the recording; of others what processes left that have ended."""
    path = os.path.abspath(f"{recording.kind}.fxt" + (".zst" if recording.kind % 5 == 4 else ""))
    living = children(server)
    assert client.call("Snapshot", path=path)["path"] == path
    trace = check(path)
    recording.expect(*sums(trace))
    others = {event[4] for (process, _), events in trace.timeline.items() if process in living for event in events
              if event[3] == fxtdecode.CALL_CATEGORY and event[4].split("_")[1] not in ("of", str(recording.kind))}
    assert not others, (vars(recording), others)


def main():
    """One session, which is stopped and started."""
    session = Session(["--start=paused", "--no-sched", "-t", "0us", "--categories=process", "--buffering-mode=" + MODE,
                       "-o", "all.fxt"], SERVER)
    client, recordings, sizes, replaced = session.client, [], [], [0]
    state = client.call("GetState")
    server, (recorder,) = state["program_pid"], children(state["pid"])

    def replace(how):
        session.tell(how)
        replaced[0] += 1
    is_dropped = True
    for kind in range(RECORDINGS):
        recording = Recording(kind)
        recordings.append(recording)
        replace("retire" if kind % 3 else "kill")
        assert client.call("SetFilter", **recording.limits) == {}
        # Records that are still to be written must not be cleared.
        disposition = ("CLEAR_ENTIRE", "CLEAR_NONDURABLE")[kind % 2] if is_dropped else "RETAIN"
        assert client.call("StartTracing", buffer_disposition=disposition, additional_categories=recording.categories) == {}
        session.tell(f"serve {kind}")
        for _ in range(kind % 3):
            replace("retire")
        if kind % 4 == 3:
            replace("kill")
        session.tell("rest")
        recording.begun, recording.ended, recording.killed = map(int, session.tell(f"made {kind}"))
        if kind % 5 == 3:
            serve_unrecorded(session, client, kind)
        is_written = MODE == "oneshot" or (MODE == "streaming" and kind % 2 == 0)
        client.call("StopTracing", write_results=is_written)
        if MODE == "circular":
            check_snapshot(client, recording, server)
        is_dropped = is_written or MODE == "circular"
        if kind in (min(9, RECORDINGS - 2), RECORDINGS - 1):
            await_ends(client, recorder, server)
            sizes.append((size(recorder), size(server), replaced[0]))
            # It may have a file of a new process open for a moment.
            while any(now > then for now, then in zip(sizes[-1][0][:3], sizes[0][0])):
                sizes[-1] = (size(recorder), *sizes[-1][1:])
    status, said = session.end()
    assert status == 0, said
    whole = sums(check("all.fxt"))
    for recording in recordings if MODE != "circular" else []:
        recording.expect(*whole)
    early, late = sizes
    for which, processes in (0, late[2] - early[2]), (1, 0):
        assert late[which][:3] == early[which][:3], sizes
        assert late[which][3] <= early[which][3] + GROWTH + PROCESS_GROWTH * processes, sizes


MODES = "STREAMING", "CIRCULAR", "ONESHOT"


def record(client, kind, recording, output):
    """Has a recording begin, and says what it was asked for."""
    config = {name: value for name, value in recording.limits.items() if (name, value) not in (
        ("min_duration", "0us"), ("max_calls", None))}
    if kind % 5 == 4 and "function" in recording.categories:
        config["exclude"] = ["step_*"]
    if kind % 6 == 5:  # one that no call raises, and what is raised when a worker is killed
        config["triggers"] = [f"step_{kind}>1h:terminate", "signal=SEGV:terminate"]
    assert client.call("InitializeTracing", output=output, buffering_mode=MODES[kind % 3],
                       categories=recording.categories + ["process"], **config) == {}, (kind, config)
    assert client.call("StartTracing") == {}, kind
    return config


def idle():
    """One session of many recordings."""
    session = Session(["--start=idle", "--no-sched"], SERVER)
    sizes, state = [], session.client.call("GetState")
    server, (recorder,) = state["program_pid"], children(state["pid"])
    for kind in range(RECORDINGS):
        recording = Recording(kind)
        assert session.client.state() == "READY"
        session.tell("retire" if kind % 3 else "kill")  # its successor is born between two recordings
        client, output = Client(), os.path.abspath(f"{kind}.fxt" + (".zst" if kind % 7 == 6 else ""))
        config = record(client, kind, recording, output)
        other = Client()
        assert other.call("InitializeTracing", output=output + ".other") == -32602
        session.tell(f"serve {kind}")
        for _ in range(kind % 3):
            session.tell("retire")
        if kind % 4 == 3:
            session.tell("kill")
        session.tell("rest")
        recording.begun, recording.ended, recording.killed = map(int, session.tell(f"made {kind}"))
        if kind % 5 == 3:
            serve_unrecorded(session, client, kind)
        other.close()
        number = (client if kind % 2 else session.client).send("TerminateTracing" if kind % 2 else "AwaitTrace")
        if kind % 2:
            result = client.reply(number)
        client.close()  # a recording ends with who owns it
        if kind % 2 == 0:
            result = session.client.reply(number)
        assert result["complete"] and result["output"] == output, result
        assert not os.path.exists(output + ".other")
        trace = check(output)
        whole, left_out = sums(trace)
        if "exclude" in config:
            assert whole[f"step_{kind}"] == 0 and recording.ended <= 3 * whole[f"request_{kind}"], (config, whole)
            whole[f"step_{kind}"] = 2 * whole[f"request_{kind}"]
            assert recording.begun + 3 * recording.killed >= 3 * whole[f"request_{kind}"], (vars(recording), whole)
        else:
            if config.keys() & {"min_duration", "max_calls"}:
                recording.expect(whole, left_out)
            else:
                assert not sum(left_out.values())
                recording.limits = LIMITS[0]
                recording.expect(whole, left_out)
        others = {name for name in whole if name.split("_")[1:] not in (["of", "no", "kind"], [str(kind)])}
        assert not {name for name in others if name.split("_")[0] in ("request", "step") and name.split("_")[1].isdigit()}, \
            (kind, others)
        if kind in (min(9, RECORDINGS - 2), RECORDINGS - 1):
            await_ends(session.client, recorder, server)
            sizes.append((size(recorder), size(server)))
            while any(now > then for now, then in zip(sizes[-1][0][:3], sizes[0][0])):
                sizes[-1] = (size(recorder), *sizes[-1][1:])
    status, said = session.end()
    assert status == 0, said
    early, late = sizes
    for which, growth in (0, FORGOTTEN_GROWTH), (1, GROWTH):
        assert late[which][:3] == early[which][:3], sizes
        assert late[which][3] <= early[which][3] + growth, sizes


if MODE == "idle":
    idle()
else:
    main()
