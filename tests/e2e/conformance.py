"""Drives the control socket with every call in every state. The tables are those of the Fuchsia trace controller."""

import signal
import time

from control import *

# The state, then what each call yields there: None = it works; a number = that error.
#                 Initialize  Start  Stop
TABLE = {
    "READY":       (None,     1,     1),
    "INITIALIZED": (-32602,   None,  None),
    "STARTING":    (-32602,   2,     None),
    "STARTED":     (-32602,   2,     None),
    "STOPPING":    (-32602,   3,     2),
    "STOPPED":     (-32602,   None,  2),
    "TERMINATING": (-32602,   4,     2),
}

# The states that are reported after a successful call in each state, before its reply.
TOLD = {
    "StartTracing": ["STARTING", "STARTED"],
    "StopTracing": ["STOPPING", "STOPPED"],
}

# Calls that work in every state, and what their results have; Snapshot has an error for
# sessions that give none.
ANYWHERE = {
    "GetProviders": {"providers"},
    "GetKnownCategories": {"categories"},
    "GetState": {"name", "state", "pid", "program", "program_pid", "buffering_mode", "output", "output_bytes", "triggers",
                 "snapshots_waiting", "provider_stats"},
}
STATS = {"name", "pid", "buffering_mode", "buffer_wrapped_count", "records_dropped", "records_overwritten", "percentage_durable_buffer_used",
         "non_durable_bytes_written"}


class Run:
    """A session in one of the states, reached by nothing but calls and the program's own state."""

    def __init__(self, state):
        self.stopped = self.pending = None
        self.session = Session.waiting(os.environ["steps"])
        self.client = Client()
        if state == "READY":
            return
        assert self.client.call("InitializeTracing", output=os.getcwd() + "/x.fxt",
                                start_timeout_milliseconds=100000) == {}
        self.session.ready()
        while not self.client.call("GetProviders")["providers"]:
            pass
        if state == "STARTING":
            self.stop_program()
            self.pending = self.client.send("StartTracing")
        elif state != "INITIALIZED":
            assert self.client.call("StartTracing") == {}
        if state == "STOPPING":
            self.stop_program()
            self.pending = self.client.send("StopTracing")
        elif state == "STOPPED":
            assert set(self.client.call("StopTracing")) == {"provider_stats"}
        elif state == "TERMINATING":
            # The session ends soon in this state, so the call is sent in one piece with
            # those that follow.
            self.pending = True
        if state != "TERMINATING":
            assert self.client.state() == state, (self.client.state(), state)
        self.client.take_states()

    def stop_program(self):
        self.stopped = self.client.call("GetProviders")["providers"][0]["pid"]
        os.kill(self.stopped, signal.SIGSTOP)
        while any(open(f"/proc/{self.stopped}/task/{tid}/stat").read().split()[2] != "T"
                  for tid in os.listdir(f"/proc/{self.stopped}/task")):
            pass

    def go_on(self):
        if self.stopped:
            os.kill(self.stopped, signal.SIGCONT)

    def end(self):
        self.go_on()
        self.client.file.close()
        self.client.socket.close()
        self.session.end()


def is_as_told(reply, expected):
    return reply == expected if expected else isinstance(reply, dict)


def check_anywhere(client, state):
    for method, fields in ANYWHERE.items():
        result = client.call(method)
        assert set(result) == fields, (state, method, result)
    assert client.call("GetState")["state"] == state
    for stats in client.call("GetState")["provider_stats"]:
        assert set(stats) == STATS, stats
    assert client.call("Snapshot") == -32000, state  # not of a streaming session
    assert client.call("NoSuchCall") == -32601


def check_state(state, initialize, start, stop):
    run = Run(state)
    check_anywhere(run.client, state)
    watch = run.client.send("WatchAlert")
    assert run.client.call("RaiseAlert", alert_name="x") == {}
    assert run.client.reply(watch) == {"alert_name": "x"}
    if initialize:
        other = Client()
        assert other.call("InitializeTracing") == initialize and not other.next(), state
    if state == "READY":
        assert run.client.call("TerminateTracing") == -32600
    # Calls that are refused change nothing.
    for method, expected in ("StartTracing", start), ("StopTracing", stop):
        if expected:
            assert run.client.call(method) == expected, (state, method)
            assert run.client.take_states() == [], (state, method)
            assert run.client.state() == state
    if state == "READY":
        os.kill(run.session.process.pid, signal.SIGTERM)
    run.end()
    # The others, each from the state anew.
    for method, expected in ("StartTracing", start), ("StopTracing", stop):
        if not expected:
            run = Run(state)
            number = run.client.send(method)
            run.client.call("GetState")
            run.go_on()
            assert isinstance(run.client.reply(number), dict), (state, method)
            assert run.client.take_states() == TOLD[method], (state, method)
            if run.pending:  # a start that a stop came into
                assert run.client.reply(run.pending) == 3
            run.end()


def check_pending(state, told):
    """A call under way is finished once the program answers."""
    run = Run(state)
    run.go_on()
    assert isinstance(run.client.reply(run.pending), dict)
    assert run.client.take_states() == told
    run.end()


def check_terminating(initialize, start, stop):
    """While a start, and a stop, are under way; what follows the call stands in the same packet. Its own reply comes last,
    once the trace is there."""
    for before, pending in ("INITIALIZED", None), ("STARTING", 4), ("STARTED", None), ("STOPPING", {}), ("STOPPED", None):
        run = Run(before)
        requests = [("TerminateTracing", {}), ("StartTracing", start), ("StopTracing", stop), ("GetKnownCategories", {})]
        run.client.socket.send(b"".join(
            json.dumps({"jsonrpc": "2.0", "id": 100 + i, "method": method}).encode() + b"\n"
            for i, (method, _) in enumerate(requests)))
        for i, (method, expected) in list(enumerate(requests))[1:]:
            reply = run.client.reply(100 + i)
            assert reply == expected if isinstance(expected, int) else isinstance(reply, dict), (before, method, reply)
        if pending:
            assert run.client.reply(run.pending) == pending
        elif pending == {}:
            assert set(run.client.reply(run.pending)) == {"provider_stats"}
        assert run.client.states[-1:] == ["TERMINATING"], run.client.states
        run.go_on()
        assert 100 not in run.client.replies
        result = run.client.reply(100)
        assert result["bytes"] == os.path.getsize("x.fxt") and result["complete"], (before, result)
        assert [set(stats) for stats in result["provider_stats"]] == [STATS], (before, result)
        assert not run.client.next()
        run.end()


for state, expected in TABLE.items():
    if state != "TERMINATING":
        check_state(state, *expected)
check_pending("STARTING", ["STARTED"])
check_pending("STOPPING", ["STOPPED"])
check_terminating(*TABLE["TERMINATING"])
