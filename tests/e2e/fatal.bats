#!/usr/bin/env bats
# Signals that end a process: on which thread, with which code, at which address, from whom;
# and the program dies as it does bare.

load helpers

setup_file()
{
	compiled_for_all signals/fatal signals/runtimes signals/late
}

# dies HOW: the same traced and not, by its output and by its status; $tid and $address are
# those that the program printed.
dies()
{
	echo "# $1"
	local bare=0 traced=0
	fatal "$1" 3>told.bare >out.bare 2>/dev/null || bare=$?
	fxtrun -o trace.fxt fatal "$1" 3>told >out 2>err || traced=$?
	[ "$bare" = "$traced" ]
	diff out.bare out
	read -r tid address <told
	fxt check trace.fxt
}

# told WORDS WHO: last, info and the summary all report both.
told()
{
	grep -F "$1: $2" <(fxt info trace.fxt)
	grep -F "($1: $2" err
	fxt last trace.fxt | grep -F "$1, " | grep -F " after the trace's start: $2"
}

@test "a thread that dies of a fault is named, with code and address, and the program dies as without fxt" {
	while read -r how words; do
		dies "$how"
		told "killed by ${words//ADDRESS/$address}" "thread $tid \"fatal\" of process "
		[ "$(fxt sql --csv "select tid from threads where tid <> pid" | tail -n 1 | cut -d, -f2)" = "$tid" ]
	done <<-'END'
		nowhere SIGSEGV (11), SEGV_MAPERR at address ADDRESS
		constant SIGSEGV (11), SEGV_ACCERR at address ADDRESS
		bus SIGBUS (7), BUS_ADRERR at address ADDRESS
		own SIGSEGV (11), SEGV_MAPERR at address ADDRESS
		abort SIGABRT (6), sent by itself
		raises SIGABRT (6), sent by itself
		raise SIGTERM (15), sent by itself
		kill SIGKILL (9), sent by itself
	END
}

@test "the instant is on that thread's row, among its open calls" {
	dies nowhere
	fxt dump trace.fxt | grep "instant thread=[0-9]*/$tid .*name=\"killed\" {signal=int32:11, name=\"SIGSEGV\", code=\"SEGV_MAPERR\", address=pointer:0x1230}"
	fxt last trace.fxt | grep -A 2 "^thread $tid " | grep '^0  .*  die  '
	[ "$(uname -m)" = x86_64 ] || return 0
	dies divided
	fxt info trace.fxt | grep "^killed by SIGFPE (8), FPE_INTDIV at address 0x[0-9a-f]*: thread $tid "
}

@test "if the thread cannot know that it dies, none is named" {
	for how in overflow blocked; do
		dies "$how"
		told "killed by SIGSEGV (11)" "process "
		fxt info trace.fxt | grep '^killed' | fails grep thread
	done
}

@test "a signal from outside is the process's, and names its sender if that is known" {
	for signal in TERM KILL; do
		fxtrun -o trace.fxt fatal waits 3>told >out 2>err &
		await '0x0' told
		kill -$signal "$(pgrep -P "$(pgrep -P $!)" -x fatal)"
		wait $! || true
		told "killed by SIG$signal ($(kill -l $signal)), from outside" "process "
	done
	dies child
	told "killed by SIGTERM (15), sent by process $tid" "process "
	fxtrun -o trace.fxt fatal waits 3>told >out 2>err &
	await '0x0' told
	victim=$(pgrep -P "$(pgrep -P $!)" -x fatal)
	sender=$(bash -c "echo \$\$; kill -SEGV $victim")
	wait $! || true
	told "killed by SIGSEGV (11), sent by process $sender" "thread $victim \"fatal\" of process $victim"
}

@test "core files have the signal, the code, the address and the place that they have without fxt" {
	[ "$(cat /proc/sys/kernel/core_pattern)" = core ] || skip "core files do not go into the working directory here"
	ulimit -c unlimited || skip "no core files here"
	for how in fatal\ {nowhere,constant,bus,divided,trap,abort,own,raises,blocked} runtimes\ {guards,frame,general}; do
		for run in '' fxtrun; do
			$run setarch -R "$(type -p "${how% *}")" "${how#* }" 3>told >/dev/null 2>&1 || true
			python3 "$BATS_TEST_DIRNAME/../independent/coreinfo.py" core* >"info.$run"
			rm -f core*
		done
		[ "$(wc -l <info.)" = 2 ]
		diff info. info.fxtrun
	done
}

@test "handlers of runtimes work: guard pages, signal stacks, chains of handlers, frames that are destroyed" {
	for how in ask guards chain aborts frame ignored children general; do
		same_as_bare runtimes $how
		fxt check trace.fxt
	done
	same_as_bare runtimes frame
	fxt info trace.fxt | grep '^killed by SIGSEGV (11), SI_KERNEL: thread '
}

@test "without the category of processes no signal has a handler of ours" {
	grep SigCgt /proc/self/status >bare
	fxtrun --categories=function,heap,sync -o trace.fxt grep SigCgt /proc/self/status >traced
	diff bare traced
	fxtrun -o trace.fxt grep SigCgt /proc/self/status >traced
	fails diff bare traced
}

# dies_unheard HOW OPTION...: while the recorder is stopped; $from and $to are the least and
# the most that the call of forever() can have lasted, by the kernel's clock: to when the
# process was dead, long before anybody heard of it.
dies_unheard()
{
	echo "# $*"
	mkfifo byte
	fxtrun --buffering-mode=circular --buffer-size=1 "${@:2}" -o trace.fxt late "$1" <>byte >out 2>err 3>&- &
	job=$!
	read -r before entered < <(await . out)
	recorder=$(recorder_of $job)
	kill -STOP $recorder
	python3 - "$1" "$recorder" "$before" "$entered" >lasted <<-'END'
		import os, select, signal, sys, time
		how, recorder, before, entered = sys.argv[1], *map(int, sys.argv[2:])
		program = int(open(f"/proc/{recorder}/task/{recorder}/children").read().split()[0])
		dead = os.pidfd_open(program)
		killed = time.monotonic_ns()
		if how == "crash":
		    with open("byte", "w") as byte:
		        byte.write("x")
		else:
		    os.kill(program, signal.SIGKILL)
		assert select.select([dead], [], [], 120)[0]
		over = time.monotonic_ns()
		if how == "crash":
		    killed = int(open("out").read().splitlines()[1])
		print(killed - entered, over - before)
	END
	read -r from to <lasted
	kill -CONT $recorder
	wait $job || true
	rm byte
}

# ends_in_time: to fxt and to the viewer forever() lasted as long as it did, and what is
# open on the other thread ends there.
ends_in_time()
{
	fxt check trace.fxt
	decode check trace.fxt >checks || true
	fails grep -v -e '^0	' -e 'calls:left_open$' -e 'calls:records_lost$' checks
	lasted=$(fxt sql --csv "select duration from calls where function = 'forever' and is_open" trace.fxt | rows rows duration)
	# Times of the two clocks are converted into each other.
	[ "$lasted" -ge $((from - 20000)) ]
	[ "$lasted" -le $((to + 20000)) ]
	[ "$(fxt sql --csv "select min(end), max(end), (select time from events where name = 'killed') as death from calls where is_open" trace.fxt |
		rows rows 'min(end)' 'max(end)' death | tr '\t' '\n' | sort -u | wc -l)" = 1 ]
	needs_viewer
	[ -z "$(viewer trace.fxt "SELECT name FROM stats WHERE value > 0 AND severity != 'info'")" ]
	viewer trace.fxt "SELECT name, dur FROM slice WHERE name IN ('main', 'forever', 'other') AND dur != 0 ORDER BY 1" >drawn
	[ "$(cut -f 1 drawn | xargs)" = 'forever main other' ]
	awk -F'\t' -v lasted="$lasted" '$1 == "forever" && ($2 > lasted + 2 || $2 < lasted - 2) || $2 < 0 { exit 1 }' drawn
}

@test "a process ends at the moment it is killed, not when its manager notices" {
	dies_unheard kill
	! grep 'no context switches' err || skip "the kernel tells nobody like us when a thread ends"
	ends_in_time
}

@test "a process that crashes ends when it did, by its own word, also without context switches" {
	for options in --no-sched ""; do
		dies_unheard crash $options
		ends_in_time
	done
}
