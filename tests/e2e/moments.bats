#!/usr/bin/env bats
# Single calls, explained: fxt slow, why and last, against what programs know of themselves and the independent decoder.

load helpers

setup_file()
{
	for program in moments/causes threads/deadlock; do
		cc -O2 -g -D_GNU_SOURCE -finstrument-functions -pthread -o "$BATS_FILE_TMPDIR/${program#*/}" \
			"$BATS_TEST_DIRNAME/../programs/$program.c"
	done
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	PATH=$BATS_FILE_TMPDIR:$PATH
}

@test "why: five planted causes are named, and parts sum to the call to the nanosecond" {
	fxtrun causes >measured
	sound trace.fxt
	! fxt slow handle | grep 'no context switches' || skip "the kernel tells nobody like us of context switches"
	decode times trace.fxt >times
	[ "$(wc -l <measured)" = 5 ]
	python3 "$BATS_TEST_DIRNAME/moments.py" fxt trace.fxt measured times
}

@test "why without switches: what ran is unknown, waits and their holders are not" {
	fxtrun --no-sched causes >measured
	fxt slow handle >slow
	grep 'no context switches in the trace' slow
	fxt slow --json handle | grep '"running_ns": null.*in grow, running or not'
	fxt why --limit=1 'look_?p' | grep 'waiting for index_lock in pthread_mutex_lock, held by thread .* "keeper" in keeper > rebuild_index'
	! fxt why 'handle:2' | grep 'running in'
}

@test "slow and why: what is chosen, and what is not there" {
	fxtrun causes >measured
	[ "$(fxt slow --csv -n 7 handle | wc -l)" = 8 ]
	says 2 "fxt: trace.fxt: no function is called 'hande'; did you mean 'handle'?" fxt why hande
	says 2 "fxt: trace.fxt: 'handle' has no more than 200 calls" fxt why handle:201
	says 2 "fxt why: no function given; see fxt why --help" fxt why
	says 2 "fxt why: calls are counted from 1, the slowest, to 1000000; see fxt why --help" fxt why handle:0
	# One that calls no other: all of it is its own.
	fxt why --thread=hog hog | grep 'hog itself'
	says 2 "fxt: trace.fxt: no call of 'handle' is among what was chosen" fxt slow --thread=hog handle
}

@test "last: a crash has its signal, and every open call with its line and its time" {
	cat >crash.c <<-'END'
		static void store(int *to) { *to = 1; }
		static void recurse(int n)
		{
			if (n > 0)
				recurse(n - 1);
			else
				store((int *)0);
		}
		static void before(void) {}
		int main(void)
		{
			for (int i = 0; i < 10; i++)
				before();
			recurse(2);
			return 0;
		}
	END
	cc -O0 -g -finstrument-functions -o crash crash.c
	fxtrun ./crash 2>/dev/null || true
	fxt last >last
	grep '^killed by SIGSEGV (11)' last
	awk '/\/crash.c:[0-9]*$/ && $3 ~ /s$/ && NF == 5 { sub(".*:", "", $5); print $1, $4, $5 }' last |
		diff - <(printf '%s\n' '0 store 1' '1 recurse 2' '2 recurse 2' '3 recurse 2' '4 main 10')
	[ "$(grep -c 'crash.c:9$' last)" = 5 ]
	[ "$(fxt last -n 12 | grep -c 'crash.c:9$')" = 10 ]
	# What is open has lasted until the signal: with what it began at, all of it comes to the same moment, to the
	# nanosecond that rounding takes.
	decode times trace.fxt | awk -F'\t' '$6 == "" { print $5 }' | sort -n >begun
	fxt last --csv | awk -F, '$1 == "open" { print $4 }' | sort -nr >lasted
	[ "$(wc -l <lasted)" = 5 ]
	paste begun lasted | awk '{ print $1 + $2 }' | sort -n | sed -n '1p; $p' | tr '\n' ' ' | awk '{ exit $2 - $1 > 1 }'
}

@test "last: of a deadlock the locks, and who waits for them since when" {
	fxtrun -o stuck.fxt deadlock >out 2>err &
	kill -KILL "$(await ready out | cut -d ' ' -f 2)"
	wait $! || true
	fxt last stuck.fxt >last
	grep '^killed by SIGKILL (9)' last
	for lock in there here; do
		grep -A 1 "^0  .* pthread_mutex_lock: waiting for $lock  " last | tail -n 1 | grep '^1  .*  lock_both  .*/deadlock.c:[0-9]*$'
	done
	grep '^0  .* pthread_cond_wait: waiting for never ' last
}
