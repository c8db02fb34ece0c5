#!/usr/bin/env bats
# Signals that end a process: on which thread, with which code, at which address, from whom; and the program dies as it does bare.

load helpers

setup_file()
{
	compiled_for_all signals/fatal signals/runtimes
}

# dies HOW: bare and traced alike, by what it prints and by its status; $tid and $address are what the program said.
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

# told WORDS WHO: last, info and the summary say both alike.
told()
{
	grep -F "$1: $2" <(fxt info trace.fxt)
	grep -F "($1: $2" err
	fxt last trace.fxt | grep -F "$1, " | grep -F " after the trace's start: $2"
}

@test "a thread that dies of a fault is named, with code and address, and the program dies as it does bare" {
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

@test "where the thread cannot know, none is named" {
	for how in overflow blocked; do
		dies "$how"
		told "killed by SIGSEGV (11)" "process "
		fxt info trace.fxt | grep '^killed' | fails grep thread
	done
}

@test "a signal from outside: of the process, and who sent it where that is known" {
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

@test "core files have the signal, the code, the address and the place that they have bare" {
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

@test "what runtimes do with these signals: guard pages, signal stacks, chains of handlers, frames that are destroyed" {
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
