#!/usr/bin/env bats
# The scheduler on the timeline: when threads ran and waited, against what they measure of
# themselves.

load helpers

setup_file()
{
	compiled_for_all sched/blocked sched/pingpong sched/refuse sched/namesakes sched/polled sched/reused threads/lives sessions/rounds
}

# Skips the test if the kernel does not report context switches to this user.
needs_perf()
{
	fxtrun -o probe.fxt pingpong >/dev/null 2>probe.err
	! grep -q 'no context switches in the trace' probe.err || skip "$(head -n 1 probe.err)"
}

# near KEY FILE FILE: the lines of both files are of the same things, and the numbers in
# column KEY of both are within 5 % of those of the second.
near()
{
	join -t "$(printf '\t')" -o 1.1,1.$1,2.$1 "$2" "$3" >both
	[ "$(wc -l <both)" = "$(wc -l <"$3")" ] &&
		awk -F'\t' '{ d = $2 - $3; if (d < 0) d = -d; if (d > $3 / 20) { print "too far: " $0; exit 1 } }' both
}

# reported_times TRACE: thread id, ns it waited, ran, and its switches, by fxt report.
reported_times()
{
	fxt report --threads --csv "$1" | rows threads thread blocked_ns running_ns switches | sort
}

# Leaves what the threads measured, the independent decoder's account and that of fxt
# report.
accounts()
{
	fxtrun pingpong >out
	sound trace.fxt
	sort out >measured
	[ "$(wc -l <measured)" = 2 ]
	# In the decoder's lines: thread, ran, could have run, waited, switches.
	decode cpu trace.fxt | awk -F'\t' -v OFS='\t' '{ print $1, $4, $2, $5 }' | sort | join -t "$(printf '\t')" -o 1.1,1.2,1.3,1.4 - measured >decoded
	reported_times trace.fxt | join -t "$(printf '\t')" -o 1.1,1.2,1.3,1.4 - measured >reported
	join -t "$(printf '\t')" decoded reported | awk -F'\t' '$4 != $7 { print "switches: " $0; exit 1 }'
}

# The accounts agree: waits within 5 %, switches except those while a thread ends, and at
# least the CPU time used (a hypervisor's share belongs to no thread).
agree()
{
	near 2 decoded measured && near 2 reported measured &&
		join -t "$(printf '\t')" decoded measured | awk -F'\t' '
			$4 < $7 || $4 > $7 + 5 || $3 < $6 * 0.95 { print "too far: " $0; exit 1 }'
}

@test "ping-pong: the threads' waits, times and switches are those that they measured themselves" {
	needs_perf
	until_clocks_agree accounts agree
}

@test "the states of each thread add up to its life in the trace, to the nanosecond" {
	needs_perf
	fxtrun pingpong >out
	decode lives trace.fxt >lives
	sums() { awk -F'\t' -v OFS='\t' '{ print $1, $2 + $3 + $4 }' | sort -n; }
	fxt report --threads --csv trace.fxt | rows threads thread running_ns runnable_ns blocked_ns | sums >reported
	[ "$(wc -l <reported)" = 3 ]
	sort -n lives | join -t "$(printf '\t')" - <(cut -f 1 reported) | diff - reported
	fxt threads --csv trace.fxt | rows threads koid running_ns preempted_ns blocked_ns | sums | diff - reported
	fxt sql --csv 'SELECT tid, running, runnable, blocked FROM threads WHERE running > 0' trace.fxt | rows rows tid running runnable blocked |
		sums | diff - reported
}

@test "both clocks are one: in each long wait that a thread recorded it left its CPU and came back" {
	needs_perf
	decode slices probe.fxt | awk -F'\t' '$3 == "sync" && $6 - $5 > 1000000 { print $2 "\t" $5 "\t" $6 }' | sort >waits
	[ "$(wc -l <waits)" -ge 60 ]
	decode switches probe.fxt >stays
	awk -F'\t' '
		FILENAME == "stays" { came[$1, ++n[$1]] = $2; left[$1, n[$1]] = $3; next }
		{
			for (i = 1; i <= n[$1] && left[$1, i] <= $2; i++) ;
			# The stay in which the wait began; the next one begins in the wait.
			if (i >= n[$1] || !(left[$1, i] < $3 && came[$1, i + 1] < $3)) { print "no switch in " $0; bad++ }
		}
		END { exit bad > 0 }' stays waits
}

@test "the viewer draws threads that ran as ordinary ones, none as real-time, and no idle thread" {
	needs_perf
	needs_viewer
	viewer probe.fxt "SELECT priority, count(*) > 60 FROM sched GROUP BY priority" | diff - <(printf '120\t1\n')
	viewer probe.fxt "SELECT tid FROM sched JOIN thread USING (utid) GROUP BY tid ORDER BY tid" |
		diff - <(decode cpu probe.fxt | cut -f1 | sort -n)
}

@test "thousands of threads: those of the trace ran, and no others" {
	needs_perf
	fxtrun lives >/dev/null
	sound trace.fxt
	decode threads trace.fxt | cut -f2 | sort >known
	decode cpu trace.fxt | cut -f1 | sort | diff known -
}

@test "a PID namespace: no thread is mistaken for one that has its number outside" {
	needs_perf
	unshare -pf namesakes >out 2>&1 || skip "no PID namespaces here whose numbers can be set"
	fxtrun -o trace.fxt sh -c 'unshare -pf namesakes && unshare -pf namesakes' >out
	[ "$(sort -u out)" = namesakes ]
	sound trace.fxt
	decode threads trace.fxt >threads
	[ "$(grep -c 'busy$\|idle$' threads)" = 4 ]
	# Switches are of a thread, whatever its process: no two are the same.
	[ -z "$(cut -f 2 threads | sort | uniq -d)" ]
	# The outer numbers of main threads are known; other threads are not reported.
	decode cpu trace.fxt | cut -f 1 | sort >ran
	awk -F'\t' '$4 == "namesakes" { print $2 }' threads | sort >mains
	[ "$(wc -l <mains)" = 2 ]
	[ -z "$(comm -13 ran mains)" ]
	[ -z "$(awk -F'\t' '/busy$|idle$/ { print $2 }' threads | sort | comm -12 - ran)" ]
}

@test "a flight recorder: a snapshot has the switches of its moment" {
	needs_perf
	fxtrun --buffering-mode=circular rounds counts >out 2>err 3>&- &
	recorder=$!
	await ready out
	fxtctl --session=$recorder snapshot -o now.fxt
	kill $recorder
	wait $recorder || true
	for trace in now.fxt trace.fxt; do
		fxt check $trace
		decode check $trace >causes || true
		[ "$(awk '/cpu:/ { n += $1 } END { print n }' causes)" = 0 ]
		decode threads $trace | cut -f2 | sort >known
		decode cpu $trace | cut -f1 | sort >seen
		[ "$(comm -13 known seen)" = "" ]
		[ "$(comm -12 known seen | wc -l)" -ge 2 ]
	done
}

@test "without context switches, refused by the kernel or not wanted: all the rest is there" {
	refuse fxtrun -o refused.fxt pingpong >/dev/null 2>err
	[ "$(grep -c 'fxtrun: no context switches in the trace: Permission denied' err)" = 1 ]
	[ "$(wc -l <err)" = 2 ]
	KILLS=1 refuse fxtrun -o killed.fxt pingpong >/dev/null 2>err
	[ "$(grep -c 'fxtrun: no context switches in the trace: Operation not permitted' err)" = 1 ]
	[ "$(wc -l <err)" = 2 ]
	refuse fxtrun --no-sched -o unwanted.fxt pingpong >/dev/null 2>err
	[ "$(wc -l <err)" = 1 ]
	fxtrun --no-sched -o off.fxt pingpong >/dev/null 2>err
	[ "$(wc -l <err)" = 1 ]
	fxtrun --start=paused -o paused.fxt pingpong >/dev/null
	[ -z "$(decode cpu paused.fxt)" ]
	for trace in refused.fxt killed.fxt unwanted.fxt off.fxt; do
		sound $trace
		[ "$(calls_of $trace compute)" = 80 ]
		run fxt report --threads $trace
		[ "$status" = 0 ]
		[[ "$output" = *"no context switches in the trace: when its threads ran and waited is not known"* ]]
		run grep -c context-switch <(fxt info $trace)
		[ "$output" = 0 ]
	done
}

@test "a thread that ends on one CPU has run on another: its time there is counted" {
	needs_perf
	cat >spin.c <<-'END'
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <stdio.h>
		#include <time.h>
		#include <unistd.h>
		__attribute__((no_instrument_function)) static long ran(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
			return t.tv_sec * 1000000000L + t.tv_nsec;
		}
		static void *spin(void *nothing)
		{
			for (long until = 1000000; until <= 4000000; until += 1000000, usleep(50))
				while (ran() < until)
					;
			printf("%d\t%ld\n", gettid(), ran());
			return nothing;
		}
		int main(void)
		{
			pthread_t threads[4];
			for (int i = 0; i < 4; i++)
				pthread_create(&threads[i], NULL, spin, NULL);
			for (int i = 0; i < 4; i++)
				pthread_join(threads[i], NULL);
		}
	END
	${CC:-cc} -O1 -finstrument-functions -o spin spin.c -pthread
	# A run is over before the rings are read at all. If the host of a virtual machine
	# stops a CPU between the kernel's two looks at its clock, one thread's clock has
	# that time and its switches have not [3 of 160 threads on a busy host]. So no more
	# than one thread of twenty may lack a stay of a millisecond, and all together no more
	# than a fiftieth.
	for _ in {1..40}; do
		fxtrun ./spin 2>/dev/null | sort >measured
		decode cpu trace.fxt | sort | join -t "$(printf '\t')" measured - >both
		[ "$(wc -l <both)" = 4 ]
		cat both >>all
	done
	awk -F'\t' '$3 < $2 * 0.8 { print "too little: " $0; lacking++ } END { exit lacking > NR / 20 }' all
	awk -F'\t' '{ measured += $2; ran += $3 } END { print ran / measured; exit ran < measured * 0.98 }' all
}

blocked_run()
{
	fxtrun -o trace.fxt blocked >waits
	sound trace.fxt
	[ "$(wc -l <waits)" = 6 ]
}

# Every wait of `blocked` has the call and the file that the program gave.
blocked_is_named()
{
	local function call file

	fxt replay >replayed
	fxt threads >threads
	head -1 threads | grep -E '^trace.fxt: [0-9]+ threads that ran or waited$'
	while IFS=$'\t' read -r function call file; do
		fxt why --csv --limit=1 "$function" | rows parts kind part >part
		[ "$(cat part)" = "sampled	in system call $call${file:+ of $file} (sampled)" ] || { cat part; return 1; }
		grep -F "  in system call $call${file:+ of $file} (sampled)" threads
		grep -F "/* in system call $call${file:+ of $file} (sampled) */" replayed
	done <waits
}

# samples TRACE COLUMN
samples()
{
	fxt sql --csv "select $2 from events where category = 'sched' and name = 'blocked'" "$1" | tail -n 1 | cut -d, -f2
}

@test "a wait by an instruction of the program: the kernel's word names its call and its file; recorded waits are not asked about" {
	needs_perf
	mkfifo fifo
	# If the recorder does not run during a wait, the wait has no sample.
	until_clocks_agree blocked_run blocked_is_named
	# The threads that end these waits sleep in libc, which has a record.
	[ "$(samples trace.fxt 'count(distinct tid)')" = 1 ]
	# What is not wanted is not asked for.
	fxtrun --no-sched -o without.fxt blocked >waits
	fxt dump without.fxt | fails grep 'category="sched"'
}

reused_run()
{
	fxtrun -o trace.fxt reused "$PWD/fifo" >waits
	sound trace.fxt
	[ "$(wc -l <waits)" = 5 ]
}

# Each wait names what the program printed for it.
waits_are_named()
{
	local function call files

	while IFS=$'\t' read -r function call files; do
		fxt why --csv --limit=1 "$function" | rows parts kind part >parts
		grep -qxF "waited	waiting in $call of $files" parts || { cat parts; return 1; }
	done <waits
}

@test "a recorded wait for a descriptor names the file that it was then" {
	needs_perf
	mkfifo fifo
	# If the recorder does not run during a wait, its file is not known.
	until_clocks_agree reused_run waits_are_named
	# Two instants at most say which file the descriptor was, and none says another one.
	fxt sql --csv "select count(*) from events where category = 'sched' and name = 'descriptor'" |
		tail -n 1 | cut -d, -f2 >count
	[ "$(cat count)" -ge 4 ]
	[ "$(cat count)" -le 12 ]
}

polled_run()
{
	fxtrun -o trace.fxt polled >waits
	sound trace.fxt
	[ "$(wc -l <waits)" = 7 ]
}

@test "a wait for several descriptors names the first three with their files, and says how many more there are" {
	needs_perf
	# If the recorder does not run during a wait, its descriptors are not known.
	until_clocks_agree polled_run waits_are_named
}

@test "the kernel is asked about waits without a record, and hardly ever about recorded ones" {
	needs_perf
	mkfifo fifo
	asked()
	{
		strace -f -qq -e trace=openat -o opened fxtrun -o asked.fxt "$@" >/dev/null 2>&1
		grep -c '"/proc/[0-9]*/task/[0-9]*/syscall"' opened || :
	}
	# A thread that has just begun a wait may not have its record yet.
	[ "$(asked "$(command -v sleep)" 2)" -le 3 ]
	# The recorder may not run during such a wait.
	for _ in {1..5}; do
		[ "$(asked blocked)" = 0 ] || return 0
	done
	return 1
}

@test "a program that was not rebuilt lasts for its whole life, however long it does nothing that is recorded" {
	needs_perf
	cat >spin.c <<-'END'
		#include <time.h>
		static long now(void)
		{
			struct timespec t;

			clock_gettime(CLOCK_MONOTONIC, &t);
			return t.tv_sec * 1000000000 + t.tv_nsec;
		}
		int main(void)
		{
			long start;

			nanosleep(&(struct timespec){0, 1000000}, NULL); /* the only event */
			start = now();
			while (now() - start < 200000000)
				;
		#ifdef __x86_64__ /* as Go's programs end: by no function of the C library */
			__asm__ volatile("syscall" : : "a"(231L), "D"(0L));
		#endif
			return 0;
		}
	END
	cc -O1 -o spin spin.c
	fxtrun -o x.fxt ./spin
	[ "$(fxt report --json x.fxt | grep -o '"duration_ns": *[0-9]*' | grep -o '[0-9]*$')" -ge 200000000 ]
	[ "$(fxt info --json x.fxt | grep -o '"length_ns": *[0-9]*' | grep -o '[0-9]*$')" -ge 200000000 ]
}
