#!/usr/bin/env bats
# Starting and stopping a session while its program runs, alerts, and what fxtctl has for both.

load helpers
load steps

# python [ARGUMENT]...: runs what comes on standard input, behind what it needs.
python()
{
	{
		echo 'import os, signal, sys; from control import *; steps = os.environ["steps"]'
		cat
	} >test.py
	timeout 100 python3 test.py "$@"
}

@test "calls between the replies to a start and to a stop are recorded, and no others" {
	for mode in streaming circular oneshot; do
		python $mode <<-'END'
			session = Session(["--buffering-mode=" + sys.argv[1], "--start=paused"], steps)
			client, recorded, made = session.client, 0, 0
			assert client.state() == "INITIALIZED"
			for cycle in range(40):
			    session.tell(f"call {cycle + 1}")  # nothing is recorded now
			    assert client.call("StartTracing") == {}
			    made = sum(map(int, session.tell(f"call {100 + cycle}")))
			    recorded += 6 * (100 + cycle)
			    stats = client.call("StopTracing")["provider_stats"]
			    assert stats[0]["records_dropped"] == 0 and stats[0]["name"] == "steps", stats
			status, said = session.end()
			assert status == 0 and " 0 lost," in said, said
			assert recorded < made
			count = calls("trace.fxt")
			assert sum(count.values()) == recorded, (recorded, count)
			by_thread = {thread for thread, _ in count}
			assert len(by_thread) == 2
			for thread in by_thread:
			    assert count[thread, "leaf"] == 2 * count[thread, "outer"] == recorded // 3, count
			assert not faults("trace.fxt"), faults("trace.fxt")
		END
		fxt check trace.fxt
		# No call was open at a stop; a wait for the next order was.
		fxt dump trace.fxt | fails grep 'category="function".*abandoned'
	done
}

@test "threads that call all the time are started and stopped 100 times" {
	for mode in streaming circular; do
		python $mode <<-'END'
			session = Session(["--buffering-mode=" + sys.argv[1], "--buffer-size=1"], steps)
			client = session.client
			assert session.tell("run") == ["running"]
			for cycle in range(100):
			    client.call("StopTracing")
			    client.call("StartTracing")
			made = sum(map(int, session.tell("halt")))
			status, said = session.end()
			assert status == 0 and " 0 lost," in said, said
			count = calls("trace.fxt")
			assert 0 < sum(count.values()) <= made, (made, count)
			# If a call was open at a stop, the leaf may be recorded and not the
			# outer call, or the other way round.
			for thread in {thread for thread, _ in count}:
			    if sys.argv[1] == "streaming":
			        assert abs(count[thread, "leaf"] - 2 * count[thread, "outer"]) <= 2 * 101, count
			wrong = faults("trace.fxt")
			wrong.pop("calls:records_lost", 0)  # what a circular buffer no longer has
			assert not wrong, wrong
		END
		fxt check trace.fxt
	done
}

@test "each buffer disposition, and results written at a stop" {
	python <<-'END'
		def rounds(n):
		    session.tell(f"call {n}")
		for mode in "streaming", "circular", "oneshot":
		    session = Session(["--buffering-mode=" + mode], steps)
		    client = session.client
		    size = os.path.getsize("trace.fxt")
		    rounds(1)
		    client.call("StopTracing")
		    client.call("StartTracing", buffer_disposition="CLEAR_ENTIRE")
		    rounds(10)
		    client.call("StopTracing")
		    client.call("StartTracing", buffer_disposition="CLEAR_NONDURABLE")
		    rounds(100)
		    client.call("StopTracing")
		    client.call("StartTracing", buffer_disposition="RETAIN")
		    rounds(1000)
		    client.call("StopTracing", write_results=True)
		    assert os.path.getsize("trace.fxt") >= size + 2 * 3 * 1100 * 24
		    client.call("StartTracing", buffer_disposition="RETAIN")  # overridden: nothing is written twice
		    rounds(2000)
		    client.call("StopTracing", write_results=True)
		    assert session.end()[0] == 0
		    count = calls("trace.fxt")
		    assert sum(count.values()) == 2 * 3 * 3100, (mode, count)
		    assert len({thread for thread, _ in count}) == 2
		    assert {name for _, name in count} == {"outer", "leaf"}  # the modules are recorded again, too
		    assert not faults("trace.fxt"), faults("trace.fxt")
	END
	fxt check trace.fxt
}

# In streaming mode what is committed goes to the file before the buffer is full.
@test "records that a start clears are not in the trace, although they were in the file by then" {
	for trace in trace.fxt trace.fxt.zst; do
		for disposition in CLEAR_ENTIRE CLEAR_NONDURABLE RETAIN; do
			python $trace $disposition <<-'END'
				import time
				session = Session(["-o", sys.argv[1]], steps)
				session.client.call("StopTracing")
				session.client.call("StartTracing")
				before = os.path.getsize(sys.argv[1])
				session.tell("call 1000")
				while os.path.getsize(sys.argv[1]) <= before: # until it is saved
				    time.sleep(0.01)
				session.client.call("StopTracing")
				session.client.call("StartTracing", buffer_disposition=sys.argv[2])
				session.tell("call 10")
				assert session.end()[0] == 0
			END
			[ $trace = trace.fxt ] || zstd -dcq $trace >trace.fxt
			made=10
			[ $disposition != RETAIN ] || made=1010
			[ "$(calls_of trace.fxt leaf)" = $((2 * 2 * made)) ]
			[ "$(calls_of trace.fxt outer)" = $((2 * made)) ]
			fxt check trace.fxt
			rm trace.fxt*
		done
	done
}

@test "a call that is open at a stop ends there, and its later exit ends no other call" {
	python <<-'END'
		session = Session([], steps)
		client = session.client
		assert session.tell("wait") == ["waiting"]
		client.call("StopTracing")
		client.call("StartTracing")
		session.tell("return")
		session.tell("call 1")
		assert session.end()[0] == 0
		assert not faults("trace.fxt"), faults("trace.fxt")
		slices = {line[3]: line for line in decoded("slices", "trace.fxt") if line[2] == "function"}
		assert int(slices["waits"][4]) < int(slices["waits"][5]) < int(slices["outer"][4]), slices
		assert len(slices) == 3
	END
	fxt dump trace.fxt | grep -A3 waits | grep abandoned
}

# The test writes a jump to itself over the first instruction of that function of the agent,
# so that a thread stays there until the test writes the instruction back.
@test "a stop in the middle of a call's beginning: the call is not lost" {
	case $(uname -m) in
		x86_64) jump=ebfe ;;
		aarch64) jump=00000014 ;;
		*) skip "no jump for $(uname -m)" ;;
	esac
	cat >program.c <<-'END'
		#include <stdio.h>
		__attribute__((noinline)) static void leaf(void) { __asm__ volatile(""); }
		__attribute__((no_instrument_function)) int main(void)
		{
			char line[8];
			puts("ready");
			while (!fflush(stdout) && fgets(line, sizeof(line), stdin)) {
				leaf();
				puts("called");
			}
			return 0;
		}
	END
	cc -O2 -g -finstrument-functions -o program program.c
	python $jump "$build/libfxtagent.so" <<-'END'
		import time
		session = Session(["--heap=off", "--start=paused"], os.getcwd() + "/program")
		client = session.client
		pid = client.call("GetProviders")["providers"][0]["pid"]
		maps = [line.split() for line in open(f"/proc/{pid}/maps") if "/libfxtagent.so" in line]
		symbols = subprocess.run(["nm", sys.argv[2]], capture_output=True, text=True, check=True).stdout.split("\n")
		place = int(maps[0][0].split("-")[0], 16) + next(int(s.split()[0], 16) for s in symbols if s.endswith(" agent_make_room"))
		memory = os.open(f"/proc/{pid}/mem", os.O_RDWR)
		jump = bytes.fromhex(sys.argv[1])
		instruction = os.pread(memory, len(jump), place)
		try:
		    os.pwrite(memory, instruction, place)
		except OSError as error:
		    open("refused", "w").write(str(error))
		    session.end()
		    sys.exit()
		def worked():
		    return sum(map(int, open(f"/proc/{pid}/stat").read().split(") ")[1].split()[11:13]))
		client.call("StartTracing")
		os.pwrite(memory, jump, place)
		before = worked()
		session.process.stdin.write("\n")
		session.process.stdin.flush()
		while worked() < before + 5:  # until it is there
		    time.sleep(0.01)
		assert client.call("StopTracing")["provider_stats"][0]["records_dropped"] == 0
		os.pwrite(memory, instruction, place)
		assert session.process.stdout.readline() == "called\n"
		assert client.call("StartTracing") == {}
		assert session.tell("") == ["called"]
		status, said = session.end()
		assert status == 0 and " 0 lost," in said, said
		assert sum(calls("trace.fxt").values()) == 2, calls("trace.fxt")
		assert not faults("trace.fxt"), faults("trace.fxt")
	END
	[ ! -e refused ] || skip "code cannot be written by /proc/PID/mem: $(cat refused)"
}

@test "processes that begin while a session is stopped join it at the next start" {
	mkfifo fifo
	exec 7<>fifo
	python <<-'END'
		session = Session(["--start=paused"], steps)
		client = session.client
		lines = [session.tell("fork"), session.process.stdout.readline().split()]
		assert ["half"] in lines, lines
		assert len(client.call("GetProviders")["providers"]) == 2
		client.call("StartTracing")
		os.write(7, b"x")
		assert session.end()[0] == 0
		count = collections.Counter()
		for line in decoded("slices", "trace.fxt"):
		    if line[3] == "outer":
		        count[line[0]] += 1
		assert list(count.values()) == [500], count
	END
	exec 7>&-
}

@test "a program that does not answer: a start is reported when its time is up, and it follows once it can" {
	python <<-'END'
		import time
		session = Session(["--start=paused"], steps)
		client = session.client
		pid = client.call("GetProviders")["providers"][0]["pid"]
		os.kill(pid, signal.SIGSTOP)
		while any(open(f"/proc/{pid}/task/{tid}/stat").read().split()[2] != "T" for tid in os.listdir(f"/proc/{pid}/task")):
		    pass
		begin = time.monotonic()
		start = client.send("StartTracing")
		assert client.call("StartTracing") == 2
		assert client.reply(start) == {}
		assert time.monotonic() - begin >= 5
		assert client.take_states() == ["STARTING", "STARTED"]
		os.kill(pid, signal.SIGCONT)
		while sum(calls("trace.fxt").values()) == 0:
		    session.tell("call 1")
		    stop = client.call("StopTracing", write_results=True)
		    client.call("StartTracing")
		assert session.end()[0] == 0
	END
}

@test "alerts: of the program and of the controller, in order, the oldest dropped" {
	python <<-'END'
		session = Session([], steps)
		client, other = session.client, Client()
		watches = [client.send("WatchAlert"), other.send("WatchAlert")]
		client.call("GetState"), other.call("GetState")
		session.tell("alert first")
		assert client.reply(watches[0]) == {"alert_name": "first"}
		client.call("RaiseAlert", alert_name="second")
		assert other.reply(watches[1]) == {"alert_name": "second"}
		for n in range(1028):
		    client.call("RaiseAlert", alert_name=f"alert {n}")
		assert [client.call("WatchAlert")["alert_name"] for n in range(1024)] == [f"alert {n}" for n in range(4, 1028)]
		session.tell("alert of more than 14 bytes")
		session.tell("alert ")  # without a name there is none
		session.tell("alert last")
		assert client.call("WatchAlert") == {"alert_name": "of more than 1"}
		assert client.call("WatchAlert") == {"alert_name": "last"}
		for name in "", "fifteen letters", 1, None:
		    assert client.call("RaiseAlert", alert_name=name) == -32602
		client.call("StopTracing")
		session.tell("alert stopped")  # a program that is not recorded is heard too
		assert client.call("WatchAlert") == {"alert_name": "stopped"}
		client.call("RaiseAlert", alert_name="heard")
		assert client.call("WatchAlert") == {"alert_name": "heard"}
		assert session.end()[0] == 0
	END
}

@test "--trigger: an alert stops, takes a snapshot, or terminates" {
	python <<-'END'
		session = Session(["--buffering-mode=circular", "--trigger=a:b:stop", "--trigger=keep:snapshot",
		                   "--trigger=end:terminate"], steps)
		client = session.client
		session.tell("call 10")
		session.tell("alert keep")
		session.tell("alert a:b")
		while client.state() != "STOPPED":
		    pass
		session.tell("call 10")
		while not client.call("GetState")["snapshots_waiting"] == 0 or not os.path.getsize("trace-1.fxt"):
		    pass
		client.call("RaiseAlert", alert_name="end")
		while client.next():
		    pass
		assert client.states[-1] == "TERMINATING", client.states
		session.end()
		assert sum(calls("trace.fxt").values()) == 60
		assert sum(calls("trace-1.fxt").values()) == 60
	END
	# The moment at which it was raised is in the snapshot that it caused.
	fxt dump trace-1.fxt | grep 'instant thread=\([0-9]*\)/\1 .*category="process" name="alert" {name="keep"}'
	fxt dump trace.fxt | grep 'instant.* name="alert" {name="a:b"}'
}

# ---- fxtctl ----

@test "fxtctl: categories, start, stop, alert, watch" {
	exec 7> >(exec fxtrun --start=paused --session=srv "$steps" >out 2>err)
	recorder=$!
	await ready out
	fxtctl categories | grep -E '^function +calls'
	fxtctl watch >watched 7>&- 3>&- &
	watcher=$!
	fxtctl alert early
	await early watched
	fxtctl start --categories=net,disk --clear=entire
	fxtctl status | grep -x 'state      STARTED'
	run fxtctl start
	[ "$status" = 1 ]
	[ "$output" = "fxtctl: session srv: tracing has been started already" ]
	echo call 5 >&7
	await '15 15' out
	pid=$(fxtctl --json providers | python3 -c 'import json, sys; print(json.load(sys.stdin)["providers"][0]["pid"])')
	fxtctl --session="$pid" stop --write-results | grep -E "^ *$pid .* steps\$"
	[ "$(calls_of trace.fxt outer)" = 10 ]
	fxtctl --json list | grep '"STOPPED"'
	run fxtctl --session=1 stop
	[ "$output" = "fxtctl: no session named 1 runs; fxtctl list shows those that do" ]
	exec 7>&-
	wait $watcher
	wait $recorder
	[ "$(cat watched | tr '\n' ,)" = "alert early,state STARTING,state STARTED,state STOPPING,state STOPPED,state TERMINATING," ]
	[ "$(calls_of trace.fxt outer)" = 10 ]
}

@test "fxtctl: options of other commands, and a session that does not answer" {
	run fxtctl --clear=entire stop
	[ "$status" = 2 ]
	[ "$output" = "fxtctl: --clear is for start only" ]
	run fxtctl --write-results start
	[ "$output" = "fxtctl: --write-results is for stop only" ]
	run fxtctl --categories=a list
	[ "$output" = "fxtctl: --categories is for start and record only" ]
	run fxtctl alert
	[ "$output" = "fxtctl: alert: needs a name" ]
	exec 7> >(exec fxtrun --session=srv "$steps" >out 2>err)
	recorder=$!
	await ready out
	run fxtctl --clear=all start
	[ "$output" = "fxtctl: --clear=all: must be entire, nondurable or retain" ]
	run fxtctl --categories=,x start
	[ "$output" = "fxtctl: --categories=,x: must be names with one comma between two of them" ]
	kill -STOP $(recorder_of $recorder)
	run timeout 60 fxtctl status
	kill -CONT $(recorder_of $recorder)
	[ "$status" = 1 ]
	[ "$output" = "fxtctl: session srv does not answer" ]
	exec 7>&-
	wait $recorder
	[ ! -e "$XDG_RUNTIME_DIR/fxt" ]
}

@test "a snapshot of a stopped session has what was written at the stop, once" {
	python <<-'END'
		session = Session(["--buffering-mode=circular"], steps)
		client = session.client
		session.tell("call 10")
		client.call("StopTracing", write_results=True)
		assert client.call("Snapshot", path=os.getcwd() + "/s.fxt")["events"] >= 60
		assert sum(calls("s.fxt").values()) == 60
		assert not faults("s.fxt"), faults("s.fxt")
		assert session.end()[0] == 0
	END
}

@test "an output that cannot be written any more: the stop says so" {
	python <<-'END'
		import resource
		session = Session([], steps)
		session.tell("call 1000")
		pid = session.process.pid
		recorder = int(open(f"/proc/{pid}/task/{pid}/children").read())
		resource.prlimit(recorder, resource.RLIMIT_FSIZE, (4096, 4096))
		assert session.client.call("StopTracing", write_results=True) == 3
		assert session.client.state() == "STOPPED"
		status, said = session.end()
		assert status == 125 and "could not be written" in said, said
	END
}

@test "a program may make calls that only processes of one thread may make" {
	unshare --user true || skip "no user namespaces here"
	fxtrun unshare --user true
	fxtrun --start=paused unshare --user true
}

# Sanitizers replace clone() and what copies memory, and those look at a thread's state that
# the agent's helper has not.
@test "a program with a sanitizer is started and stopped" {
	for sanitizer in thread address; do
		cc -g -O1 -finstrument-functions -fsanitize=$sanitizer -pthread -o sanitized \
			"$BATS_TEST_DIRNAME/../programs/sessions/steps.c"
		python <<-'END'
			session = Session([], os.getcwd() + "/sanitized")
			client = session.client
			for disposition in "CLEAR_ENTIRE", "CLEAR_NONDURABLE", "RETAIN":
			    session.tell("call 10")
			    client.call("StopTracing")
			    client.call("StartTracing", buffer_disposition=disposition)
			session.tell("call 10")
			status, said = session.end()
			assert status == 0, (status, said)
		END
		fxt check trace.fxt
	done
}
