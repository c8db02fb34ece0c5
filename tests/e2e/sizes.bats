#!/usr/bin/env bats
# fxtrun --max-size: the trace keeps to it, and says what is missing.

load helpers

setup_file()
{
	compiled_for_all launcher/counted
}

# summed FILE: the events recorded and lost, in what fxtrun said at the end.
summed()
{
	sed -n 's/^fxtrun: \([0-9,]*\) events, .* \([0-9,]*\) lost, .*/\1 + \2/p' "$1" | tr -d ,
}

@test "--max-size: recorded and lost events add up to those made, by a counter in the program" {
	# Of 200,000 calls of leaf(), main() and the loader's words, a mebibyte has some
	# 40,000.
	fxtrun --buffering-mode=oneshot --no-sched --max-size=1M counted 200000 2>said
	cat said
	grep -x 'fxtrun: trace.fxt has reached --max-size; the recording ends there, the program runs on' said
	grep ' (--max-size ended the recording)$' said
	fxtrun --buffering-mode=oneshot --no-sched -o whole.fxt counted 200000 2>whole
	[ "$(calls_of whole.fxt leaf)" = 200000 ]
	[ $(($(summed said))) = $(($(summed whole))) ]
	[ "$(stat -c %s trace.fxt)" -le 1048576 ]
	[ "$(stat -c %s trace.fxt)" -ge 900000 ]
	[ "$(calls_of trace.fxt leaf)" -gt 30000 ]
	lost=$(sed 's/.*+ //' <<<"$(summed said)")
	fxt info trace.fxt >info
	grep -x "ended by fxtrun --max-size: $lost events came too late for the file" info
	fxt report trace.fxt 2>&1 | grep "fxtrun --max-size ended the recording: $lost events came too late"
	# The file is broken in no other way.
	decode check trace.fxt >checks
	fxt check trace.fxt >verdict || [ $? = 1 ]
	grep -x 'trace.fxt: offset 0x8: the trace is cut: .*' verdict
	grep 'not ok, 1 violation ' verdict
}

@test "--max-size while the program runs: recording stops, it ends as always, and the first calls are there" {
	cat >halves.c <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		static volatile int calls;
		__attribute__((noinline)) void first(void) { calls++; }
		__attribute__((noinline)) void last(void) { calls++; }
		int main(void)
		{
			for (int i = 0; i < 1000000; i++)
				first();
			puts("first");
			fflush(stdout);
			getchar();
			for (int i = 0; i < 1000000; i++)
				last();
			return calls == 2000000 ? 3 : 4;
		}
	END
	cc -O2 -g -finstrument-functions -o halves halves.c
	mkfifo in
	fxtrun --buffer-size=1M --max-size=2M -o halves.fxt ./halves <in >out 2>said 3>&- &
	job=$!
	exec 9>in
	await first out
	await 'has reached --max-size' said
	echo >&9
	status=0
	wait $job || status=$?
	[ $status = 3 ]
	decode check halves.fxt
	[ "$(calls_of halves.fxt first)" -gt 60000 ]
	[ "$(calls_of halves.fxt last)" = 0 ]
	[ "$(stat -c %s halves.fxt)" -le 2097152 ]
	[ $(($(summed said))) -le 2000010 ]
}

@test "--max-size is none of a circular trace" {
	says 125 'fxtrun: --max-size: a circular trace is limited by --total-size instead' \
		fxtrun --buffering-mode=circular --max-size=1M counted 1
	says 125 'fxtrun: --max-size=1K: must be at least 1M and at most 1024G' fxtrun --max-size=1K counted 1
}
