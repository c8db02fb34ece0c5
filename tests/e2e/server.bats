#!/usr/bin/env bats
# A server that is recorded again and again.

load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir sockets
	export XDG_RUNTIME_DIR=$PWD/sockets PYTHONPATH=$BATS_TEST_DIRNAME
}

@test "fifty recordings of a server among forks and deaths of its workers: each has exactly its own calls, and nothing grows" {
	compiled sessions/server.c
	for mode in streaming oneshot circular; do
		mkdir $mode
		(cd $mode && timeout 200 python3 "$BATS_TEST_DIRNAME/server.py" $mode 50 ../program)
	done
}

@test "fifty recordings by a session that lasts, each with its own mode, filter, categories and file: each has exactly its own calls" {
	compiled sessions/server.c
	mkdir idle
	(cd idle && timeout 300 python3 "$BATS_TEST_DIRNAME/server.py" idle 50 ../program)
}

@test "the manager of an idle session is killed: the program goes on, and the recording becomes a complete trace" {
	compiled sessions/server.c
	for moment in idle recording; do
		timeout 100 python3 "$BATS_TEST_DIRNAME/idle.py" $moment ./program
	done
}

# serves: an idle session by the name srv, of a server that serves requests of no kind until
# further orders.
serves()
{
	compiled sessions/server.c
	mkfifo orders
	fxtrun --session=srv --start=idle --no-sched "$@" ./program <orders >answers 2>said 3>&- &
	job=$!
	exec 4>orders
	await ready answers
}

# A server without a test to give it orders ends.
ends()
{
	exec 4>&-
	wait $job
}

teardown()
{
	exec 4>&- || true
	end_all
}

@test "fxtctl record: until its time is over, or an interrupt; its options are of this recording alone" {
	serves --exclude='nothing*'
	fxtctl list | grep -E '^srv +[0-9]+  READY '
	[ "$(fxtctl providers | wc -l)" = 5 ] # a line of titles, the server, and three workers

	fxtctl record -o one.fxt --duration=0.2s >one
	grep -E '^[0-9,]+ events, 3 threads, 4 processes, 0 lost, .*: .*/one.fxt' one
	[ "$(calls_of one.fxt request_of_no_kind)" -gt 0 ]
	grep -F "fxtrun: $(cat one)" said

	fxtctl record -o two.fxt.zst --duration=0.2 --exclude=request_of_no_kind --buffering-mode=circular >two
	grep -E '^[0-9,]+ events, 3 threads, 4 processes, 0 lost, .*: .*/two.fxt.zst' two
	[ "$(calls_of two.fxt.zst request_of_no_kind)" = 0 ]

	# An interrupt ends the recording, and the trace is kept; also while fxtctl has not
	# heard that it has begun, or is late in all that it does about signals and time.
	strace -D -o /dev/null -e inject=rt_sigaction,rt_sigprocmask,setitimer,recvfrom:delay_exit=100000 \
		fxtctl record -o three.fxt -t 1h >three 3>&- &
	recording=$!
	until [ "$(fxtctl --json status | jq -r .state)" = STARTED ]; do :; done
	says 1 "fxtctl: session srv: another recording is being made, into $PWD/three.fxt; only one can be made at a time" \
		fxtctl record -o four.fxt
	[ ! -e four.fxt ]
	kill -INT $recording
	wait $recording
	fxt check three.fxt
	# Calls that are open when the recording ends are recorded.
	[ "$(fxt dump three.fxt | grep 'duration-complete .*"request_of_no_kind"' | grep -vc 'abandoned=true')" = 0 ]
	fxt dump three.fxt | grep '"fxt: calls left out".*"request_of_no_kind"'

	fxtctl record -o five.fxt --duration=0.2s --categories=sync
	fxt check five.fxt
	[ "$(calls_of five.fxt request_of_no_kind)" = 0 ]
	fxtctl record -o six.fxt --duration=0.2s
	[ "$(calls_of six.fxt request_of_no_kind)" -gt 0 ]
	[ "$(fxt dump six.fxt | grep 'duration-complete .*"request_of_no_kind"' | grep -vc 'abandoned=true')" -gt 0 ]
	ends
	[ "$(grep -c 'lost, ' said)" = 5 ]
}

@test "a snapshot that is being written when its recording ends is whole" {
	cat >slow.c <<-'END'
		#include <unistd.h>
		static void small(void) { __asm__ volatile(""); }
		static void serve(int n) { for (int i = 0; i < n; i++) small(); if (n > 1000) usleep(3000); }
		int main(void)
		{
			for (int i = 1; getppid() != 1; i++) serve(i % 200 ? 100 : 100000);
			return 0;
		}
	END
	${CC:-cc} -O1 -finstrument-functions -o slow slow.c
	fxtrun --session=srv --start=idle --no-sched --trigger='serve>2ms:snapshot' ./slow 2>said 3>&- &
	job=$!
	until fxtctl list | grep -q '^srv .* READY '; do :; done
	for i in {1..8}; do
		fxtctl record -o $i.fxt --buffering-mode=circular --duration=0.1
		rm $i.fxt
	done
	kill $job
	status=0
	wait $job || status=$?
	[ "$status" = 143 ] # the server's, which SIGTERM was passed on to
	ls ?-?.fxt | xargs -n 1 fxt check
	! grep 'not whole' said
}

@test "the heap is in recordings of all calls, and in others only if fxtrun was given --heap" {
	cat >blocks.c <<-'END'
		#include <stdlib.h>
		#include <unistd.h>
		static void *volatile kept;
		static void serve(void) { kept = malloc(100); free(kept); }
		int main(void)
		{
			for (char c = 0; write(1, "ready\n", 6) == 6; c = 0) {
				while (c != '\n')
					if (read(0, &c, 1) != 1)
						return 0;
				for (int i = 0; i < 1000; i++)
					serve();
			}
			return 1;
		}
	END
	${CC:-cc} -O1 -finstrument-functions -o blocks blocks.c
	for heap in auto objects; do
		timeout 100 python3 - $heap <<-'END'
			from control import *
			import re
			import sys
			session = Session(["--start=idle", "--no-sched", "--heap=" + sys.argv[1]], "./blocks")
			def recorded(*options):
			    """How much there is of a thousand calls, with a block each: calls, blocks."""
			    recording = subprocess.Popen(["fxtctl", "record", "-o", "x.fxt", *options], stdout=subprocess.DEVNULL)
			    while session.client.state() != "STARTED":
			        assert recording.poll() is None
			    session.tell("serve")
			    recording.terminate()
			    recording.wait(timeout=60)
			    heap = subprocess.run(["fxt", "heap", "x.fxt"], capture_output=True, text=True)
			    blocks = re.match(r"x\.fxt: (\d+) blocks ", heap.stdout)
			    assert blocks, (heap.stdout, heap.stderr)
			    return sum(calls("x.fxt").values()), int(blocks[1])

			for mode in "streaming", "circular", "oneshot", "streaming":
			    blocks = 1000 if sys.argv[1] == "objects" or mode == "streaming" else 0
			    assert recorded("--buffering-mode=" + mode) == (1000, blocks), (mode, blocks)
			assert recorded("--categories=function") == (1000, 0)
			assert session.end()[0] == 0
		END
	done
}

@test "fxtctl record: wrong options are refused before anything is begun" {
	serves
	says 2 'fxtctl: record: needs a file for the trace: fxtctl record -o FILE' fxtctl record
	says 2 'fxtctl: --duration=soon: must be a time above 0, such as 10 (seconds), 0.5 or 100ms' fxtctl record -o a.fxt --duration=soon
	says 2 'fxtctl: --buffering-mode=square: must be oneshot, circular or streaming' \
		fxtctl record -o a.fxt --buffering-mode=square
	says 2 'fxtctl: recrod: no such command (did you mean record?); fxtctl --help lists them all' fxtctl recrod
	says 2 'fxtctl: --duratoin=5: no such option (did you mean --duration?); fxtctl --help lists them all' \
		fxtctl record -o a.fxt --duratoin=5
	says 1 "fxtctl: session srv: cannot write the trace to $PWD/none/a.fxt: No such file or directory; choose another place" \
		fxtctl record -o none/a.fxt
	says 1 'fxtctl: session srv: min_duration must be a time with a unit, such as 10us' fxtctl record -o a.fxt -t 10
	[ ! -e a.fxt ]
	[ "$(fxtctl --json status | jq -r .state)" = READY ]
	fxtctl record -o a.fxt --duration=0.1s
	ends
	says 125 'fxtrun: --start=idle: each recording has a file of its own, which fxtctl record -o names' \
		fxtrun --start=idle -o a.fxt ./program
	says 125 'fxtrun: --start=idle: fxtctl record --duration says how long to record' \
		fxtrun --start=idle --duration=1 ./program
	fxtrun --session=srv --start=paused -o b.fxt sleep 100 3>&- &
	job=$!
	until fxtctl status; do :; done
	says 1 'fxtctl: session srv: the session is initialized already, and makes one recording; fxtrun --start=idle makes any number' \
		fxtctl record -o c.fxt
	fxtctl terminate
	wait $job
}
