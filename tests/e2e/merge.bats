#!/usr/bin/env bats
# fxt merge: what the independent decoder finds in the traces it finds in the merged one, on
# a timeline where what was known to come first does.

load helpers
load heap

# Two programs that hand a byte to and fro: each call of one ends before the byte is written
# for which the other's waits.
setup_file()
{
	cd "$BATS_FILE_TMPDIR"
	cat >hand.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		static void ball(void) { __asm__ volatile(""); }
		static void take(int fd) { char c; if (read(fd, &c, 1) != 1) exit(3); }
		static void give(int fd) { if (write(fd, "", 1) != 1) exit(4); }
		int main(int argc, char **argv)
		{
			int in = atoi(argv[1]), out = atoi(argv[2]), turns = atoi(argv[3]), is_first = argc > 4;
			for (int i = 0; i < turns; i++) {
				if (!is_first) take(in);
				ball();
				give(out);
				if (is_first) take(in);
			}
			return 0;
		}
	END
	${CC:-cc} -O1 -g -finstrument-functions -o hand hand.c
	cp hand other
	PATH=${FXT_BUILD:-$BATS_TEST_DIRNAME/../../build}:$PATH
	hands "" ""
	mv a.fxt "$BATS_FILE_TMPDIR/first.fxt"
	mv b.fxt "$BATS_FILE_TMPDIR/second.fxt"
}

# hands A B: records the two into a.fxt and b.fxt, with these commands before their fxtruns.
hands()
{
	rm -f there back && mkfifo there back
	$1 fxtrun -o a.fxt "$BATS_FILE_TMPDIR/hand" 3 4 300 first 3<>back 4<>there &
	$2 fxtrun -o b.fxt "$BATS_FILE_TMPDIR/other" 3 4 300 3<>there 4<>back
	wait $!
}

here()
{
	cp "$BATS_FILE_TMPDIR"/{first,second}.fxt .
}

# valid TRACE: to our own check, the independent one, and the viewer, if it is here.
valid()
{
	fxt check "$1"
	decode check "$1"
	[ -e "$build/judges/trace_processor.wasm" ] || return 0
	[ -z "$(viewer "$1" 'select name, value from stats where value > 0 and severity != "info"')" ]
}

# in_turn TRACE NS: the balls alternate, first and second; those of one are before the
# other's, to within NS nanoseconds.
in_turn()
{
	decode slices "$1" | awk -F'\t' '$4 == "ball" { print $5, $6, $1 }' >balls
	[ "$(wc -l <balls)" = 600 ]
	awk -v off="$2" '{ process[$3] = process[$3] ? process[$3] : ++n; k = ++turn[$3]; start[process[$3], k] = $1; end[process[$3], k] = $2 }
		END {
			first = start[1, 1] < start[2, 1] ? 1 : 2
			for (i = 1; i <= 300; i++) {
				if (end[first, i] > start[3 - first, i] + off) exit 1
				if (i < 300 && end[3 - first, i] > start[first, i + 1] + off) exit 1
			}
			exit n != 2
		}' balls
}

# error_ns LINE: how exact fxt merge says that times are, in ns.
error_ns()
{
	sed -n 's/.* to \([0-9.]*\) \(ns\|us\|ms\) where .*/\1 \2/p' <<<"$1" | awk '{ print $1 * ($2 == "us" ? 1e3 : $2 == "ms" ? 1e6 : 1) }'
}

@test "two sessions of a machine: all of both, and what was first is first" {
	here
	[ "$(fxt merge -o both.fxt first.fxt second.fxt)" = "both.fxt: 2 traces on one timeline, by the processor's counter: in exact order" ] ||
		skip "no counter here"
	[ "$(stat -c %a both.fxt)" = 600 ]
	valid both.fxt
	for what in calls threads; do
		decode $what both.fxt | sort | diff <(for t in first second; do decode $what $t.fxt; done | sort) -
	done
	in_turn both.fxt 0
	# All of the scheduler's too, under its ticks.
	[ "$(decode switches both.fxt | wc -l)" = "$(for t in first second; do decode switches $t.fxt; done | wc -l)" ]
	fxt info both.fxt | grep -x "several traces on one timeline, by the processor's counter: in exact order"
	diff <(reported_calls both.fxt) <(calls_by_name both.fxt)
	# Names of functions and where they stand, of both programs.
	[ "$(fxt report --csv both.fxt | rows functions name file | grep -c "^ball \[.*\]	.*/hand.c$")" = 2 ]
	# The two orders are one trace, and in a part of it the same.
	fxt merge -o again.fxt.zst second.fxt first.fxt
	diff <(decode slices both.fxt | sort) <(zstd -dc again.fxt.zst >again.fxt && decode slices again.fxt | sort)
	fxt cut --process=other -o part.fxt both.fxt
	valid part.fxt
	diff <(decode calls part.fxt | sort) <(decode calls second.fxt | sort)
}

@test "sessions too short to measure the counter by: the order in which they are given changes nothing" {
	for i in {1..8}; do
		fxtrun -o again.fxt "$BATS_FILE_TMPDIR/other" 0 1 1 first </dev/zero >/dev/null 3>&- &
		fxtrun -o first.fxt "$BATS_FILE_TMPDIR/hand" 0 1 1 first </dev/zero >/dev/null
		wait $!
		fxt merge -o there.fxt first.fxt again.fxt
		fxt merge -o back.fxt again.fxt first.fxt
		diff <(decode slices there.fxt | sort) <(decode slices back.fxt | sort)
	done
}

@test "the viewer sees the programs beside each other, and where their functions stand" {
	needs_viewer
	here
	fxt merge -o both.fxt first.fxt second.fxt
	[ "$(viewer both.fxt "select process.name, count(*) from slice join thread_track on track_id = thread_track.id join thread using (utid)
		join process using (upid) where slice.name = 'ball' group by 1 order by 1")" = "hand	300
other	300" ]
	[ "$(viewer both.fxt "select count(distinct args.string_value) from slice join process_track on track_id = process_track.id
		join args using (arg_set_id) where slice.name = 'ball' and args.string_value like '%hand.c'")" = 1 ]
	[ "$(viewer both.fxt "select cmdline from process where name = 'hand'")" = "hand 3 4 300 first" ]
	[ "$(viewer both.fxt "select count(*) from sched")" = "$(for t in first second; do viewer $t.fxt "select count(*) from sched"; done | awk '{ n += $1 } END { print n }')" ]
}

@test "a process that both have is there twice, with its heap, arrows and a number of its own" {
	fxtrun --heap=objects -o whole.fxt "$build/examples/threads" >out
	fxt cut --thread=threads -o main.fxt whole.fxt
	fxt cut --process=threads -o all.fxt whole.fxt
	fxt symbolize main.fxt
	fxt symbolize all.fxt
	fxt merge -o twice.fxt main.fxt all.fxt
	fxt check twice.fxt
	# The same moments of a thread, on one CPU: of these the parts have the same.
	[ "$(decode check twice.fxt | grep -v '^0	')" = "$(decode check twice.fxt | grep cpu:two_threads)" ]
	# No row of one is on another's.
	[ "$(decode threads twice.fxt | cut -f 1 | sort -u | wc -l)" = 2 ]
	[ "$(decode threads twice.fxt | cut -f 2 | sort | uniq -d)" = "" ]
	diff <(calls_by_name twice.fxt) <(for t in main all; do calls_by_name $t.fxt; done |
		awk -F'\t' '{ n[$1] += $2 } END { for (f in n) print f "\t" n[f] }' | sort)
	blocks()
	{
		heapdecode blocks "$1" | cut -f 2-4 | sort
	}
	diff <(blocks twice.fxt) <(for t in main all; do blocks $t.fxt; done | sort)
	needs_viewer
	flows="select count(*) from flow"
	[ "$(viewer twice.fxt "$flows")" = $(($(viewer main.fxt "$flows") + $(viewer all.fxt "$flows"))) ]
	heaps_in_the_viewer twice.fxt
}

@test "other clocks of the machine: as exact as merge says" {
	without_counter true
	hands without_counter ""
	line=$(fxt merge -o both.fxt a.fxt b.fxt)
	grep "by CLOCK_MONOTONIC, to " <<<"$line"
	valid both.fxt
	in_turn both.fxt "$(error_ns "$line")"
	decode calls both.fxt | sort | diff <(for t in a b; do decode calls $t.fxt; done | sort) -
	# The times of a trace by CLOCK_MONOTONIC stay.
	decode slices a.fxt | sort >slices
	[ -s slices ]
	[ -z "$(decode slices both.fxt | sort | comm -23 slices -)" ]
}

@test "traces of other machines and boots: refused, or by the time of day" {
	here
	python3 "$root/tests/e2e/anchors.py" boot second.fxt far.fxt 123456789012345
	says 2 "fxt: far.fxt: was recorded on another machine than first.fxt, or after another boot; only the time of day relates them, and --realtime merges by it; if both were recorded with fxtrun --connections, TCP connections between them would relate them, too" \
		fxt merge -o both.fxt first.fxt far.fxt
	[ ! -e both.fxt ]
	for order in "first.fxt far.fxt" "far.fxt first.fxt"; do
		line=$(fxt merge --realtime -o both.fxt $order)
		grep "by the time of day, as exact as the machines' clocks were set, and to " <<<"$line"
		valid both.fxt
		# The distance by which a time server has moved this machine's clock.
		in_turn both.fxt "$(($(error_ns "$line" | sed 's/\..*//') + 50000))"
		decode calls both.fxt | sort | diff <(for t in first second; do decode calls $t.fxt; done | sort) -
		# The CPUs of another machine are others.
		[ "$(fxt dump both.fxt | grep -c context-switch)" = "$(for t in first far; do fxt dump $t.fxt; done | grep -c context-switch)" ]
	done
	# A merged trace can be merged.
	fxtrun -o third.fxt "$build/examples/hello" >out
	fxt merge --realtime -o all.fxt far.fxt third.fxt
	fxt merge --realtime -o more.fxt all.fxt first.fxt
	in_turn more.fxt 1000000
	python3 "$root/tests/e2e/anchors.py" strip second.fxt old.fxt
	says 2 "fxt: old.fxt: does not say when it was recorded; record it again with this version of fxtrun" \
		fxt merge -o no.fxt first.fxt old.fxt
}

@test "anchors of any numbers: no call is missing, or a message says why nothing was merged" {
	here
	for n in 0 1 2 3 4 5 6 7 8; do
		for value in 0 1 0x7fffffffffffffff 0xffffffffffffffff; do
			python3 "$root/tests/e2e/anchors.py" word second.fxt odd.fxt $n $value
			status=0
			fxt merge --realtime -o both.fxt first.fxt odd.fxt >said 2>&1 || status=$?
			[ $status = 0 ] || { [ $status = 2 ] && grep '^fxt: odd.fxt: ' said; } || { echo "word $n $value: $status" && false; }
			[ $status = 2 ] || [ "$(fxt info both.fxt | sed -n 's/ calls, .*//p')" = 1802 ] || { echo "word $n $value" && fxt info both.fxt && false; }
		done
	done
}

@test "sums of elided calls keep their times on another clock" {
	here
	cat >short.c <<-'END'
		static void brief(void) { for (volatile int i = 0; i < 1000; i++) { } }
		int main(void) { for (int i = 0; i < 200; i++) brief(); return 0; }
	END
	${CC:-cc} -O1 -finstrument-functions -o short short.c
	fxtrun --min-duration=1s -o short.fxt ./short
	python3 "$root/tests/e2e/anchors.py" boot short.fxt far.fxt 1000000000
	fxt merge --realtime -o both.fxt first.fxt far.fxt
	sums()
	{
		fxt report --csv "$1" | rows functions name calls total_ns | grep '^brief	'
	}
	paste <(sums short.fxt) <(sums both.fxt) | awk -F'\t' '{ off = $3 - $6; exit !($2 == 200 && $5 == 200 && off * off <= 4 + ($3 * 1e-4) ^ 2) }'
}

@test "losses, a killed program's open calls and an unfinished trace are reported" {
	here
	cat >many.c <<-'END'
		#include <signal.h>
		static void f(void) { __asm__ volatile(""); }
		static void last(void) { raise(SIGKILL); }
		int main(void) { for (int i = 0; i < 300000; i++) f(); last(); return 0; }
	END
	${CC:-cc} -O1 -finstrument-functions -o many many.c
	fxtrun --buffering-mode=circular --buffer-size=1 -o many.fxt ./many || [ $? = 137 ]
	overwritten=$(fxt info many.fxt | grep -o 'overwritten: [0-9]*')
	[ "$overwritten" != "overwritten: 0" ]
	fxt merge -o both.fxt first.fxt many.fxt second.fxt
	fxt check both.fxt
	[ "$(fxt info both.fxt | grep -o 'overwritten: [0-9]*')" = "$overwritten" ]
	# Both are open to the end, and last() in main().
	open()
	{
		decode slices "$1" | awk -F'\t' '$6 == "" { print $1, $2, $4 }'
	}
	[ "$(open many.fxt | wc -l)" = 2 ]
	diff <(open many.fxt) <(open both.fxt)
	fxt last both.fxt | grep -w last
	# Cut off in a record.
	head -c $(($(stat -c %s second.fxt) / 2 / 8 * 8 + 12)) second.fxt >half.fxt
	status=0
	fxt merge -o some.fxt first.fxt half.fxt 2>error >out || status=$?
	[ $status = 1 ]
	grep "^fxt: half.fxt: .*truncated inside a record" error
	fxt info some.fxt | grep "^unfinished: "
	decode calls some.fxt | sort | diff <({ decode calls first.fxt; decode calls half.fxt 2>/dev/null; } | sort) -
	# Without the anchor of its end, of another boot: the rate is the one that was
	# measured at the beginning. Clocks of the kernel's need no measured rate.
	python3 "$root/tests/e2e/anchors.py" boot second.fxt far.fxt 123456789012345
	end=$(fxt dump far.fxt | sed -n 's/^\(0x[0-9a-f]*\) blob name="fxt:anchor".*/\1/p' | tail -n 1)
	head -c "$((end))" far.fxt >endless.fxt
	fxt merge --realtime -o both.fxt first.fxt endless.fxt >said
	if fxt merge -o both.fxt first.fxt second.fxt | grep "by the processor's counter"; then
		grep '; endless.fxt has no end, and may be off by 3 us for each second since it began$' said
	else
		fails grep 'has no end' said
	fi
	fxt merge --realtime -o both.fxt first.fxt far.fxt | fails grep 'has no end'
}

@test "compressed traces and pipes; errors are reported" {
	here
	fxt merge -o plain.fxt first.fxt second.fxt
	zstd -q second.fxt
	gzip -k first.fxt
	cat second.fxt.zst | fxt merge -o - first.fxt.gz - | cmp - <(fxt merge -o - first.fxt second.fxt)
	fxt merge -o other.fxt.gz first.fxt second.fxt.zst
	gzip -dc other.fxt.gz | cmp - plain.fxt
	says 2 "fxt: second.fxt.zst: is the same trace as second.fxt, and would count twice" fxt merge -o x second.fxt second.fxt.zst
	says 2 "fxt: second.fxt: is the same trace as second.fxt, and would count twice" fxt merge -o x second.fxt second.fxt
	says 2 "fxt: first.fxt: is one of the traces; choose another file" fxt merge -o first.fxt second.fxt first.fxt
	says 2 "fxt merge: at least two traces are needed; see fxt merge --help" fxt merge first.fxt
	says 2 "fxt: missing.fxt: cannot be opened: No such file or directory" fxt merge first.fxt missing.fxt
	[ ! -e x ]
	[ ! -e merged.fxt ]
	fxt check first.fxt
}
