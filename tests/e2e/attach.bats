#!/usr/bin/env bats
# fxtrun --attach: a process that runs already is recorded, and goes on as if nothing had been.

load helpers

setup_file()
{
	compiled_for_all attach/counted attach/hangs attach/unloads
	${CC:-cc} -O2 -g -D_GNU_SOURCE -fpatchable-function-entry=5 -pthread -o "$BATS_FILE_TMPDIR/prepared" \
		"$BATS_TEST_DIRNAME/../programs/attach/counted.c"
	${CC:-cc} -O2 -g -D_GNU_SOURCE -pthread -o "$BATS_FILE_TMPDIR/plain" "$BATS_TEST_DIRNAME/../programs/attach/counted.c"
	# Whether ptrace(2) is allowed at all, by another program than ours.
	sleep 60 3>&- &
	local sleeper=$!
	strace -o "$BATS_FILE_TMPDIR/calls" -p $sleeper 2>"$BATS_FILE_TMPDIR/probe" 3>&- &
	await 'attached|strace: .*: |not found' "$BATS_FILE_TMPDIR/probe" || true
	kill $! $sleeper || true
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	[ "$(uname -m)" = x86_64 ] || skip "attaching works on x86-64"
	grep -q 'attached' "$BATS_FILE_TMPDIR/probe" || skip "strace cannot attach to a process here"
}

# begin PROGRAM: runs it; its input is descriptor 7, its output the file out.
begin()
{
	mkfifo input
	"$@" <input >out 3>&- &
	program=$!
	exec 7>input
	await ready out
}

# calls N TOTAL: has it make 4 N calls, which are then as many in all.
calls()
{
	echo "$1" >&7
	await "^$2\$" out
}

end()
{
	exec 7>&-
	wait $program
}

# recorded TRACE: how many calls of called() it has.
recorded()
{
	fxt check "$1" >&2
	fxt sql --csv "select count(*) from calls where function = 'called'" "$1" | sed -n 's/^rows,//p'
}

attach()
{
	fxtrun -o trace.fxt "$@" --attach=$program 2>err 3>&- 7>&- &
	recorder=$!
	await "attached to process $program" err
}

detach()
{
	local status=0

	kill -INT $recorder
	wait $recorder || status=$?
	[ $status = 0 ] && grep ' 0 lost' err || { echo "status $status" && cat err && return 1; }
}

@test "attached twice, to hooked and prepared programs: exactly the calls in between are recorded, and none after" {
	for kind in counted prepared; do
		rm -f input
		begin $kind
		calls 25 100
		attach
		calls 250 1100
		detach
		[ "$(recorded trace.fxt)" = 1000 ]
		calls 100 1500
		attach
		calls 10 1540
		detach
		[ "$(recorded trace.fxt)" = 40 ]
		calls 1 1544
		end
	done
}

@test "attached to a program that was not prepared: --patch records its functions" {
	begin plain
	calls 25 100
	attach --patch
	calls 250 1100
	detach
	[ "$(recorded trace.fxt)" = 1000 ]
	calls 1 1104
	end
}

@test "the attached process ends: the trace is closed, with all calls" {
	begin counted
	attach
	calls 250 1000
	end
	wait $recorder
	[ "$(recorded trace.fxt)" = 1000 ]
}

@test "--duration and fxtctl terminate end the recording, and the program goes on" {
	begin counted
	timeout 60 fxtrun -o trace.fxt --duration=10ms --attach=$program 7>&-
	attach --session=attached
	calls 250 1000
	fxtctl --session=attached terminate
	wait $recorder
	[ "$(recorded trace.fxt)" = 1000 ]
	calls 1 1004
	end
}

@test "fxtrun and its manager are killed: the program goes on, and can be attached to again" {
	begin counted
	attach
	calls 250 1000
	kill -KILL $recorder $(cat /proc/$recorder/task/*/children)
	wait $recorder || true
	calls 1 1004
	attach_again
	calls 1 1008
	end
}

@test "all processes of a recording are killed: the next one takes the program over" {
	local manager

	begin counted
	attach
	calls 250 1000
	manager=$(cat /proc/$recorder/task/*/children)
	kill -KILL $recorder $manager $(for pid in $manager; do cat /proc/$pid/task/*/children; done)
	wait $recorder || true
	attach
	calls 250 2000
	detach
	[ "$(recorded trace.fxt)" = 1000 ]
	end
}

# lines TRACE: the lines that the program wrote, by the independent decoder
lines()
{
	python3 "$root/tests/independent/saiddecode.py" logs "$1" | cut -f 2
}

@test "--log records what an attached program writes, while it is attached to" {
	begin counted
	calls 1 4
	attach --log=stdout
	calls 1 8
	calls 1 12
	detach
	lines trace.fxt | paste -sd ' ' | grep -x '8 12'
	calls 1 16
	attach --log=stdout
	calls 1 20
	detach
	[ "$(lines trace.fxt)" = 20 ]
	calls 1 24
	end
}

@test "a library is unloaded and loaded between two recordings: the program goes on" {
	begin unloads
	for n in 1 2 3; do
		attach
		detach
		echo >&7
		await "^$n\$" out
	done
	end
}

# begin_hanging: runs a program with threads that wait: reader, holder and locker are their
# numbers, fd a pipe, mutex an address, by the program's word.
begin_hanging()
{
	begin hangs
	read -r _ reader holder locker fd mutex <out
	pipe=$(readlink /proc/$program/fd/$fd)
	[[ $pipe == pipe:* ]]
	await "^0 $(printf '0x%x' $fd) " /proc/$program/task/$reader/syscall
	await "^202 $mutex " /proc/$program/task/$locker/syscall
	await '^(35|230) ' /proc/$program/task/$holder/syscall
	await '^0 0x0 ' /proc/$program/task/$program/syscall
}

@test "threads that waited before the attach: in which call, for what, and called by which functions" {
	begin_hanging
	attach
	detach
	fxt check trace.fxt
	fxt threads trace.fxt | tr -s ' ' >threads
	cat threads
	grep -F "thread $reader \"reader\" in read of fd $fd ($pipe) run_reader > serve > fetch" threads
	grep -F "thread $locker \"locker\" in pthread_mutex_lock of $mutex, held by thread $holder \"holder\" run_locker > take" threads
	grep -E "thread $holder \"holder\" in (clock_)?nanosleep run_holder > sleep" threads
	grep -F "thread $program \"hangs\" in read of fd 0 ($PWD/input) main > " threads
	fxt last -t reader trace.fxt | tr -s ' ' >last
	grep -F " read: waiting for fd $fd ($pipe), since before the attach" last
	grep -E '^1 .* fetch \(inherited\)' last
	grep -E '^3 .* run_reader \(inherited\)' last
	fxt sql --csv "select fd, object from waits where is_open and tid in ($reader, $locker)" trace.fxt >open
	sed -n 's/^rows,//p' open | tr -d '"' | sort | diff - <(printf '%s\n' ",$mutex" "$fd,")
	# They are no calls: the program made none meanwhile.
	fxt info trace.fxt | grep -x '0 calls'
	none='no calls are in the trace: the program called no recorded function meanwhile; fxt threads and'
	none+=' fxt last show waits that began before the attach'
	fxt report trace.fxt | grep -xF "$none"
	says 2 "fxt: trace.fxt: no function is named 'nobody'; $none" fxt why nobody
	says 2 "fxt: trace.fxt: no call of 'run_reader' is in the chosen part; $none" fxt why run_reader
	grep -F "(4 threads waited since before the attach: fxt threads trace.fxt)" err
	fails grep 'no calls' err
	end
}

@test "a program that has waited in poll() since before the attach: for which descriptors" {
	cat >polls.c <<-'END'
		#include <poll.h>
		#include <stdio.h>
		#include <unistd.h>
		int main(void)
		{
			int ends[2];

			if (pipe(ends))
				return 1;
			printf("ready %d\n", ends[0]);
			fflush(stdout);
			return poll((struct pollfd[]){{.fd = 0, .events = POLLIN}, {.fd = ends[0]}}, 2, -1) != 1;
		}
	END
	cc -O1 -finstrument-functions -o polls polls.c
	begin ./polls
	read -r _ fd <out
	pipe=$(readlink /proc/$program/fd/$fd)
	await '^7 ' /proc/$program/syscall
	attach
	detach
	fxt threads trace.fxt | tr -s ' ' >threads
	cat threads
	grep -F "in poll of fd 0 ($PWD/input) and fd $fd ($pipe) main" threads
	end
}

@test "a thread goes on after the attach: its earlier wait ends before its own calls, which are all recorded" {
	begin_hanging
	attach
	for n in 10 20 30; do
		echo >&7
		await "^$n$" out
	done
	detach
	[ "$(recorded trace.fxt)" = 30 ]
	fxt replay --csv -t reader trace.fxt >replay
	python3 - replay <<-END
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1])))
		first = min(int(row["start_ns"]) for row in rows if row["what"] == "called")
		earlier = [row for row in rows if row["kind"] == "inherited" or int(row["start_ns"]) < first]
		assert all(int(row["start_ns"]) + int(row["time_ns"]) <= first for row in earlier), (first, earlier)
		print(earlier)
	END
	fxt last -t reader trace.fxt >last
	fails grep 'since before the attach' last
	fxt last -t locker trace.fxt >last
	grep "waiting for $mutex, held by thread $holder .*, since before the attach" last
	end
}

@test "an attached process is killed: its waits from before the attach are open at the end" {
	# A thread that was not back in its call before the kill has no wait.
	for ((i = 0; i < 10; i++)); do
		rm -f input
		begin_hanging
		attach
		kill -KILL $program
		wait $recorder
		exec 7>&-
		fxt check trace.fxt
		fxt last trace.fxt >last
		! grep -E "^0 .* pthread_mutex_lock: waiting for $mutex, held by thread $holder" last || break
	done
	[ $i -lt 10 ]
}

# begin_unwaited PROGRAM: the same as begin, but its parent, this process, never asks how it ended.
begin_unwaited()
{
	mkfifo input
	sh -c '"$@" <input >out & echo $! >number; exec sleep 600 <&- >sleeps' sh "$@" 3>&- &
	parent=$!
	exec 7>input
	await ready out
	program=$(<number)
}

@test "an attached process is killed, or exits: by which signal, and with which status, while its parent has not asked" {
	begin_unwaited counted
	attach
	calls 25 100
	kill -KILL $program
	wait $recorder
	grep 'killed by SIGKILL' err
	fxt last trace.fxt | grep '^killed by SIGKILL (9)'
	[ "$(recorded trace.fxt)" = 100 ]
	kill $parent
	exec 7>&-
	rm input
	begin_unwaited sh -c 'echo ready; read line; exit 3'
	attach
	echo >&7
	wait $recorder
	grep "process $program has exited with status 3" err
	# What it read before the attach came to an end.
	fxt last trace.fxt >last
	fails grep 'since before the attach' last
	kill $parent
	exec 7>&-
}

@test "an attached process is killed, and its parent asks at once: the signal is told if the kernel keeps it" {
	[ "$(printf '6.15\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.15 ] || skip "before Linux 6.15 it does not"
	begin counted
	attach
	kill -KILL $program
	wait $program || true
	wait $recorder
	grep 'killed by SIGKILL' err
	exec 7>&-
}

# attach_again: as soon as the program is detached from, which the earlier attaching process
# does meanwhile.
attach_again()
{
	for ((i = 0; i < 600; i++)); do
		! timeout 60 fxtrun -o trace.fxt --duration=10ms --attach=$program 2>err 7>&- || break
		grep -E 'is already attached to|is traced by|is not permitted' err
		sleep 0.1
	done
	grep 'attached to process' err
}

# refused TEXT PID: fxtrun fails with that message, and touches no file.
refused()
{
	local status=0

	timeout 60 fxtrun -o refused.fxt --attach="$2" 2>err 7>&- || status=$?
	[ $status = 125 ]
	grep -F "$1" err
	[ ! -e refused.fxt ]
}

@test "what cannot be attached to is refused, with the reason" {
	begin counted
	kill -STOP $program
	until grep '^State:.T' /proc/$program/status; do sleep 0.01; done
	refused "process $program (counted) is stopped; continue it first: kill -CONT $program" $program
	kill -CONT $program
	refused 'process 999999999 does not exist' 999999999
	refused 'must be the number of a process' 0
	strace -o calls -p $program 2>traced 3>&- 7>&- &
	await attached traced
	refused "is traced by process $!, such as gdb or strace; end that first" $program
	kill $!
	until grep '^TracerPid:.0$' /proc/$program/status; do sleep 0.01; done
	run fxtrun --attach=$program true
	[ "$status" = 125 ]
	[ "$output" = 'fxtrun: --attach records a process that runs already; leave the program out' ]
	calls 1 4
	end
	printf 'int pause(void); int main(void) { return pause(); }' >static.c
	${CC:-cc} -static -o static static.c
	./static 3>&- &
	refused 'it is statically linked' $!
	kill $!
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid=12345 --clear-groups sleep 60 3>&- &
		until grep '^Uid:.12345' /proc/$!/status; do sleep 0.01; done
		refused 'belongs to another user (12345)' $!
		kill $!
		python3 -c 'import os, time; os.setuid(12345); time.sleep(60)' 3>&- &
		until grep '^Uid:.12345' /proc/$!/status; do sleep 0.01; done
		refused 'as after a change of its user (to 12345)' $!
		grep 'start it by fxtrun instead' err
		kill $!
	fi
}

@test "a process that SIGSTOP stops while it is attached to: it is detached from, and stays stopped" {
	begin counted
	attach
	calls 25 100
	kill -STOP $program
	until grep '^State:.T' /proc/$program/status; do sleep 0.01; done
	detach
	grep "process $program is stopped; it is detached from when it goes on" err
	grep '^State:.T' /proc/$program/status
	[ "$(recorded trace.fxt)" = 100 ]
	kill -CONT $program
	calls 1 104
	attach_again
	calls 1 108
	end
}

@test "a shell and its child: both are recorded, with --follow=none the shell alone" {
	mkfifo input
	sh -c 'counted; true' <input >out 3>&- &
	program=$!
	exec 7>input
	await ready out
	attach --session=tree
	for ((i = 0; i < 600; i++)); do
		[ "$(fxtctl --session=tree providers | grep -c counted)" = 0 ] || break
		sleep 0.1
	done
	calls 250 1000
	detach
	[ "$(recorded trace.fxt)" = 1000 ]
	attach --follow=none
	calls 250 2000
	detach
	[ "$(recorded trace.fxt)" = 0 ]
	end
}

# begin_second PROGRAM: one more program, the same as begin() does; its input is descriptor 8,
# its output the file out2.
begin_second()
{
	mkfifo input2
	"$@" <input2 >out2 3>&- 7>&- &
	second=$!
	exec 8>input2
	await ready out2
}

# calls_second N TOTAL: the same as calls().
calls_second()
{
	echo "$1" >&8
	await "^$2\$" out2
}

@test "fxtctl attach adds a process to the session of a program, and fxtctl detach takes it out again" {
	begin_second counted
	mkfifo input
	fxtrun -o trace.fxt --session=both counted <input >out 2>err 3>&- 8>&- &
	recorder=$!
	exec 7>input
	await ready out
	calls_second 25 100
	[ "$(fxtctl --session=both attach $second)" = 'attached to 1 process' ]
	run fxtctl --session=both attach $second
	[ "$status" = 1 ]
	[ "$output" = "fxtctl: session both: process $second is attached to already" ]
	calls_second 250 1100
	calls 10 40
	[ "$(fxtctl --session=both detach $second)" = 'detached from 1 process' ]
	calls_second 25 1200
	calls 10 80
	run fxtctl --session=both detach $second
	[ "$status" = 1 ]
	[ "$output" = "fxtctl: session both: process $second is not attached to" ]
	run fxtctl --session=both attach 999999999
	[ "$status" = 1 ]
	[ "$output" = 'fxtctl: session both: 999999999: no such process, nor a unit with any' ]
	# A second time; now the program's end is the session's.
	fxtctl --json --session=both attach $second | grep '"processes": 1'
	calls_second 50 1400
	exec 7>&-
	wait $recorder
	[ "$(recorded trace.fxt)" = 1280 ]
	calls_second 1 1404
	exec 8>&-
	wait $second
}

@test "fxtctl attach adds a process to a session that is attached to another, and why it cannot is told" {
	begin counted
	begin_second counted
	attach --session=both
	fxtctl --session=both attach $second
	calls 250 1000
	calls_second 250 1000
	printf 'int pause(void); int main(void) { return pause(); }' >static.c
	${CC:-cc} -static -o static static.c
	./static 3>&- 7>&- 8>&- &
	run fxtctl --session=both attach $!
	[ "$status" = 1 ]
	[[ "$output" = "fxtctl: session both: process $! (static) has not loaded glibc"* ]]
	kill $!
	detach
	[ "$(recorded trace.fxt)" = 2000 ]
	calls 1 1004
	calls_second 1 1004
	exec 8>&-
	wait $second
	end
}

# in_groups COMMAND: runs it where the file system of control groups has the unit shop.service,
# with the processes $program and $second.
in_groups()
{
	mkdir -p groups/system.slice/shop.service/worker groups/user.slice/user@1000.service/shop.service
	echo $program >groups/system.slice/shop.service/cgroup.procs
	echo $second >groups/system.slice/shop.service/worker/cgroup.procs
	echo 1 >groups/user.slice/user@1000.service/shop.service/cgroup.procs
	unshare -m sh -c 'mount --bind groups /sys/fs/cgroup && exec "$@"' sh "$@"
}

@test "the processes of a systemd unit are attached to, by its name" {
	[ "$(id -u)" = 0 ] && unshare -m true || skip "needs a mount namespace"
	begin counted
	begin_second counted
	in_groups fxtrun -o trace.fxt --session=unit --attach=shop 2>err 3>&- 7>&- 8>&- &
	recorder=$!
	await "attached to process $program" err
	for ((i = 0; i < 600; i++)); do
		[ "$(fxtctl --session=unit providers | grep -c counted)" != 2 ] || break
		sleep 0.1
	done
	calls 250 1000
	calls_second 250 1000
	fxtctl --session=unit terminate
	wait $recorder
	[ "$(recorded trace.fxt)" = 2000 ]
	run in_groups fxtrun -o trace.fxt --attach=shop.socket
	[ "$status" = 125 ]
	[ "$output" = 'fxtrun: no systemd unit shop.socket has a process here' ]
	calls 1 1004
	calls_second 1 1004
	exec 8>&-
	wait $second
	end
}

@test "busy programs, ten rounds: in malloc, dlopen, handlers, vfork, waits, coroutines; none hangs or goes wrong" {
	"$root/tests/attachments" "$build" 10
}
