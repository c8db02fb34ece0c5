#!/usr/bin/env bats
# fxt report's numbers against an independent count: every column of every thread and function, to the last digit printed.

load helpers

# reports_truly TRACE: also from a pipe, on one processor, and on all.
reports_truly()
{
	decode report "$1" >decoded
	fxt report --threads "$1" >reported
	python3 "$root/tests/e2e/report.py" decoded reported
	fxt report --threads - <"$1" | sed 1d | diff <(sed 1d reported) -
	cat "$1" | taskset -c "$(first_processor)" fxt report --threads - | sed 1d | diff <(sed 1d reported) -
}

first_processor()
{
	sed -n 's/Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status
}

# compiled SOURCE: of tests/programs; the program's name is that of the file.
compiled()
{
	${CC:-cc} -O2 -g -D_GNU_SOURCE -finstrument-functions -pthread -o program "$root/tests/programs/$1"
}

@test "eight threads, streamed and in a small buffer" {
	fxtrun "$programs/threads8" >/dev/null
	reports_truly trace.fxt
	fxtrun --buffer-size=64K "$programs/threads8" >/dev/null
	reports_truly trace.fxt
}

@test "circular and oneshot buffers, that lose what does not fit" {
	for mode in circular oneshot; do
		fxtrun --buffering-mode=$mode --buffer-size=64K "$programs/threads8" >/dev/null
		reports_truly trace.fxt
	done
}

@test "threads that wait for each other" {
	compiled threads/locks.c
	fxtrun ./program >/dev/null || true
	reports_truly trace.fxt
}

@test "calls left by longjmp and by exec, and processes of a family" {
	compiled jumps/longjmp.c
	fxtrun ./program >/dev/null
	reports_truly trace.fxt
	compiled processes/family.c
	fxtrun ./program >/dev/null || true
	reports_truly trace.fxt
}

@test "a process killed in mid-recursion, long before the trace ends: its calls end with it" {
	cat >killed.c <<-'END'
		#include <signal.h>
		static volatile int sum;
		static void deep(int depth)
		{
			if (depth == 0)
				raise(SIGKILL);
			deep(depth - 1);
			sum++;
		}
		static void shallow(void)
		{
			sum++;
		}
		int main(void)
		{
			for (int i = 0; i < 5000; i++)
				shallow();
			deep(150);
		}
	END
	${CC:-cc} -O1 -fno-optimize-sibling-calls -finstrument-functions -o killed killed.c
	# The other program runs when the first one is dead.
	fxtrun sh -c './killed || "$0"' "$build/examples/recursion" >/dev/null
	reports_truly trace.fxt
	fxt report trace.fxt | grep -E '^ +151  .* deep \(151 not ended\)$'
}

@test "a trace of several ranges: each is walked with what is open at its ends" {
	cat >nested.c <<-'END'
		static volatile int sum;
		static void leaf(void)
		{
			sum++;
		}
		static void node(int depth)
		{
			for (int i = 0; i < 4; i++)
				depth ? node(depth - 1) : leaf();
		}
		int main(void)
		{
			node(9);
		}
	END
	${CC:-cc} -O1 -finstrument-functions -o nested nested.c
	fxtrun ./nested
	[ "$(stat -c %s trace.fxt)" -gt $((30 << 20)) ]
	reports_truly trace.fxt
}
