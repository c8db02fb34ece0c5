#!/usr/bin/env bats
# The control socket against the tables of the Fuchsia trace controller: every call in every
# state, its reply or error, and the reported states.

load helpers
load steps

@test "every call in every state" {
	timeout 200 python3 "$BATS_TEST_DIRNAME/conformance.py"
}

@test "a configuration: every field, and what is wrong with it" {
	timeout 100 python3 - <<-'END'
		from control import *
		import struct
		here = os.getcwd()
		os.mkfifo("pipe")
		wrong = [
		    {"output": here + "/pipe"},  # it has no reader
		    {"output": "relative.fxt"}, {"output": 1}, {"output": "/no/such/folder/x.fxt"}, {"colour": "red"},
		    {"categories": "a"}, {"categories": [1]}, {"categories": [""]}, {"categories": ["x" * 101]},
		    {"buffer_size_megabytes_hint": "4"}, {"buffer_size_megabytes_hint": -1}, {"buffer_size_megabytes_hint": 4097},
		    {"start_timeout_milliseconds": -1}, {"start_timeout_milliseconds": "5"},
		    {"buffering_mode": "round"}, {"buffering_mode": 1}, {"provider_specs": {}}, {"provider_specs": [{}]},
		    {"provider_specs": [{"name": "x"}]}, {"version": 1}, {"version": {"major": 0, "minor": 0}},
		    {"defer_transfer": 1}, {"muting_percent": 100}, {"muting_percent": "20"}, {"muting_percent": 20},
		]
		session = Session.waiting(os.environ["steps"])
		for config in wrong:
		    client = Client()
		    assert client.call("InitializeTracing", **config) == -32602, config
		    assert not client.next(), config  # and the connection is ended
		# The message suits a client: it does not mention the option -o.
		for config, said in [
		    ({"output": "/no/such/folder/x.fxt"},
		     "cannot write the trace to /no/such/folder/x.fxt: No such file or directory; choose another place"),
		    ({"provider_specs": [{"name": "x"}]},
		     "provider_specs must each have both a name and a buffer_size_megabytes_hint"),
		    ({"categories": ["x" * 100] * 21},
		     "categories may have at most 2048 bytes together, one more counted for each"),
		]:
		    client = Client()
		    client.file.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "InitializeTracing", "params": config}).encode() + b"\n")
		    client.file.flush()
		    assert json.loads(client.file.readline())["error"]["message"] == said, config
		owner, other = Client(), Client()
		assert owner.state() == "READY"
		assert owner.call("InitializeTracing", output=here + "/x.fxt", categories=["function", "none*"],
		                  buffer_size_megabytes_hint=8, start_timeout_milliseconds=1, buffering_mode="STREAMING",
		                  provider_specs=[{"name": "steps", "buffer_size_megabytes_hint": 2}],
		                  version={"major": 0, "minor": 1}, defer_transfer=True) == {}
		session.ready()
		assert other.call("InitializeTracing") == -32602 and not other.next()
		while not owner.call("GetProviders")["providers"]:
		    pass
		assert owner.call("StartTracing") == {}
		session.tell("call 10")
		stats = owner.call("StopTracing", write_results=True)["provider_stats"][0]
		assert stats["buffering_mode"] == "STREAMING" and stats["name"] == "steps", stats
		assert os.path.getsize("x.fxt") == 0  # all of it is deferred
		owner.socket.shutdown(socket.SHUT_RDWR)  # the client that made the session ends it
		assert session.end()[0] == 0
		assert sum(calls("x.fxt").values()) == 60
		assert not faults("x.fxt"), faults("x.fxt")
	END
}

@test "a session that is ended before a controller came is never initialized" {
	timeout 100 python3 - <<-'END'
		from control import *
		session = Session.waiting(os.environ["steps"])
		client = Client()
		assert client.state() == "READY"
		session.process.terminate()
		while client.next():
		    pass
		assert client.states == [], client.states
		assert session.end()[0] == 143
	END
}

@test "the program goes on when its controller goes away" {
	timeout 100 python3 - <<-'END'
		from control import *
		session = Session.waiting(os.environ["steps"])
		owner = Client()
		assert owner.call("InitializeTracing", output=os.getcwd() + "/x.fxt", buffering_mode="CIRCULAR") == {}
		session.ready()
		assert owner.call("StartTracing") == {}
		session.tell("call 10")
		owner.file.close()
		owner.socket.close()
		while session.process.poll() is None:
		    pass
		assert session.process.returncode == 0
		assert session.tell("call 1") == ["33", "33"]  # the program, still
		session.process.stdin.close()
		assert sum(calls("x.fxt").values()) == 60
	END
}
