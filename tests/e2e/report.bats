#!/usr/bin/env bats
# fxt report's numbers against an independent count: every column of every thread and function, to the nanosecond.

load helpers

# reports_truly TRACE: also from a pipe, on one processor, and on all.
reports_truly()
{
	decode report "$1" >decoded
	fxt report --threads --csv "$1" >reported
	python3 "$root/tests/e2e/report.py" decoded reported
	fxt report --threads --csv - <"$1" | diff reported -
	cat "$1" | taskset -c "$(first_processor)" fxt report --threads --csv - | diff reported -
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

# peak COMMAND...: the most memory it had, in KiB. What it prints is dropped.
peak()
{
	python3 -c 'import os, sys
nothing = (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[nothing])
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))' "$@"
}

@test "memory: 32 MiB are enough for millions of calls, from a file and from a pipe" {
	cat >loop.c <<-'END'
		static volatile int sum;
		static void leaf(void)
		{
			sum++;
		}
		int main(void)
		{
			for (int i = 0; i < 4000000; i++)
				leaf();
		}
	END
	${CC:-cc} -O1 -finstrument-functions -o loop loop.c
	fxtrun ./loop
	[ "$(stat -c %s trace.fxt)" -gt $((90 << 20)) ]
	[ "$(peak fxt report trace.fxt)" -lt 32768 ]
	[ "$(peak sh -c 'fxt report - <trace.fxt')" -lt 32768 ]
	fxt report trace.fxt | grep -E '^ *4000000  .* leaf$'
}

@test "memory: begins and ends of another producer, in any order, take no more" {
	python3 -c 'import random, struct
pairs = 400000
random.seed(1)
marks = [(time, event) for i in range(pairs) for time, event in ((10 * i, 2), (10 * i + 7, 3))]
random.shuffle(marks)
words = [0x0016547846040010, 0x21, 10**9, 0x33 | 1 << 16, 1, 1, 0x22 | 1 << 16 | 1 << 32, ord("f")]
for time, event in marks:
    words += [0x24 | event << 16 | 1 << 24 | 1 << 48, time]
open("pairs.fxt", "wb").write(struct.pack(f"<{len(words)}Q", *words))'
	[ "$(peak fxt report pairs.fxt)" -lt 32768 ]
	fxt report pairs.fxt | grep -E '^ *400000 +2\.800 ms +2\.800 ms( +7 ns){6}  f$'
}
