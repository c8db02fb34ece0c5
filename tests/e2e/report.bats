#!/usr/bin/env bats
# fxt report's numbers against an independent count: every column of every thread and
# function, to the nanosecond.

load helpers

# reports_truly TRACE: also from a pipe, on one processor, and on all; and what are calls to
# it are calls to fxt info.
reports_truly()
{
	decode report "$1" >decoded
	fxt report --threads --csv "$1" >reported
	python3 "$root/tests/e2e/report.py" decoded reported
	fxt report --threads --csv - <"$1" | diff reported -
	cat "$1" | taskset -c "$(first_processor)" fxt report --threads --csv - | diff reported -
	[ "$(fxt info "$1" | sed -En 's/^([0-9,]+) calls?, .*/\1/p' | tr -d ,)" = "$(calls_by_name "$1" | awk -F'\t' '{ n += $2 } END { print n }')" ]
}

first_processor()
{
	sed -n 's/Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status
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

@test "calls of a child that was killed last as long as the child did, though its parent goes on" {
	cat >outlived.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <sys/wait.h>
		#include <time.h>
		#include <unistd.h>
		static long long now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_MONOTONIC, &t);
			return t.tv_sec * 1000000000LL + t.tv_nsec;
		}
		static void die(void) { raise(SIGKILL); }
		static void doomed(void) { die(); }
		int main(void)
		{
			long long began = now(), died;
			if (fork() == 0)
				doomed();
			wait(NULL);
			died = now();
			/* The recorder learns of it a little later. */
			while (now() - died < 20 * (died - began) || now() - died < 1000000000)
				usleep(1000);
			return printf("%lld\n", now() - died) < 0;
		}
	END
	${CC:-cc} -O1 -g -finstrument-functions -finstrument-functions-exclude-function-list=now -o outlived outlived.c
	for options in "" --categories=function --buffering-mode=circular; do
		fxtrun $options -o trace.fxt ./outlived >outlived_by
		fxt report --csv trace.fxt | rows functions name total_ns | grep -E '^(die|doomed)\s' >lasted
		[ "$(wc -l <lasted)" = 2 ]
		awk -v by="$(cat outlived_by)" '$2 > by / 2 { exit 1 }' lasted
		reports_truly trace.fxt
	done
}

@test "a trace of several ranges: each is walked with the slices open at its ends" {
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

@test "memory: 32 MiB are enough for millions of calls, from a file and from a pipe" {
	compiled launcher/counted.c
	fxtrun ./program 4000000
	[ "$(stat -c %s trace.fxt)" -gt $((90 << 20)) ]
	[ "$(peak fxt report trace.fxt)" -lt 32768 ]
	[ "$(peak sh -c 'fxt report - <trace.fxt')" -lt 32768 ]
	# So is it for those that read records one by one, from the beginning to the end.
	for command in info check heap; do
		[ "$(peak fxt $command trace.fxt)" -lt 32768 ]
		[ "$(peak sh -c "cat trace.fxt | fxt $command -")" -lt 32768 ]
	done
	# And for those that copy them.
	fxtrun -o other.fxt ./program 4000000
	cp trace.fxt same.fxt
	for command in "symbolize -o named.fxt" "cut --time=0s.. -o -" "merge -o - other.fxt" "replay -n 1000" "export --to=perfetto -o -"; do
		[ "$(peak fxt $command trace.fxt)" -lt 32768 ]
	done
	cmp trace.fxt named.fxt
	# And to see that one of them is a copy.
	[ "$(peak sh -c '! fxt merge -o - trace.fxt same.fxt')" -lt 32768 ]
	fxt report trace.fxt | grep -E '^ *4000000  .* leaf$'
}

@test "memory: 32 MiB are enough for any number of waits, arrows and switches, and of heap events" {
	${CC:-cc} -O2 -g -finstrument-functions -pthread -o waits "$root/bench/waits.c"
	${CC:-cc} -O2 -g -finstrument-functions -pthread -o heap "$root/bench/heap.c"
	# On one processor each turn is waited for, nearly.
	fxtrun taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" ./waits 200000
	waits=$(fxt sql --csv "select count(*) from waits where name = 'sem_wait'" | tail -n 1 | cut -d, -f2)
	[ "$waits" -gt 150000 ]
	for command in check "slow play" "why play" "slow take_turn" last locks threads "threads --critical=play" "html -o page.html"; do
		[ "$(peak fxt $command trace.fxt)" -lt 32768 ]
	done
	[ "$(fxt locks --csv trace.fxt | rows locks waits | awk '{ n += $1 } END { print n }')" = "$waits" ]
	fxtrun --heap=objects ./heap 1 1000000
	for options in "" --timeline --pointers; do
		[ "$(peak fxt heap $options trace.fxt)" -lt 32768 ]
	done
	fxt heap trace.fxt | grep '^freed .* 1100000 blocks$'
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

# A program with calls that can be counted by hand: its functions are in two files and a
# library, their callers in two threads.
family()
{
	echo 'void leaf(void) { __asm__ volatile("" ::: "memory"); }' >leaf.c
	echo 'void in_library(void) { __asm__ volatile("" ::: "memory"); }' >library.c
	cat >main.c <<-'END'
		#include <pthread.h>
		void leaf(void), in_library(void);
		static void __attribute__((noinline)) a(void) { leaf(); leaf(); }
		static void __attribute__((noinline)) b(void) { for (int i = 0; i < 5; i++) leaf(); a(); }
		static void *body(void *none) { for (int i = 0; i < 7; i++) in_library(); leaf(); return none; }
		int main(void)
		{
			pthread_t thread;
			for (int i = 0; i < 3; i++) a();
			for (int i = 0; i < 2; i++) b();
			pthread_create(&thread, 0, body, 0);
			return pthread_join(thread, 0);
		}
	END
	${CC:-cc} -O1 -g -finstrument-functions -fPIC -shared -o liblibrary.so library.c
	${CC:-cc} -O1 -g -finstrument-functions -o family main.c leaf.c -L. -llibrary -Wl,-rpath,"$PWD" -pthread
	fxtrun ./family
}

# counts TABLE OPTION...: the calls and names of a table, names without folders and numbers.
counts()
{
	local table=$1
	shift
	fxt report --csv "$@" >counted
	python3 - "$table" <<-'END' | sort | tr '\n' ,
		import csv, re, sys
		head = []
		for row in csv.reader(open("counted", encoding="utf-8")):
		    if row[0] == "table":
		        head = row
		    elif row[0] == sys.argv[1]:
		        name = re.sub(r' \d+|"', "", row[head.index("name")].split("/")[-1])
		        print(row[head.index("calls")], name)
	END
}

@test "callers and callees of a function, and lines by what functions are in" {
	family
	[ "$(counts callers --callers=leaf)" = "1 body,10 a,10 b," ]
	[ "$(counts callers --callers=main)" = "1 (nobody)," ]
	[ "$(counts callees --callees=b)" = "10 leaf,2 a," ]
	[ "$(counts callees --callees='/^(a|b)$/')" = "2 a,20 leaf," ]
	[ "$(counts functions)" = "1 body,1 main,2 b,21 leaf,5 a,7 in_library," ]
	[ "$(counts modules --by=module)" = "30 family,7 liblibrary.so," ]
	[ "$(counts files --by=file)" = "21 leaf.c,7 library.c,9 main.c," ]
	[ "$(counts categories --by=category)" = "37 function," ]
	[ "$(counts threads_by_calls --by=thread)" = "28 thread family of process family,9 thread family of process family," ]
	[ "$(counts processes --by=process)" = "37 process family," ]
	[ "$(counts programs --by=program)" = "37 family," ]
}

@test "a limit is one of each table" {
	fxtrun "$programs/threads8" >/dev/null
	fxt report --csv | awk -F, '$1 != "table" { n[$1]++ } END { exit !(n["functions"] > 2 && n["others"] > 2) }'
	fxt report --csv --limit=2 | awk -F, '$1 != "table" { n[$1]++ } END { exit !(n["functions"] == 2 && n["others"] == 2) }'
}

@test "a histogram has every call, in the interval that its duration lies in" {
	family
	fxt report --function=leaf --histogram --json >histogram
	decode times trace.fxt | awk -F'\t' '$4 == "leaf" { print $6 }' >durations
	python3 <<-'END'
		import json
		tables = json.load(open("histogram", encoding="utf-8"))["traces"][0]["tables"]
		rows = next(table["rows"] for table in tables if table["name"] == "histogram")
		durations = [int(line) for line in open("durations", encoding="utf-8")]
		assert len(durations) == 21 == sum(row["calls"] for row in rows), rows
		for row in rows:  # a duration was rounded to a nanosecond, so it may seem to lie beside its interval
		    inside = sum(row["from_ns"] + 1 <= time < row["below_ns"] - 1 for time in durations)
		    near = sum(row["from_ns"] - 1 <= time < row["below_ns"] + 1 for time in durations)
		    assert row["calls"] > 0 and inside <= row["calls"] <= near, row
	END
}

@test "--format=gcc: places that an editor takes, each the line where the function stands" {
	cat >places.c <<-'END'
		__attribute__((noinline)) void first(void) { __asm__(""); }

		__attribute__((noinline)) void second(void)
		{
			first();
			first();
		}
		int main(void) { second(); return 0; }
	END
	gcc -g -O1 -finstrument-functions -o places "$PWD/places.c"
	fxtrun -o places.fxt ./places 2>/dev/null
	fxt report --format=gcc --sort=calls places.fxt >places.out
	[ "$(wc -l <places.out)" = 3 ]
	diff <(sed -E 's/^([^:]*):([0-9]+): note: (.*): ([0-9]+) calls?, .* total, .* self$/\1 \2 \3 \4/' places.out | sort) \
		<(for want in first:2:1 second:1:3 main:1:8; do
			IFS=: read -r name calls line <<<"$want"
			echo "$PWD/places.c $line $name $calls"
		done | sort)
	gcc -g0 -O1 -finstrument-functions -o places places.c
	fxtrun -o places.fxt ./places 2>/dev/null
	says 0 "fxt: places.fxt: 3 functions without a known line of source" fxt report --format=gcc places.fxt
	says 2 "fxt report: no format 'clang': it is gcc; see fxt report --help" fxt report --format=clang places.fxt
	says 2 "fxt report: --format=gcc is for functions, without --by or --threads; see fxt report --help" fxt report --format=gcc --threads places.fxt
}
