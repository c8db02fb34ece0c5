#!/usr/bin/env bats
# fxt cut: what is left of a trace is what the independent decoder finds of that in the
# whole one, and a trace.

load helpers
load heap

cuts()
{
	python3 "$root/tests/e2e/cuts.py" "$@"
}

# A program of three parts, each a call of main's, with a heap that lives across them and a
# thread beside them.
setup_file()
{
	cd "$BATS_FILE_TMPDIR"
	cat >parts.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		static pthread_barrier_t turn;
		static void *volatile kept[30];
		static void leaf(void) { __asm__ volatile(""); }
		static void other(void) { leaf(); }
		static void work(int n) { for (int i = 0; i < n; i++) leaf(); }
		static void first(void) { for (int i = 0; i < 20; i++) kept[i] = malloc(100 + i); work(500); pthread_barrier_wait(&turn); }
		static void second(void)
		{
			pthread_barrier_wait(&turn);
			for (int i = 0; i < 5; i++) { free(kept[i]); kept[20 + i] = malloc(1000 + i); }
			work(1000);
			pthread_barrier_wait(&turn);
		}
		static void third(void) { pthread_barrier_wait(&turn); for (int i = 5; i < 15; i++) free(kept[i]); work(500); }
		static void beside(void)
		{
			for (int turns = 0; turns < 4; turns++) {
				for (int i = 0; i < 300; i++) other();
				pthread_barrier_wait(&turn);
			}
		}
		static void *thread(void *unused) { pthread_setname_np(pthread_self(), "beside"); beside(); return unused; }
		int main(void)
		{
			pthread_t id;
			pthread_barrier_init(&turn, NULL, 2);
			pthread_create(&id, NULL, thread, NULL);
			first();
			second();
			third();
			pthread_join(id, NULL);
			return 0;
		}
	END
	${CC:-cc} -O1 -g -D_GNU_SOURCE -finstrument-functions -pthread -o parts parts.c
	PATH=${FXT_BUILD:-$BATS_TEST_DIRNAME/../../build}:$PATH fxtrun --heap=objects -o parts.fxt ./parts
	python3 "$BATS_TEST_DIRNAME/../independent/fxtdecode.py" slices parts.fxt >slices
}

# here: the trace, and its slices.
here()
{
	cp "$BATS_FILE_TMPDIR"/{parts.fxt,slices} .
}

# valid TRACE: a trace to our own check, the independent one, and the viewer, if it is here.
valid()
{
	fxt check "$1"
	decode check "$1"
	[ -e "$build/judges/trace_processor.wasm" ] || return 0
	[ -z "$(viewer "$1" 'select name, value from stats where value > 0 and severity != "info"')" ]
}

@test "a time: everything that reaches into it is kept whole and marked, and nothing else" {
	here
	read -r from to < <(cuts window slices second)
	[ "$(fxt cut --time='during second' parts.fxt)" = parts.cut.fxt ]
	[ "$(stat -c %a parts.cut.fxt)" = 600 ]
	valid parts.cut.fxt
	decode slices parts.cut.fxt >cut
	cuts slices slices cut "$from" "$to"
	fails grep -q "	third	" cut
	fails grep -aq third parts.cut.fxt
	fxt info parts.cut.fxt | grep -F "a part of another trace, by fxt cut --time=during second"
	fxt report parts.cut.fxt | grep "^the trace is a part of another one, from .* to .* since its start"
	# The part of main that is inside, though it is there as a whole.
	[ "$(fxt report --csv parts.cut.fxt | rows functions name total_ns | awk -F'\t' '$1 == "main" { print $2 }')" -le $((to - from + 1)) ]
	fxt report --json parts.cut.fxt | jq -e '.. | .is_cut? // empty'
	# Slices at a place of the time are in both; two threads may begin at the same time.
	diff <(fxt replay --csv parts.cut.fxt | grep ',"leaf",' | sort) \
		<(fxt replay --csv --time='during second' parts.fxt | grep ',"leaf",' | sort)
}

@test "the viewer draws what crosses a border, and the mark" {
	needs_viewer
	here
	read -r from to < <(cuts window slices second)
	fxt cut --time='during second' parts.fxt
	viewer parts.cut.fxt 'select name, display_value from slice join args using (arg_set_id) where key = "args.cut" or key = "cut" or key = "debug.cut" order by 1, 2' >marked
	grep -P "^main\tbegun earlier, ended later$" marked
	grep -P "^beside\tbegun earlier, ended later$" marked
	# The thread beside may be in a leaf just then.
	fails grep -E "^(second|work)" marked
}

@test "other ways to say a time: a cut of a cut, compressed, and from a pipe" {
	here
	fxt cut --time='during second' -o once.fxt.zst parts.fxt
	zstd -t once.fxt.zst
	cat once.fxt.zst | fxt cut --time='during work' -o twice.fxt -
	valid twice.fxt
	fxt info twice.fxt | grep -F "by fxt cut --time=during second --time=during work"
	read -r from to < <(cuts window slices second)
	decode slices twice.fxt >twice
	# The first cut left the inside of only one work, the one in second().
	cuts slices slices twice $(grep "	work	" slices | awk -F'\t' -v from="$from" -v to="$to" '$5 > from && $6 < to { print $5, $6 }')
	fxt cut --time='last 10s' -o all.fxt parts.fxt
	decode slices all.fxt | sort | diff - <(sort slices)
	fxt cut --time=5us.. -o end.fxt.gz parts.fxt
	gzip -dc end.fxt.gz >end.fxt
	valid end.fxt
	says 2 "fxt: once.fxt.zst: the chosen time was cut from this trace" fxt cut --time=..1ns -o x once.fxt.zst
	[ ! -e x ]
}

@test "threads, processes and functions" {
	here
	thread=$(decode threads parts.fxt | awk -F'\t' '$4 == "beside" { print $2 }')
	fxt cut --thread=beside -o thread.fxt parts.fxt
	valid thread.fxt
	decode slices thread.fxt >cut
	cuts slices slices cut 0 0 thread="$thread"
	fails grep -aq third thread.fxt
	fxt report thread.fxt | grep "other threads were removed"
	fxt cut --process=parts -o process.fxt parts.fxt
	decode slices process.fxt | sort | diff - <(sort slices)
	fxt cut --function=other -o function.fxt parts.fxt
	valid function.fxt
	decode slices function.fxt >cut
	cuts slices slices cut 0 0 name=other
	fxt report function.fxt | grep "other functions were removed"
	# The names of the functions inside second().
	fxt cut --under=second -o under.fxt parts.fxt
	valid under.fxt
	[ "$(decode slices under.fxt | awk '$3 == "function" { print $4 }' | sort | uniq -c | awk '{ print $2, $1 }')" = "leaf 1000
second 1
work 1" ]
	fxt report --csv under.fxt | rows functions name file | grep "^leaf	.*/parts.c$"
	[ "$(fxt sql "select is_cut from trace" under.fxt | tail -1 | tr -d ' ')" = 1 ]
}

@test "the heap: blocks that were live when the time began are known, by their call paths" {
	here
	read -r from to < <(cuts window slices second)
	fxt cut --time='during second' parts.fxt
	cuts blocks <(heapdecode blocks parts.fxt) <(heapdecode blocks parts.cut.fxt) "$from" "$to"
	fxt heap parts.cut.fxt >heap 2>heap.err
	grep -q "first" heap
	[ ! -s heap.err ]
	# None is lost for want of what stands before it.
	[ "$(fxt heap --json parts.cut.fxt | jq '[.processes[].allocated.blocks] | add')" = "$(heapdecode blocks parts.cut.fxt | wc -l)" ]
}

# curve TRACE: times and values of the row "live bytes" in the viewer.
curve()
{
	viewer "$1" "SELECT c.ts, c.value FROM counter c JOIN counter_track t ON t.id = c.track_id WHERE t.name = 'live bytes' ORDER BY c.ts"
}

@test "the viewer: live bytes are those of the whole trace, from the beginning of the time on" {
	needs_viewer
	cat >lives.c <<-'END'
		#include <stdlib.h>
		static void *kept[300];
		static void take(int from, int to) { for (int i = from; i < to; i++) kept[i] = malloc(1000 + i); }
		static void drop(int from, int to) { for (int i = from; i < to; i++) free(kept[i]); }
		static void first(void) { take(0, 200); drop(0, 50); }
		static void second(void) { take(200, 300); drop(50, 150); }
		int main(void) { first(); second(); drop(150, 300); return 0; }
	END
	${CC:-cc} -O0 -g -finstrument-functions -o lives lives.c
	for mode in auto objects; do
		fxtrun --heap=$mode ./lives
		fxt cut --time='during second' trace.fxt
		read -r from to <<<"$(viewer trace.fxt "SELECT ts, ts + dur FROM slice WHERE name = 'second' AND dur > 0")"
		curve trace.fxt | awk -v from="$from" -v to="$to" '$1 <= from { value = $2; next } !n++ { print "from", value } $1 < to' >expected
		[ "$(wc -l <expected)" = 201 ]
		curve trace.cut.fxt | sed "1s/^[0-9]*/from/" | awk '{ print $1, $2 }' | diff <(awk '{ print $1, $2 }' expected) -
		[ "$(curve trace.cut.fxt | awk -v from="$from" 'NR == 1 { print ($1 - from >= -1 && $1 - from <= 1) }')" = 1 ]
		valid trace.cut.fxt
	done
}

@test "losses in the chosen time are kept, and others are not" {
	cat >many.c <<-'END'
		static void f(void) { __asm__ volatile(""); }
		static void last(void) { f(); }
		int main(void) { for (int i = 0; i < 300000; i++) f(); last(); return 0; }
	END
	${CC:-cc} -O1 -finstrument-functions -o many many.c
	fxtrun --buffering-mode=circular --buffer-size=1 -o many.fxt ./many
	fxt report many.fxt | grep "overwritten by later ones"
	fxt cut --time='during last' -o without.fxt many.fxt
	fxt check without.fxt
	decode check without.fxt
	fails grep "overwritten" <(fxt report without.fxt)
	fxt cut --time=..1ms -o with.fxt many.fxt
	[ "$(fxt info with.fxt | grep -o 'overwritten: [0-9]*')" = "$(fxt info many.fxt | grep -o 'overwritten: [0-9]*')" ]
}

@test "a damaged trace: the readable part is cut, and says that it is incomplete" {
	here
	head -c $(($(stat -c %s parts.fxt) - 12)) parts.fxt >short.fxt
	status=0
	fxt cut --time='during second' short.fxt 2>error || status=$?
	[ $status = 1 ]
	grep "truncated inside a record" error
	fxt check short.cut.fxt
	fxt report short.cut.fxt | grep "which could not be read as a whole"
	fxt info short.cut.fxt | grep "could not be read as a whole"
}

@test "errors are reported" {
	here
	says 2 "fxt cut: nothing is chosen; use --time, --process, --thread or another option; see fxt cut --help" fxt cut parts.fxt
	says 2 "fxt: parts.fxt: cannot be written: it is the trace itself; choose another file" fxt cut --thread=beside -o parts.fxt parts.fxt
	says 2 "fxt: parts.fxt: there is no thread 'nobody'" fxt cut --thread=nobody parts.fxt
	[ ! -e parts.cut.fxt ]
	# Also where what is read is a copy of it.
	zstd -q parts.fxt
	says 2 "fxt: parts.fxt.zst: cannot be written: it is the trace itself; choose another file" fxt cut --thread=beside -o parts.fxt.zst parts.fxt.zst
	zstd -q -t parts.fxt.zst
}
