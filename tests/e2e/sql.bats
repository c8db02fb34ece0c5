#!/usr/bin/env bats
# fxt sql's figures against programs that count, and against the independent decoder; what
# it reads, and what it refuses.

load helpers

# rows QUERY [TRACE]: what is answered, columns separated by commas.
rows()
{
	fxt sql --csv "$@" | sed '1d; s/^rows,//'
}

# sums_truly: of trace.fxt, by thread and name, calls and all else.
sums_truly()
{
	decode report trace.fxt >decoded
	fxt sql --csv "select s.pid, s.tid, iif(s.category in ('fxt', 'process', 'sync'), 'other', 'function'), s.function,
		count(*), sum(s.is_open), sum(s.self), min(s.duration), max(s.duration), sum(s.duration)
		from slices s group by 1, 2, 3, 4" >answered
	python3 "$root/tests/e2e/sql.py" report decoded answered
}

@test "calls: every figure of every thread and function, streamed, circular and with what was left by jumps" {
	fxtrun "$programs/threads8" >/dev/null
	sums_truly
	diff <(calls_by_name trace.fxt) <(fxt sql --csv "select function, count(*) from calls group by 1" |
		python3 -c 'import csv, sys; print(*sorted("\t".join(row[1:]) for row in list(csv.reader(sys.stdin))[1:]), sep="\n")' | sort)
	diff <(fxt report --json trace.fxt | jq -c '.traces[0].tables[0].rows[] | [.name, .calls, .total_ns, .self_ns, .min_ns, .max_ns]' | sort) \
		<(fxt sql --json "select name, calls, total, self, min, max from functions" |
			jq -c '.traces[0].tables[0].rows[] | [.name, .calls, .total, .self, .min, .max]' | sort)
	fxtrun --buffering-mode=circular --buffer-size=64K "$programs/threads8" >/dev/null
	sums_truly
	[ "$(rows 'select sum(records) from losses')" = "$(rows 'select lost + overwritten from trace')" ]
	[ "$(rows 'select sum(records) from losses')" -gt 1000 ]
	compiled jumps/longjmp.c
	fxtrun ./program >/dev/null
	sums_truly
	[ "$(rows 'select sum(is_abandoned) from calls')" = "$(fxt dump trace.fxt | grep -c 'abandoned=true')" ]
	[ "$(rows 'select sum(is_abandoned) from calls')" -gt 0 ]
}

@test "trace: when recording began, and whether anything is missing" {
	local since now kind status=0
	since=$(date +%s%N)
	fxtrun "$programs/threads8" >/dev/null
	now=$(date +%s%N)
	[ "$(rows "select is_whole, began between $since and $now from trace")" = 1,1 ]
	fxt cut --thread='worker 7' -o cut.fxt trace.fxt
	head -c 100001 trace.fxt >short.fxt
	fxtrun --buffering-mode=circular --buffer-size=64K -o overwritten.fxt "$programs/threads8" >/dev/null
	fxtrun --buffering-mode=oneshot --buffer-size=64K -o lost.fxt "$programs/threads8" >/dev/null
	fxtrun --max-size=1M -o refused.fxt "$programs/threads8" >/dev/null
	for kind in cut short overwritten lost refused; do
		[ "$(fxt sql --csv 'select is_whole from trace' $kind.fxt | tail -1)" = rows,0 ] || { echo $kind && return 1; }
	done
	rm short.fxt # no viewer reads its end
}

@test "calls that never ended are slices once" {
	local status=0
	cat >killed.c <<-'END'
		#include <signal.h>
		#include <unistd.h>
		void inner(void) { kill(getpid(), SIGKILL); pause(); }
		int main(void) { inner(); }
	END
	${CC:-cc} -finstrument-functions -o killed killed.c
	fxtrun --no-sched ./killed || status=$?
	[ "$status" = 137 ]
	sums_truly
	[ "$(rows "select count(*), sum(is_open) from slices where category = 'function'")" = 2,2 ]
}

@test "functions: without what the tracer made their threads wait, as fxt report has them" {
	local status=0

	compiled engine/load.c
	fxtrun --heap=off --buffer-size=256K ./program 4 20000 pause >/dev/null || status=$?
	[ "$status" = 3 ]
	decode report trace.fxt >decoded
	grep -q $'\tfxt: waited\t' decoded
	fxt sql --csv "select name, calls, open, total, self, min, max from functions" >answered
	python3 "$root/tests/e2e/sql.py" functions decoded answered
}

@test "waits, their locks and their wakers: as many as the program made happen" {
	compiled threads/locks.c
	fxtrun ./program | tr '\t' , | sort >told
	rows "select name, count(*) from waits where object is not null and name <> 'pthread_join' group by 1" | tr -d '"' | sort | diff told -
	# Each is in one of the two functions that take turns, and has a lock with a name; a
	# waker is another thread.
	[ "$(rows "select count(*) from waits w join calls c on c.id = w.caller where c.function not in ('take_turns', 'give_turns')")" = 0 ]
	[ "$(rows "select count(*) from waits_by_lock where lock in ('mutex', 'rwlock', 'cond', 'waited') and waits >= 20")" = 4 ]
	[ "$(rows "select sum(waits) from waits_by_function")" = "$(rows "select count(*) from waits")" ]
	[ "$(rows "select count(*) from flows where name like 'pthread_%' and from_tid = to_tid")" = 0 ]
	[ "$(rows "select count(*) >= 60 from flows f join threads a on a.tid = f.from_tid join threads b on b.tid = f.to_tid")" = 1 ]
}

@test "objects: each block of a program that counts them, by function" {
	cat >blocks.c <<-'END'
		#include <stdlib.h>
		static void *volatile kept[100];
		__attribute__((noinline)) void make(int i)
		{
			kept[i] = malloc(1000 + i);
		}
		__attribute__((noinline)) void pass(int i)
		{
			void *volatile p = malloc(i + 1);
			free(p);
		}
		int main(void)
		{
			for (int i = 0; i < 100; i++) {
				make(i);
				pass(i);
			}
			for (int i = 0; i < 70; i++)
				free(kept[i]);
		}
	END
	${CC:-cc} -O1 -fno-builtin -finstrument-functions -o blocks blocks.c
	fxtrun --heap=objects ./blocks
	rows "select function, count(*), sum(size), sum(fate = 'leaked'), sum(is_temporary) from objects
		where function in ('make', 'pass') group by 1" | diff - <(printf '"make",100,104950,30,0\n"pass",100,5050,0,100\n')
	[ "$(rows "select leaked from memory_by_function where function = 'make'")" = 32535.0 ]
	[ "$(rows "select count(*) from objects where fate = 'freed' and (end < start or duration <> end - start)")" = 0 ]
	[ "$(rows "select max(value) > 32000 from counters where name = 'heap' and series = 'live bytes'")" = 1 ]
	[ "$(rows "select count(*) from modules where module glob '*/blocks' and length(build_id) > 0")" = 1 ]
	[ "$(rows "select module glob '*/blocks' from functions where name = 'make'")" = 1 ]
}

# read_for QUERY: the bytes read for it, after the scan.
read_for()
{
	fxt sql -v "$1" 2>&1 >/dev/null | sed -E 's/.*once, then ([0-9]+) bytes.*/\1/'
}

@test "a long trace: a condition on time reads its part, 32 MiB are enough to sort all of it" {
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
			node(8);
		}
	END
	${CC:-cc} -O1 -finstrument-functions -o nested nested.c
	fxtrun ./nested
	size=$(stat -c %s trace.fxt)
	[ "$size" -gt $((8 << 20)) ]
	# The calls that begin in a hundredth of the calls' time, in its middle: one more
	# block on either side, and those of the calls around.
	from=$(rows "select start from calls where function = 'leaf' order by start limit 1 offset 125000")
	to=$(rows "select start from calls where function = 'leaf' order by start limit 1 offset 127500")
	query="select count(*), sum(duration), sum(depth), sum(caller) from calls where start >= $from and start < $to"
	[ "$(rows "$query")" = "$(rows "${query//start/+start}")" ]
	[ "$(read_for "$query")" -lt $((size / 4)) ]
	[ "$(read_for "${query//start/+start}")" = "$size" ]
	# A single call and what is inside.
	id=$(rows "select id from calls where function = 'leaf' and start = $from")
	[ "$(rows "select function, start from calls where id = $id")" = "\"leaf\",$from" ]
	[ "$(read_for "select * from calls where id = $id")" -lt $((size / 4)) ]
	[ "$(rows "select count(*) from calls c join calls p on p.id = c.caller where c.start = $from and p.function = 'node'")" = 1 ]
	# Sorted by what has no order in the file.
	[ "$(peak fxt sql "select * from calls order by duration * 7919 % 10007 limit 5")" -lt 32768 ]
	[ "$(fxt sql --csv 'select count(*) from calls' - <trace.fxt | tail -1)" = rows,349526 ]
}

@test "statements from a pipe, and at a terminal" {
	fxtrun "$build/examples/recursion" >/dev/null
	printf '%s\n' '-- the first' 'select 1 as a;' 'create table t as select function, depth from calls;' \
		"select max(depth) > 3 from t where function like 'acker%';" | fxt sql --csv >out
	printf 'table,a\nrows,1\ntable,max(depth) > 3\nrows,1\n' | diff - out
	[ "$(fxt sql --csv trace.fxt <<<'select count(*) from trace' | tail -1)" = rows,1 ]
	python3 "$root/tests/e2e/sql.py" prompt "$build/fxt" trace.fxt
}

@test "errors are one line: statements, files, options; nothing can be changed" {
	fxtrun "$build/examples/hello" >/dev/null
	says 2 'fxt sql: near "selec": syntax error' fxt sql 'selec 1'
	says 2 'fxt sql: no such column: nowhere' fxt sql 'select nowhere from calls'
	says 2 'fxt sql: a statement may read, and make tables of its own; it cannot change the trace, or open a file' \
		fxt sql "attach 'other.db' as other"
	[ ! -e other.db ]
	status=0
	fxt sql "vacuum into 'other.db'" 2>err || status=$?
	[ "$status" = 2 ]
	[ ! -e other.db ]
	[ "$(wc -l <err)" = 1 ]
	printf 'select 1;\n\nselect x;\n' >script
	status=0
	fxt sql <script >out 2>err || status=$?
	[ "$status" = 2 ]
	[ "$(cat err)" = "fxt sql: line 3: no such column: x" ]
	says 2 'fxt: other.fxt: cannot be opened: No such file or directory' fxt sql 'select 1' other.fxt
	says 2 "fxt sql: at most one statement and one file; 'third' is one too many; see fxt sql --help" fxt sql 'select 1' trace.fxt third
	says 2 'fxt sql: the standard input cannot be both the trace and the statements; see fxt sql --help' fxt sql -
	# A truncated trace is reported, with the part of it that can be read.
	head -c $(($(stat -c %s trace.fxt) - 8)) trace.fxt >cut.fxt
	status=0
	fxt sql --csv 'select count(*) > 0 from calls' cut.fxt >out 2>err || status=$?
	[ "$status" = 1 ]
	[ "$(tail -1 out)" = rows,1 ]
	grep -q '^fxt: cut.fxt: offset 0x.*: truncated inside a record$' err
}

@test "names that mean something to a terminal are shown, not sent" {
	python3 -c 'import struct
text = lambda s: s + bytes(-len(s) % 8)
string = lambda i, s: struct.pack("<Q", 2 | (1 + len(text(s)) // 8) << 4 | i << 16 | len(s) << 32) + text(s)
thread = struct.pack("<3Q", 3 | 3 << 4 | 1 << 16, 1, 2)
call = struct.pack("<3Q", 4 | 3 << 4 | 4 << 16 | 1 << 24 | 1 << 32 | 2 << 48, 10, 20)
open("trace.fxt", "wb").write(struct.pack("<Q", 0x0016547846040010) + string(1, b"c") +
    string(2, b"\x1b]0;evil\x07\xe2\x80\xae\xff\",\n") + thread + call)'
	for format in '' --csv --json; do
		fxt sql $format "select function, function as \"$(printf 'a\033b')\" from calls" >out
		[ "$(tr -d '[:print:]\n' <out | wc -c)" = 0 ]
	done
	jq -e '.traces[0].tables[0].rows[0].function | contains("]0;evil")' out
}

@test "the manual has every table and column, and what they mean" {
	fxt sql --tables --csv >tables
	python3 "$root/tests/e2e/sql.py" manual "$root/doc/fxt-sql.1" tables
	fxtrun "$build/examples/hello" >/dev/null
	# Its tables are those that SQLite knows, and its examples are answered.
	diff <(cut -d, -f2 tables | sed 1d | tr -d '"' | sort -u) <(rows 'select name from sqlite_schema' | tr -d '"' | sort)
	for table in $(rows 'select name from sqlite_schema' | tr -d '"'); do
		fxt sql "select * from $table limit 1" >/dev/null
	done
	python3 - "$root/doc/fxt-sql.1" <<-'END'
		import re, subprocess, sys
		statements = re.findall(r'^\$ fxt sql "(.*?)"$', open(sys.argv[1]).read(), re.M | re.S)
		assert len(statements) > 4
		for statement in statements:
		    subprocess.run(["fxt", "sql", statement], check=True, stdout=subprocess.DEVNULL)
	END
}
