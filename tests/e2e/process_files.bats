#!/usr/bin/env bats
# fxtrun --file-per-process: each process's file is a whole trace, and together they have
# what one file has.

load helpers

# family N: makes N calls of leaf(), forks a child that makes 3, executes a program that makes
# 5 in a child of vfork(), and executes itself with N - 1 while N > 1. Each process says
# "leaves PID CALLS", by a counter in the program.
setup_file()
{
	cat >"$BATS_FILE_TMPDIR/family.c" <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static long made;
		__attribute__((noinline)) static void leaf(void) { made++; __asm__ volatile(""); }
		static void leaves(int calls)
		{
			while (calls-- > 0)
				leaf();
			printf("leaves %d %ld\n", getpid(), made);
			fflush(stdout);
			made = 0;
		}
		int main(int argc, char **argv)
		{
			int calls = atoi(argv[1]);
			char rest[16];
			leaves(calls);
			if (argc > 2)
				return 0;
			if (fork() == 0) {
				leaves(3);
				exit(0);
			}
			if (vfork() == 0) {
				execl(argv[0], argv[0], "5", "alone", NULL);
				_exit(1);
			}
			while (wait(NULL) > 0)
				;
			snprintf(rest, sizeof(rest), "%d", calls - 1);
			if (calls > 1)
				execl(argv[0], argv[0], rest, NULL);
			return 0;
		}
	END
	cc -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/family" "$BATS_FILE_TMPDIR/family.c"
	compiled_for_all launcher/counted
}

# count_made: the calls that each process made, by its own account.
count_made()
{
	awk '/^leaves/ { n[$2] += $3 } END { for (p in n) print p, n[p] }' out >made
}

# leaves_are_in NAME: each process's calls are in its file alone; NAME has PID for the number.
leaves_are_in()
{
	count_made
	while read -r pid calls; do
		[ "$(calls_of "${1/PID/$pid}" leaf)" = "$calls" ]
	done <made
}

@test "--file-per-process: forked, vforked and executed children have files of their own, with all their calls" {
	fxtrun --file-per-process "$BATS_FILE_TMPDIR/family" 2 >out 2>said
	cat said
	leaves_are_in trace.PID.fxt
	[ "$(wc -l <made)" = 5 ]
	[ "$(ls trace.*fxt | wc -l)" = 5 ]
	program=$(sed -nE '1s/leaves ([0-9]*) .*/\1/p' out)
	grep -E "^fxtrun: [0-9,]* events, 5 threads, 5 processes, 0 lost, .*: .*trace.$program.fxt \(5 files, one for each process\)" said
	for name in trace.*.fxt; do
		fxt check "$name"
		decode check "$name" >checks || [ "$(grep -v ^0 checks | cut -f 2)" = flow_end_without_start ]
		pid=${name#trace.} pid=${pid%.fxt}
		# No other process's calls are in it.
		decode slices "$name" | awk -F'\t' -v pid="$pid" '$4 == "leaf" && $1 != pid' >others
		[ ! -s others ]
		fxt info "$name" | grep 'the file of one process'
		fxt dump "$name" | grep '{{{module:'
		fxt report "$name" | grep -w leaf
	done
}

@test "fxt merge makes of all processes' files what one file has" {
	fxtrun --file-per-process -o parts.fxt "$BATS_FILE_TMPDIR/family" 2 >out 2>said
	count_made
	fxt merge -o whole.fxt parts.*.fxt
	sound whole.fxt
	[ "$(calls_of whole.fxt leaf)" = "$(awk '{ n += $2 } END { print n }' made)" ]
	[ "$(decode threads whole.fxt | wc -l)" = 5 ]
	[ "$(events_of whole.fxt)" = "$(events_of parts.*.fxt)" ]
	decode slices whole.fxt | awk -F'\t' '$4 == "leaf" { n[$1]++ } END { for (p in n) print p, n[p] }' | sort >merged
	sort made | diff - merged
}

@test "--file-per-process: names have each process's number and program, and the heap and a compressed trace are whole too" {
	fxtrun --file-per-process --heap=objects -o '%n-%p.fxt.zst' sh -c 'counted 7; counted 8' >out 2>said
	[ "$(ls counted-*.fxt.zst | wc -l)" = 2 ]
	[ "$(for name in counted-*.fxt.zst; do reported_calls "$name"; done | awk '$1 == "leaf" { print $2 }' | sort | xargs)" = '7 8' ]
	for name in *.fxt.zst; do
		[ "$(od -An -tx4 -N4 "$name")" = " fd2fb528" ] # Zstandard's
		fxt check "$name"
	done
	ls sh-*.fxt.zst
}

@test "--file-per-process: a loss is told in the file of the process that had it" {
	fxtrun --file-per-process --buffering-mode=oneshot --buffer-size=1M sh -c 'counted 1000000; counted 9' >out 2>said
	for name in trace.*.fxt; do
		fxt check "$name" >checked || true
		leaves=$(calls_of "$name" leaf)
		lost=$(fxt info "$name" | sed -nE 's/^lost: (at least )?([0-9]+) .*/\2/p')
		echo "$name $leaves $lost"
		[ "$leaves" != 9 ] || [ "$lost" = 0 ]
		[ "$leaves" -lt 1000 ] || [ $((leaves + lost)) -ge 1000000 ]
	done
	fxt merge -o whole.fxt trace.*.fxt || true
	fxt info whole.fxt
	said=$(sed -nE 's/^fxtrun: .* processes, ([0-9,]+) lost, .*/\1/p' said | tr -d ,)
	fxt info whole.fxt | grep -E "^lost: (at least )?$said "
}

@test "--file-per-process: a thousand short children are a thousand files, and open descriptors are few" {
	ulimit -n 256
	mkdir p
	fxtrun --file-per-process --no-sched -o 'p/%p.fxt' \
		sh -c 'i=0; while [ $i -lt 1000 ]; do counted 2 >/dev/null; i=$((i + 1)); done' 2>said
	cat said
	grep -F '(1001 files, one for each process)' said
	[ "$(ls p | wc -l)" = 1001 ]
	fxt merge -o whole.fxt p/*.fxt
	[ "$(calls_of whole.fxt leaf)" = 2000 ]
}

@test "--file-per-process: the manager is killed, and what was recovered is divided too" {
	export XDG_RUNTIME_DIR=$PWD
	fxtrun --file-per-process sh -c 'counted 70; exec counted 2000 wait' >out 2>said 3>&- &
	job=$!
	program=$(await ready out | cut -d ' ' -f 2)
	kill -KILL $(recorder_of $job)
	await 'was killed by signal 9' said
	kill -KILL "$program"
	wait $job || true
	cat said
	grep -E '^fxtrun: recovered: .* \(2 files, one for each process\)' said
	[ "$(for name in trace.*.fxt; do calls_of "$name" leaf; done | sort -n | xargs)" = '70 2000' ]
	fxt info "trace.$program.fxt" | grep '^recovered: '
}

@test "--file-per-process: a file that cannot be written leaves the one trace whole" {
	mkdir full
	mount -t tmpfs -o size=300k tmpfs full 2>/dev/null || skip "no mounts here"
	fxtrun --file-per-process --no-sched -o full/trace.fxt sh -c 'counted 7000; counted 70' 2>said || true
	cp -r full left
	umount full
	cat said
	grep -E '^fxtrun: full/trace\.[0-9]+\.fxt has all processes: .* cannot be written: No space left on device' said
	[ "$(ls left | wc -l)" = 1 ]
	[ "$(calls_of left/*.fxt leaf)" = 7070 ]
}

@test "--file-per-process refuses what makes no sense with it" {
	says 125 'fxtrun: --file-per-process: each file of --rotate has all processes: use one or the other' \
		fxtrun --file-per-process --rotate=1M counted 1
	says 125 'fxtrun: --file-per-process: the standard output is one file; name a file with -o' \
		fxtrun --file-per-process -o - counted 1
	says 125 'fxtrun: --file-per-process: with this --start a controller names the file of each recording' \
		fxtrun --file-per-process --start=idle counted 1
	says 125 "fxtrun: --file-per-process: %p and %n can stand for processes in the file's name only, not in its folder's" \
		fxtrun --file-per-process -o 'a%p/b' counted 1
	[ "$(ls ./*.fxt 2>/dev/null | wc -l)" = 0 ]
}
