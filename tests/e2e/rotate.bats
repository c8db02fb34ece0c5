#!/usr/bin/env bats
# fxtrun --rotate: each file is a whole trace, and together they have every call.

load helpers

# rounds N: four threads make 20,000 calls of leaf() each, N times; before each further round
# the program says "round" and waits for a byte. It counts the calls itself.
setup_file()
{
	cat >"$BATS_FILE_TMPDIR/rounds.c" <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		static int rounds;
		static long made[4];
		static pthread_barrier_t barrier;
		__attribute__((noinline)) static void leaf(long *calls) { ++*calls; __asm__ volatile(""); }
		static void *worker(void *calls)
		{
			char name[16];
			snprintf(name, sizeof(name), "worker-%d", (int)((long *)calls - made));
			pthread_setname_np(pthread_self(), name);
			for (int round = 0; round < rounds; round++) {
				pthread_barrier_wait(&barrier);
				for (int i = 0; i < 20000; i++)
					leaf(calls);
				pthread_barrier_wait(&barrier);
			}
			return NULL;
		}
		int main(int argc, char **argv)
		{
			pthread_t threads[4];
			rounds = atoi(argv[1]);
			pthread_barrier_init(&barrier, NULL, 5);
			for (int i = 0; i < 4; i++)
				pthread_create(&threads[i], NULL, worker, &made[i]);
			for (int round = 1; round <= rounds; round++) {
				pthread_barrier_wait(&barrier);
				pthread_barrier_wait(&barrier);
				printf("round %d\n", round);
				fflush(stdout);
				if (round < rounds && getchar() == EOF)
					return 1;
			}
			for (int i = 0; i < 4; i++)
				pthread_join(threads[i], NULL);
			printf("made %ld\n", made[0] + made[1] + made[2] + made[3]);
			return 0;
		}
	END
	cc -O2 -g -D_GNU_SOURCE -finstrument-functions -pthread -o "$BATS_FILE_TMPDIR/rounds" "$BATS_FILE_TMPDIR/rounds.c"
	compiled_for_all launcher/counted
}

# file NUMBER: its name.
file()
{
	printf 'trace.%06d.fxt' "$1"
}

# until_whole FILE: waits until it is there and finished.
until_whole()
{
	until fxt check "$1" >checked 2>&1; do
		kill -0 "$job" || return 1
		sleep 0.05
	done
}

# recorded OPTION...: five rounds, each in a file of its own: a round begins when the next
# file is there and the one before is finished. That one is linked to saved.NUMBER, where it
# stays.
recorded()
{
	local number

	mkfifo in
	fxtrun --rotate=1M --no-sched "$@" rounds 5 <in >out 2>said 3>&- &
	job=$!
	exec 9>in
	for number in 1 2 3 4; do
		await "round $number" out
		until_whole "$(file $number)"
		ln "$(file $number)" saved.$number
		echo >&9
	done
	exec 9>&-
	wait $job
	cat said
}

# leaves FILE...: how many calls of leaf() they have, together.
leaves()
{
	local name sum=0

	for name; do
		sum=$((sum + $(calls_of "$name" leaf)))
	done
	echo $sum
}

# said PATTERN: the number that is in its brackets, in what fxtrun said.
said()
{
	sed -nE "s/^fxtrun: $1\$/\1/p" said | tr -d ,
}

@test "--rotate: each file is whole, and all calls of four threads are in them, by a counter in the program" {
	recorded --keep=1000
	ls trace.*
	grep -E '^fxtrun: .*: trace.000001.fxt to trace.0000..\.fxt \([0-9]+ files\)$' said
	[ "$(leaves trace.*.fxt)" = "$(awk '/^made/ { print $2 }' out)" ]
	[ "$(leaves trace.*.fxt)" = 400000 ]
	[ "$(events_of trace.*.fxt)" = "$(said '([0-9,]*) events, .*')" ]
	last=$(ls trace.*.fxt | tail -n 1)
	number=0
	for name in trace.*.fxt; do
		fxt check "$name"
		decode check "$name" >checks || [ "$(grep -v ^0 checks | cut -f 2)" = flow_end_without_start ]
		number=$((number + 1))
		fxt info "$name" | grep "^file $number of several"
		[ "$(calls_of "$name" leaf)" = 0 ] || [ "$(decode threads "$name" | grep -c worker-)" = 4 ]
		# A call is where it ended, and nowhere else.
		[ "$name" = "$last" ] || [ "$(calls_of "$name" worker)$(calls_of "$name" main)" = 00 ]
	done
	[ "$number" -ge 5 ]
	[ "$(calls_of "$last" worker)" = 4 ]
	fxt report "$last" 2>&1 | grep "^file $number of several (fxtrun --rotate): "

	# The whole: threads and processes are not told apart by the file they are in.
	fxt merge -o whole.fxt trace.*.fxt 2>gaps
	fails grep missing gaps
	# Each file that is not given is told.
	fxt merge -o part.fxt "$last" trace.000003.fxt 2>gaps
	grep -x 'fxt: files 1 to 2 are missing, with their calls' gaps
	grep -E "^fxt: files? 4( to $((number - 1)))? (is|are) missing, with (its|their) calls$" gaps
	# main lasts as long as the program, and is in the last file; that file's time does not.
	duration=$(fxt report --json "$last" | jq '.traces[0].facts.duration_ns')
	main=$(fxt sql --csv "select max(duration) from calls where function = 'main'" "$last" | sed -n 's/^rows,//p')
	[ "$duration" -lt "$main" ]
	sound whole.fxt
	[ "$(calls_of whole.fxt leaf)" = 400000 ]
	[ "$(decode threads whole.fxt | wc -l)" = 5 ]
	[ "$(events_of whole.fxt)" = "$(said '([0-9,]*) events, .*')" ]
	decode report whole.fxt >by_thread
	# Inside the four long calls are the leaves of all files.
	[ "$(awk -F'\t' '$4 == "worker" && $7 - $8 > 0 { n++ } END { print n }' by_thread)" = 4 ]
}

@test "--keep: what is kept and what was deleted add up to what four threads made" {
	recorded --keep=2
	[ "$(ls trace.*.fxt | wc -l)" = 2 ]
	grep -E '^fxtrun: .*\(2 files; [0-9]+ earlier ones with [0-9,]+ events deleted, --keep\)$' said
	deleted=()
	for name in saved.*; do
		[ "$(stat -c %h "$name")" = 2 ] || deleted+=("$name")
	done
	[ "$(said '.* files; ([0-9]+) earlier .*')" -ge ${#deleted[@]} ]
	[ "$(events_of trace.*.fxt)" = "$(said '([0-9,]*) events, .*')" ]
	[ "$(said '.* ([0-9,]+) lost, .*')" = 0 ]
	# Unless the machine was so slow that a round took two files.
	[ "$(said '.* files; ([0-9]+) earlier .*')" != ${#deleted[@]} ] || {
		[ "$(events_of "${deleted[@]}")" = "$(said '.* earlier ones with ([0-9,]+) events .*')" ]
		[ "$(leaves "${deleted[@]}" trace.*.fxt)" = 400000 ]
	}
	fxt merge -o part.fxt trace.*.fxt 2>gaps
	grep -E '^fxt: files 1 to [0-9]+ are missing: fxtrun --keep=2 deletes earlier files$' gaps
	# The next run goes on behind them, and deletes none of them.
	fxtrun --rotate=1M --keep=1 --no-sched counted 10 2>said
	[ "$(ls trace.*.fxt | wc -l)" = 3 ]
	[ "$(calls_of "$(ls trace.*.fxt | tail -n 1)" leaf)" = 10 ]
}

@test "--rotate by time: files follow each other although nothing happens, compressed too" {
	mkfifo in
	fxtrun --rotate=100ms --keep=1000 -o trace.fxt.zst rounds 2 <in >out 2>said 3>&- &
	job=$!
	exec 9>in
	await 'round 1' out
	until_whole trace.000001.fxt.zst
	until_whole trace.000003.fxt.zst
	echo >&9
	exec 9>&-
	wait $job
	for name in trace.*.fxt.zst; do
		[ "$(od -An -tx4 -N4 "$name")" = " fd2fb528" ] # Zstandard's
		fxt check "$name"
	done
	fxt merge -o whole.fxt trace.*.fxt.zst
	[ "$(calls_of whole.fxt leaf)" = 160000 ]
	[ "$(calls_of whole.fxt worker)" = 4 ]
}

@test "--rotate with processes that come and go: each is in the files, once" {
	fxtrun --rotate=1M --keep=1000 --no-sched sh -c 'for i in 1 2 3 4 5 6 7 8; do counted 20000; done' 2>said
	[ "$(leaves trace.*.fxt)" = 160000 ]
	for name in trace.*.fxt; do
		fxt check "$name"
	done
	fxt merge -o whole.fxt trace.*.fxt
	sound whole.fxt
	[ "$(calls_of whole.fxt main)" = 8 ]
	decode slices whole.fxt | awk -F'\t' '$4 == "leaf" { n[$1]++ } END { for (p in n) print n[p] }' >by_process
	[ "$(sort by_process | uniq -c | tr -s ' ')" = ' 8 20000' ]
}

@test "--rotate, and the manager is killed: the files have all calls, and the last one is recovered" {
	export XDG_RUNTIME_DIR=$PWD
	fxtrun --rotate=1M --keep=1000 counted 200000 wait >out 2>said 3>&- &
	job=$!
	program=$(await ready out | cut -d ' ' -f 2)
	until_whole trace.000001.fxt
	kill -KILL $(recorder_of $job)
	await 'was killed by signal 9' said
	kill -KILL "$program"
	wait $job || true
	cat said
	last=$(ls trace.*.fxt | tail -n 1)
	grep "^fxtrun: recovered: .*: $last" said
	fxt info "$last" | grep '^recovered: '
	fxt check "$last"
	# A part that was saved ahead of its buffer may be there twice. fxtrun says so.
	if grep 'may be in both files' said; then
		[ "$(leaves trace.*.fxt)" -ge 200000 ]
	else
		[ "$(leaves trace.*.fxt)" = 200000 ]
	fi
}

@test "--rotate and --keep refuse what makes no sense with them" {
	says 125 'fxtrun: --rotate: only in streaming mode are records written while the program runs; --buffering-mode=circular keeps the end without it' \
		fxtrun --rotate=1M --buffering-mode=circular counted 1
	says 125 'fxtrun: --rotate: only in streaming mode are records written while the program runs; --buffering-mode=circular keeps the end without it' \
		fxtrun --rotate=1M --buffering-mode=oneshot counted 1
	says 125 'fxtrun: --rotate: --max-size ends the recording at a size, and --rotate goes on in another file: use one or the other' \
		fxtrun --rotate=1M --max-size=2M counted 1
	says 125 'fxtrun: --rotate: the standard output is no file that another one can follow; name a file with -o' \
		fxtrun --rotate=1M -o - counted 1
	says 125 'fxtrun: --rotate: with this --start a controller names the file of each recording' \
		fxtrun --rotate=1M --start=idle counted 1
	says 125 'fxtrun: --rotate: the call paths of the heap are only in the file in which they first occur; use --heap=off or --heap=counters' \
		fxtrun --rotate=1M --heap=objects counted 1
	says 125 'fxtrun: --keep: only a trace that --rotate divides has files to keep' fxtrun --keep=3 counted 1
	says 125 'fxtrun: --keep=0: must be a number of files, from 1 to 100000' fxtrun --rotate=1M --keep=0 counted 1
	says 125 'fxtrun: --rotate=soon: must be a size, such as 100M, or a time with a unit, such as 10min' fxtrun --rotate=soon counted 1
	says 125 'fxtrun: --rotate=1ms: must be at least 100ms' fxtrun --rotate=1ms counted 1
	says 125 'fxtrun: --rotate=4K: must be at least 1M and at most 1024G' fxtrun --rotate=4K counted 1
	[ ! -e trace.000001.fxt ]
}
