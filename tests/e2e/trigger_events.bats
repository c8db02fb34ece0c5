#!/usr/bin/env bats
# Events that raise triggers, and when the triggers act. The truth is in the program's own
# counts, and in what it did by order of the test.

load helpers
load steps

# python: runs what comes on standard input, behind what it needs.
python()
{
	cat >test.py <<-'END'
		import os, signal, time
		from control import *
		steps = os.environ["steps"]

		def of(trace):
		    recorded = collections.Counter()
		    for (thread, name), count in calls(trace).items():
		        recorded[name] += count
		    wrong = set(faults(trace)) - {"calls:left_open"}
		    assert not wrong, (trace, wrong)
		    return recorded

		def await_state(client, state):
		    while client.state() != state:
		        pass

		def await_snapshots(client, count):
		    while not os.path.exists(f"trace-{count}.fxt") or client.call("GetState")["snapshots_waiting"]:
		        time.sleep(0.01)
	END
	cat >>test.py
	timeout 100 python3 test.py
}

@test "the begin and the end of a function start and stop recording: exactly the calls inside, or around" {
	compiled sessions/gates.c -O0
	has()
	{
		fxt check a.fxt
		[ "$(calls_of a.fxt gate) $(calls_of a.fxt leaf)" = "$1" ]
	}
	for mode in streaming circular; do
		fxtrun --buffering-mode=$mode -o a.fxt --trigger=gate=begin:start --trigger=gate=end:stop ./program
		has "20 100"
		fxtrun --buffering-mode=$mode -o a.fxt -t 0us --trigger=gate=begin:stop --trigger=gate=end:start ./program
		has "0 126"
	done
	# From the fourth on; with and without another filter.
	fxtrun -o a.fxt --trigger=gate=begin:start/once-after=4 ./program
	has "14 $((2 * (7 * 5 + 6 * 7)))"
	fxtrun -o a.fxt --trigger=gate=begin:start/once-after=4 -F gate ./program
	has "14 70"
	fxtrun -o a.fxt --trigger=gate=end:stop/once-after=4 ./program
	has "8 $((2 * (4 * 5 + 4 * 7)))"
}

@test "the call by which it is raised so often: once, and neither before nor after" {
	python <<-'END'
		# If several are made together, the first must not be taken for an earlier
		# one, nor the last for a later one.
		for event, name, made in ("leaf=begin", "leaf", 40), ("leaf=end", "leaf", 40), ("outer>0ns", "outer", 20):
		    for times in made + 1, made + made // 10:
		        session = Session(["-o", "x.fxt", f"--trigger={event}:terminate/once-after={times}"], steps)
		        assert session.tell("call 10") == ["30", "30"]
		        for _ in range(3):  # the session has counted them by then
		            assert session.client.state() == "STARTED"
		        session.tell("call 1")
		        while session.client.next():
		            pass
		        session.end()
		        assert times <= of("x.fxt")[name] <= made + made // 10, (event, times, of("x.fxt"))
		session = Session(["--buffering-mode=circular", "--trigger=x:snapshot/once-after=3"], steps)
		for n in range(5):
		    session.tell("call 1")
		    session.client.call("RaiseAlert", alert_name="x")
		    if n == 2:
		        await_snapshots(session.client, 1)
		assert session.end()[0] == 0
		assert of("trace-1.fxt") == {"outer": 6, "leaf": 12}, of("trace-1.fxt")
		assert not os.path.exists("trace-2.fxt")
	END
}

@test "after=: once, this long after it was raised, however often it is raised until then" {
	python <<-'END'
		# On a busy machine the calls may take longer than that: then they are to have more time.
		for after in 0.3, 3, 30:
		    session = Session(["-o", "x.fxt", f"--trigger=x:stop/after={round(1000 * after)}ms"], steps)
		    since = time.monotonic()
		    session.client.call("RaiseAlert", alert_name="x")
		    session.tell("call 10")
		    session.client.call("RaiseAlert", alert_name="x")
		    in_time = time.monotonic() - since < after
		    await_state(session.client, "STOPPED")
		    assert after <= time.monotonic() - since, time.monotonic() - since
		    session.tell("call 10")
		    assert session.client.call("StartTracing") == {}
		    session.tell("call 10")
		    assert session.end()[0] == 0
		    if in_time:
		        break
		assert in_time
		assert of("x.fxt") == {"outer": 40, "leaf": 80}, of("x.fxt")
		# Raising it all the time does not delay it; the action is not repeated as
		# long after that.
		session = Session(["-o", "x.fxt", "--trigger=x:stop/after=200ms", "--trigger=y:terminate/after=600ms"], steps)
		session.client.call("RaiseAlert", alert_name="x")
		await_state(session.client, "STOPPED")
		assert session.client.call("StartTracing") == {}
		session.client.take_states()
		since = time.monotonic()
		try:
		    while True:
		        session.client.call("RaiseAlert", alert_name="y")
		except (AssertionError, OSError):  # the session has ended
		    pass
		assert 0.6 <= time.monotonic() - since, time.monotonic() - since
		assert session.client.states == ["TERMINATING"], session.client.states
		session.end()
	END
}

@test "an alert starts recording, also one that the program raises while nothing is recorded" {
	python <<-'END'
		session = Session(["-o", "x.fxt", "--start=paused", "--trigger=go:start", "--trigger=halt:stop"], steps)
		for n in range(3):
		    session.tell("call 1")
		    session.tell("alert go")
		    await_state(session.client, "STARTED")
		    session.tell("call 10")
		    session.tell("alert halt")
		    await_state(session.client, "STOPPED")
		assert session.end()[0] == 0
		assert of("x.fxt") == {"outer": 60, "leaf": 120}, of("x.fxt")
	END
}

@test "a process that dies of a signal, or exits with a status, and no other" {
	python <<-'END'
		for trigger, others, raises in ("signal=SEGV", ("die 6", "exit 3", "exit 0"), "die 11"), \
		        ("signal=SIGABRT", ("die 11", "exit 6"), "die 6"), \
		        ("exit!=0", ("die 11", "exit 0"), "exit 3"), ("exit=3", ("die 3", "exit 2", "exit 0"), "exit 3"):
		    session = Session(["-o", "x.fxt", "--follow=fork", f"--trigger={trigger}:stop"], steps)
		    for step in others:
		        session.tell(step)
		        while len(session.client.call("GetProviders")["providers"]) > 1:
		            pass
		        assert session.client.state() == "STARTED", (trigger, step)
		    session.tell("call 10")
		    session.tell(raises)
		    await_state(session.client, "STOPPED")
		    session.tell("call 10")
		    assert session.end()[0] == 0
		    rounds = 20 + len(others) + 1
		    assert of("x.fxt") == {"outer": rounds, "leaf": 2 * rounds}, (trigger, of("x.fxt"))
		# The calls that led to a child's death are kept.
		session = Session(["--buffering-mode=circular", "--trigger=signal=SEGV:snapshot"], steps)
		session.tell("call 10")
		session.tell("die 11")
		await_snapshots(session.client, 1)
		session.tell("call 10")
		assert session.end()[0] == 0
		assert of("trace-1.fxt") == {"outer": 21, "leaf": 42}, of("trace-1.fxt")
	END
	# The program itself; what it leaves behind is not waited for then.
	fxtrun -o x.fxt --trigger=exit!=0:terminate sh -c 'exit 3' 2>said || [ $? = 3 ]
	timeout 60 fxtrun -o x.fxt --decouple --trigger=exit=3:terminate sh -c 'sleep 1000 3>&- & echo $! >left; exit 3' 2>said || [ $? = 3 ]
	kill "$(<left)"
	! grep 'no snapshot' said
}

@test "wrong triggers are refused" {
	for wrong in 'f>1ms:start: calls are not seen before recording starts; the beginning of a call can start it, as in '"'serve=begin:start'" \
		'f=begin:start/1s: a call that begins or ends starts or stops recording at once: the only condition is once-after=N' \
		'=end:stop: must name a function, or a pattern of functions' \
		'signal=BUG:stop: must name a signal, such as signal=SEGV' \
		'exit!=300:stop: must have an exit status, such as exit!=0' \
		'a:stop/after=soon: after= must have a time with a unit, such as after=100ms' \
		'a:stop/once-after=0: once-after= must have a number of times, such as once-after=3'; do
		says 125 "fxtrun: --trigger=$wrong" fxtrun --trigger="${wrong%%: *}" true
	done
	says 125 'fxtrun: --trigger=a:stop: may be given 15 times' fxtrun $(printf -- '--trigger=a:stop %.0s' $(seq 16)) true
	fxtrun --trigger=nothing=begin:snapshot "$steps" 2>said </dev/null
	grep -x 'fxtrun: --trigger=nothing=begin:snapshot matches no function that was called' said
}
