#!/usr/bin/env bats
# Triggers that calls raise. The truth is how long the program found its calls to take.

load helpers
load steps

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return 1
	compiled sessions/slow_calls.c
	mkdir sockets
}

# python: runs what comes on standard input, behind what it needs; `program` is the program.
python()
{
	{
		echo 'import glob, os, sys; from triggers import *; program = os.environ["BATS_FILE_TMPDIR"] + "/program"'
		cat
	} >test.py
	timeout 100 python3 test.py
}

@test "a call that takes at least the time of a trigger is in a snapshot before the next call, and others raise none" {
	python <<-'END'
		run = Program(program, ["--trigger=serve>3ms:snapshot/0s"], Program.await_snapshot)
		assert run.slow <= run.found <= run.perhaps, (run.slow, run.found, run.perhaps)
		# A call of the other thread that ends before a snapshot is begun is in the same one.
		assert 3 <= len(run.traces) <= len(run.perhaps), (run.traces, run.perhaps)
	END
}

@test "in sessions that leave out calls those that raise a trigger are recorded; of several triggers the last that matches" {
	python <<-'END'
		def change(run, call):  # the filter, of which triggers are no part
		    assert run.session.client.call("SetFilter", exclude=["other"]) == {}
		run = Program(program, ["-t", "1h", "--trigger=*>1ns:stop", "--trigger=/^(spin|main|other)$/>1h:stop",
		                        "--trigger=serve>3ms:snapshot/0s"], change)
		recorded = sum(line[3] == "serve" for line in decoded("slices", "trace.fxt"))
		assert len(run.slow) <= recorded <= len(run.perhaps), (run.slow, recorded, run.perhaps)
		assert 1 <= len(run.traces) <= len(run.perhaps), (run.traces, run.perhaps)
		whole = {line[0]: int(line[1]) for line in decoded("whole", "trace.fxt")}
		assert whole["serve"] == run.calls, whole
	END
}

@test "a trigger with a time takes at most one snapshot in it" {
	python <<-'END'
		run = Program(program, ["--trigger=serve>3ms:snapshot/1h"])
		assert run.traces == ["trace-1.fxt"], run.traces
	END
}

@test "without a time at most one snapshot a second is taken, and the number of further requests is reported" {
	compiled processes/generations.c
	fxtrun --buffering-mode=circular --no-sched --trigger='in_parent=end:snapshot' -o trace.fxt \
		./program 400 1 </dev/null >out 2>said
	taken=$(ls trace-*.fxt | wc -l)
	# From the first call to the last, rounded up.
	seconds=$(fxt info trace.fxt | awk 'NR == 1 { print $(NF - 1), $NF }' |
		awk '{ n = $2 == "s" ? $1 : $2 == "ms" ? $1 / 1000 : 3600; print int(n) + 1 }')
	[ "$taken" -ge 1 ]
	[ "$taken" -le "$seconds" ]
	more=$(sed -n 's/^fxtrun: --trigger=in_parent=end:snapshot was raised \([0-9]*\) times more .*/\1/p' said)
	[ $((more + taken)) = 400 ]
}

@test "a call stops the recording, or ends the session" {
	timeout 60 fxtrun -o ended.fxt --trigger='se*>3ms:terminate' "$BATS_FILE_TMPDIR/program" endless
	fxt check ended.fxt
	[ "$(calls_of ended.fxt serve)" -ge 1 ]
	fxtrun --no-sched --session=srv --trigger='serve>3ms:stop' "$BATS_FILE_TMPDIR/program" endless 2>said 3>&- &
	recorder=$!
	python3 -c 'import control
while True:
    try:
        client = control.Client()
        break
    except (FileNotFoundError, ConnectionRefusedError):
        pass
while client.state() != "STOPPED":
    pass
client.call("TerminateTracing")'
	wait $recorder
	fxt check trace.fxt
	[ "$(calls_of trace.fxt serve)" -ge 1 ]
}

@test "wrong triggers are refused, and one that matches nothing is reported" {
	says 125 "fxtrun: --trigger=serve>5ms:explode: the action must be start, stop, snapshot or terminate" \
		fxtrun --trigger='serve>5ms:explode' true
	says 125 "fxtrun: --trigger=serve>5ms:snapshot/x: the condition must be a time with a unit, such as snapshot/10s" \
		fxtrun --trigger='serve>5ms:snapshot/x' true
	fxtrun --trigger='server>5ms:snapshot' "$BATS_FILE_TMPDIR/program" 2>said </dev/null
	grep -x 'fxtrun: --trigger=server>5ms:snapshot matches no function that was called' said
}
