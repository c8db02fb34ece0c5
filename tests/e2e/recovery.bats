#!/usr/bin/env bats
# The process of fxtrun that records is killed, and the one that the shell knows finishes
# the trace.

load helpers

setup_file()
{
	cc -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/counted" "$BATS_TEST_DIRNAME/../programs/launcher/counted.c"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	export XDG_RUNTIME_DIR=$PWD counted=$BATS_FILE_TMPDIR/counted
}

# Processes that a failed test left running would keep bats waiting.
teardown()
{
	kill -KILL $job $program 2>/dev/null || true
}

# bereaved OPTION...: $counted, which made 1000 calls and waits, and its session, with a
# killed manager.
bereaved()
{
	fxtrun "$@" "$counted" 1000 wait >out 2>said 3>&- &
	job=$!
	program=$(await ready out | cut -d ' ' -f 2)
	kill -KILL $(recorder_of $job)
	await 'was killed by signal 9' said
}

# recovered TRACE: it is whole, says so, and has the calls under their names.
recovered()
{
	fxt check "$1"
	fxt info "$1" | grep '^recovered: '
	[ "$(calls_of "$1" leaf)" = 1000 ]
}

@test "the manager killed at any moment: kept and lost calls add up to those made" {
	"$root/tests/torture" "$build" 5 "$RANDOM" recorder
}

@test "the manager killed with limited address space: everything is recovered" {
	ulimit -Sv 400000
	bereaved -o trace.fxt
	ulimit -Sv "$(ulimit -Hv)"
	kill "$program"
	wait $job || [ $? = 137 ]
	grep '^fxtrun: recovered: .* 1 thread, 1 process, 0 lost, ' said
	recovered trace.fxt
}

@test "the manager killed: the trace is finished once the program has ended, and fxtrun dies of the signal" {
	for mode in streaming circular oneshot; do
		bereaved --buffering-mode=$mode -o $mode.fxt env # in its place
		kill "$program"
		wait $job || [ $? = 137 ]
		grep '^fxtrun: recovered: .* 1 thread, 1 process, 0 lost, ' said
		recovered $mode.fxt
		fxt report $mode.fxt | grep '^the trace was recovered '
		fxt flamegraph -o - $mode.fxt | grep 'The trace was recovered: '
		fxt diff $mode.fxt $mode.fxt | grep '^2 of the traces are incomplete, '
		fxt html -o - $mode.fxt | grep '^"is_recovered": true'
		# A process that came since may have called it too.
		status=0
		fxt check --fail-if='leaf.calls > 1000' $mode.fxt || status=$?
		[ "$status" = 3 ]
		fxt check --fail-if='leaf.calls >= 1000' $mode.fxt || status=$?
		[ "$status" = 4 ]
		rm out said
	done
}

@test "the manager killed: the sums of elided calls are in the trace" {
	bereaved -t 1h --categories=function
	fxtctl recover | grep '^trace.fxt: [0-9]* events, 0 lost, '
	decode whole trace.fxt | grep -P '^leaf\t1000\t1000\t'
	kill "$program"
	wait $job || [ $? = 137 ]
	rm out said
	bereaved -t 1h --categories=function -o end.fxt
	kill "$program"
	wait $job || [ $? = 137 ]
	decode whole end.fxt | grep -P '^leaf\t1000\t1000\t'
}

@test "fxtctl recover: the trace is there at once, the program goes on" {
	bereaved --session=left
	fxtctl list | grep -E "^left +$job +RECOVERABLE +STREAMING +$counted"
	fxtctl --session=$program status | grep '^state *RECOVERABLE$'
	says 1 "fxtctl: session left: the manager was killed; fxtctl recover makes a trace of what is left now, otherwise that is done once the program has ended" \
		fxtctl snapshot
	fxtctl recover | grep '^trace.fxt: [0-9]* events, 0 lost, '
	wait $job || [ $? = 137 ]
	recovered trace.fxt
	kill -0 "$program"
	kill "$program"
	[ -z "$(fxtctl list | sed 1d)" ]
}

@test "fxtctl recover of a session that is recorded: nothing is touched" {
	fxtrun --session=lives "$counted" 1000 wait >out 3>&- &
	job=$!
	program=$(await ready out | cut -d ' ' -f 2)
	says 1 "fxtctl: session lives: the session is recorded, and there is nothing to recover; fxtctl terminate ends it" fxtctl recover
	kill "$program"
	wait $job || [ $? = 143 ]
	[ "$(calls_of trace.fxt leaf)" = 1000 ]
	fxt info trace.fxt | fails grep -e ^recovered -e ^unfinished
}

@test "the manager of a process tree killed: all processes are recovered, and missing records are reported" {
	mkfifo go
	fxtrun --heap=off --buffer-size=64K sh -c '
		for i in 1 2 3; do "$counted" 300000 wait & pids="$pids $!"; done
		read -r line <go; kill $pids' >out 2>said 3>&- &
	job=$!
	await ready out
	kill -KILL $(recorder_of $job)
	until [ "$(grep -c ready out)" = 3 ]; do :; done
	echo >go
	wait $job || [ $? = 137 ]
	fxt check trace.fxt
	lost=$(sed -En 's/^fxtrun: recovered: .*, 4 processes, ([0-9,]+) lost, .*/\1/p' said | tr -d ,)
	# Calls of leaf() are all that could not be recorded: the others were open, or among
	# the first.
	[ $(($(calls_of trace.fxt leaf) + lost)) = 900000 ]
}

@test "the manager killed: the heap over time and the cost of a call, which only it had measured, stay" {
	cc -O2 -g -finstrument-functions -o holds -x c - <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		int main(void)
		{
			char *volatile block = malloc(1 << 20);
			getchar();
			free(block);
			puts("freed");
			fflush(stdout);
			for (;;)
				pause();
		}
	END
	held() { fxt sql "select max(value) > 1000000 from counters where series = 'live bytes'" "$1" 2>&1 | grep -wq 1; }
	mkfifo go
	fxtrun --buffering-mode=circular --calibrate --heap=objects ./holds <go >out 2>said 3>&- &
	job=$!
	exec 4>go
	until held trace.fxt; do :; done
	echo >&4
	await freed out
	program=$(pgrep -P $(recorder_of $job))
	kill -KILL $(recorder_of $job)
	kill "$program"
	wait $job || [ $? = 137 ]
	fxt check trace.fxt
	held trace.fxt
	fxt report --corrected trace.fxt
}

@test "the manager killed with --follow=none: children that were not wanted are not mentioned" {
	cc -O2 -finstrument-functions -o forks -x c - <<-'END'
		#include <stdio.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static void child(void) { _exit(0); }
		int main(void)
		{
			puts("ready");
			fflush(stdout);
			getchar();
			if (fork() == 0)
				child();
			return wait(NULL) < 0;
		}
	END
	mkfifo go
	for follow in fork none; do
		fxtrun --follow=$follow -o $follow.fxt ./forks <go >out 2>$follow.said 3>&- &
		job=$!
		exec 4>go
		await ready out
		kill -KILL $(recorder_of $job)
		await 'was killed by signal 9' $follow.said
		echo >&4
		wait $job || [ $? = 137 ]
		fxt check $follow.fxt
		rm out
	done
	grep '^fxtrun: recovered: .* (1 ran untraced)$' fork.said
	fails grep untraced none.said
}

@test "the manager of a detached session killed: signals to fxtrun finish the trace" {
	for signal in INT QUIT TERM HUP; do
		bereaved --detach -o $signal.fxt
		kill -$signal $job
		wait $job || [ $? = 137 ]
		recovered $signal.fxt
		kill -0 "$program"
		kill "$program"
		rm out said
	done
}

@test "signals that are sent to fxtrun reach the program when the manager is gone" {
	bereaved
	kill -TERM $job
	wait $job || [ $? = 137 ]
	recovered trace.fxt
}

@test "the manager of a controller's session killed: it ends, the controller's output is the trace, and the program goes on" {
	cat >session.py <<-'END'
		from control import *
		import signal, sys
		for name, mode, more in [("plain.fxt", "STREAMING", {}), ("ring.fxt", "CIRCULAR", {}), ("once.fxt", "ONESHOT", {}),
		                         ("deferred.fxt", "STREAMING", {"defer_transfer": True}),
		                         ("small.fxt.zst", "STREAMING", {"categories": ["function"]}),
		                         ("small_ring.fxt.zst", "CIRCULAR", {})]:
		    session = Session.waiting(sys.argv[1])
		    job = session.process.pid
		    owner = Client()
		    with open(f"/proc/{job}/task/{job}/children") as children:
		        recorder = int(children.read())
		    assert owner.call("InitializeTracing", output=f"{os.getcwd()}/{name}", buffering_mode=mode,
		                      buffer_size_megabytes_hint=1, **more) == {}
		    session.ready()
		    while not owner.call("GetProviders")["providers"]:
		        pass
		    assert owner.call("StartTracing") == {}
		    session.tell("call 10")
		    os.kill(recorder, signal.SIGKILL)
		    while session.process.poll() is None:
		        pass
		    assert session.process.returncode == -signal.SIGKILL, session.process.returncode
		    assert session.tell("call 1") == ["33", "33"]  # the program, still
		    session.process.stdin.close()
		    said = session.process.stderr.read()
		    assert "fxtrun: recovered: " in said and f": {os.getcwd()}/{name} (1 still running)" in said, said
		    if name.endswith(".zst"):
		        subprocess.run(["zstd", "-dq", name], check=True)
		        name = name.removesuffix(".zst")
		    assert sum(calls(name).values()) == 60, (name, calls(name))
		    assert set(faults(name)) <= {"calls:left_open"}, faults(name)  # those in which the program waits
	END
	compiled sessions/steps.c
	PYTHONPATH=$BATS_TEST_DIRNAME timeout 100 python3 session.py ./program
	for trace in *.fxt *.zst; do
		fxt check "$trace"
		fxt info "$trace" | grep '^recovered: '
	done
	[ "$(od -An -tx4 -N4 small.fxt.zst)" = " fd2fb528" ]
}
