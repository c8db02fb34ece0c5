#!/usr/bin/env bats
# Triggers are added and removed while a program runs. The truth is in the program's own
# times of its calls, and in what it did by order of the test.

load helpers
load steps

@test "a trigger of calls takes snapshots from when it is added until it is removed" {
	compiled sessions/slow_calls.c
	timeout 100 python3 - <<-'END'
		from triggers import *
		calls, traces = [], []

		def change(run, call):
		    calls.append(call)
		    set_trigger = lambda **given: run.session.client.call("SetTrigger", **given)
		    if len(calls) == 2:
		        assert not glob.glob("trace-*.fxt")
		        assert set_trigger(trigger="serve>3ms:snapshot/0s") == {"number": 1}
		        assert set_trigger(trigger="slow:snapshot/after=10ms") == {"number": 2}
		    elif len(calls) in (3, 4):
		        run.await_snapshot(call)
		        state = run.session.client.call("GetState")["triggers"]
		        assert [(trigger["number"], trigger["trigger"]) for trigger in state] == \
		            [(1, "serve>3ms:snapshot/0s"), (2, "slow:snapshot/after=10ms")], state
		        assert state[0]["raised"] >= len(calls) - 2 and state[1]["raised"] == 0, state
		    if len(calls) == 4:
		        assert set_trigger(remove=1) == {} and set_trigger(remove=2) == {}
		        run.look()
		        traces.extend(run.traces)
		run = Program("./program", [], change)
		assert run.traces == traces, (run.traces, traces)
		assert set(calls[2:4]) <= run.found, (calls, run.found)
	END
}

@test "triggers that start and stop recording, added and removed while calls are open, and in children" {
	cc -O2 -g -finstrument-functions -o nested "$root/tests/programs/filters/nested.c"
	timeout 100 python3 - <<-'END'
		from control import *
		for options in [], ["--max-calls=1000"], ["--only-under=to", "--only-under=fro", "--only-under=leaf"]:
		    session = Session(["-o", "x.fxt", *options], "./nested")

		    def tell(*words):
		        for word in words:
		            session.tell(word)

		    def set_trigger(**given):
		        return session.client.call("SetTrigger", **given)
		    tell("leaf", "fro", "leaf")
		    assert set_trigger(trigger="to=begin:start") == {"number": 1}
		    assert set_trigger(trigger="to=end:stop") == {"number": 2}
		    tell("leaf", "back", "leaf", "to", "leaf", "back", "leaf", "fro", "leaf")
		    assert set_trigger(trigger="nobody>1h:terminate") == {"number": 3}
		    assert session.client.call("SetFilter", depth=9) == {}
		    tell("leaf", "to", "fro", "leaf", "back", "back", "leaf", "fork", "leaf", "to", "leaf", "back", "back", "leaf")
		    for number in 2, 1, 3:
		        assert set_trigger(remove=number) == {}
		    tell("leaf")
		    status, errors = session.end()
		    assert status == 0 and " 0 lost," in errors, errors
		    names = collections.Counter(line[3] for line in decoded("slices", "x.fxt") if line[2] == "function")
		    assert names == {"leaf": 6, "to": 3, "fro": 2}, (options, names)
		    assert not faults("x.fxt"), faults("x.fxt")
		    told = subprocess.run(["fxt", "dump", "x.fxt"], capture_output=True, text=True).stdout
		    assert '--trigger=to=begin:start --trigger=to=end:stop"' in told
	END
}

@test "fxtctl trigger: alerts, exits and calls; its output, its errors, and the highest number of triggers" {
	exec 7> >(exec fxtrun -o x.fxt --session=srv --buffering-mode=circular --trigger=one:stop "$steps" >out 2>err)
	recorder=$!
	await ready out
	fxtctl trigger two:start
	fxtctl trigger 'exit=3:stop'
	fxtctl trigger 'left>1h:snapshot'
	diff - <(fxtctl trigger) <<-END
		NUMBER       RAISED  TRIGGER
		     1            0  one:stop
		     2            0  two:start
		     3            0  exit=3:stop
		     4            0  left>1h:snapshot
	END
	state() { until [ "$(fxtctl --json status | jq -r .state)" = "$1" ]; do :; done; }
	fxtctl alert one
	state STOPPED
	fxtctl alert two
	state STARTED
	echo exit 3 >&7
	state STOPPED
	fxtctl trigger --remove=1
	fxtctl alert two
	state STARTED
	fxtctl alert one
	fxtctl trigger | grep '^ *2 *2  two:start'
	fxtctl trigger | fails grep one
	[ "$(fxtctl --json status | jq -r .state)" = STARTED ]
	says 1 'fxtctl: session srv: there is no trigger 1' fxtctl trigger --remove=1
	says 1 'fxtctl: session srv: there is no trigger 99' fxtctl trigger --remove=99
	says 2 'fxtctl: --remove=x: must be the number of a trigger, which fxtctl trigger shows' fxtctl trigger --remove=x
	says 2 'fxtctl: trigger: a trigger and --remove exclude each other' fxtctl trigger a:stop --remove=2
	says 2 'fxtctl: --remove is for trigger only' fxtctl --remove=2 list
	says 1 'fxtctl: session srv: a>b:explode: the action must be start, stop, snapshot or terminate' fxtctl trigger 'a>b:explode'
	for i in {1..12}; do
		fxtctl trigger "leaf>1h:stop"
		fxtctl trigger --remove=$((i < 2 ? 1 : i + 3))
	done
	fxtctl trigger one:stop
	says 1 'fxtctl: session srv: a recording has at most 15 triggers, including removed ones that calls raised' \
		fxtctl trigger 'leaf>1h:stop'
	exec 7>&-
	wait $recorder
	grep 'fxtrun: --trigger=left>1h:snapshot matches no function that was called' err
	exec 7> >(exec fxtrun -o y.fxt --raw --session=srv "$steps" >out 2>err)
	recorder=$!
	await ready out
	says 1 'fxtctl: session srv: filters need the names of functions, which --raw leaves out' fxtctl trigger 'leaf>1h:stop'
	says 1 'fxtctl: session srv: only a circular buffer has snapshots; fxtrun --buffering-mode=circular has one' \
		fxtctl trigger slow:snapshot
	fxtctl trigger slow:terminate
	fxtctl alert slow
	wait $recorder
	exec 7>&-
}

@test "fxtctl record --trigger: of this recording alone" {
	compiled sessions/slow_calls.c
	mkfifo go
	fxtrun --session=srv --start=idle --trigger=never:stop ./program endless <go >out 2>err 3>&- &
	recorder=$!
	exec 7>go
	until fxtctl list | grep -q '^srv .* READY '; do :; done
	fxtctl record -o one.fxt --trigger='serve>3ms:terminate' --trigger=never:start
	fxt check one.fxt
	[ "$(calls_of one.fxt serve)" -ge 1 ]
	[ "$(fxtctl trigger | tail -n 1 | tr -s ' ')" = ' 1 0 never:stop' ]
	says 1 'fxtctl: session srv: a>b:explode: the action must be start, stop, snapshot or terminate' \
		fxtctl record -o two.fxt --trigger='a>b:explode'
	fxtctl record -o two.fxt --duration=0.1
	kill "$(pgrep -P "$(pgrep -P $recorder)" -x program)"
	status=0
	wait $recorder || status=$?
	[ "$status" = 143 ] # the program's
	exec 7>&-
}
