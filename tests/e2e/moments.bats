#!/usr/bin/env bats
# Single calls, explained: fxt slow, why, last, replay, locks and threads, against what
# programs know of themselves and the independent decoder.

load helpers

setup_file()
{
	compiled_for_all moments/causes moments/faults moments/convoy moments/blocks moments/alerts threads/deadlock
}

# Leaves in right the causes that a run of the program has right by the clocks, and dies of
# what is wrong in any run.
causes_run()
{
	fxtrun -o trace.fxt causes >measured
	sound trace.fxt
	! fxt slow handle | grep 'no context switches' || skip "the kernel tells nobody like us of context switches"
	decode times trace.fxt >times
	[ "$(wc -l <measured)" = 5 ]
	python3 "$BATS_TEST_DIRNAME/moments.py" fxt trace.fxt measured times >>right
}

all_causes_were_right()
{
	[ "$(sort -u right | wc -l)" = 5 ]
}

# By the clocks each cause has to be right in one run; what fxt says by itself has to be
# right in all.
@test "why: five planted causes are named, and parts sum to the call to the nanosecond" {
	until_clocks_agree causes_run all_causes_were_right
}

# The ring of a CPU has room for all of these, so none is lost however late they are read.
@test "why, threads, sql: page faults are as many as the pages that a call touched, and as the kernel counted for the thread" {
	fxtrun -o trace.fxt faults >measured 2>err
	! grep 'no context switches\|no page faults' err || skip "the kernel tells nobody like us of page faults"
	sound trace.fxt
	[ "$(wc -l <measured)" = 20 ]
	# Each call has as many page faults as pages, and not more than the kernel counted,
	# except for those between its two readings.
	awk '$2 == "touch" { print $1, $3 }' measured | sort >touched
	for call in {1..10}; do
		fxt why --csv "touch:$call" >why
		fxt slow --csv -n 10 touch | rows calls call thread | awk -F'\t' -v call=$call '$1 == call { split($2, word, " "); printf "%s ", word[2] }'
		rows parts level page_faults <why | awk -F'\t' '$1 == 0 { n += $2 } END { print n }'
	done | sort >told
	diff touched told
	awk '$2 == "touch" && ($4 < $3 || $4 > $3 + 3) { print "counted otherwise: " $0; exit 1 }' measured
	fxt why touch | grep 'running in touch itself, [1-5]0[07] page faults'
	# The kernel reports its own faults in a system call only to privileged users, but
	# counts them.
	awk '$2 == "read_zeros" && $4 < $3 { exit 1 }' measured
	fxt why --json read_zeros | fails grep '"page_faults": [1-9][0-9][0-9]'
	# A thread has all of its calls', and what the tracer and the thread's own begin
	# took of them.
	fxt threads --csv | rows threads koid page_faults | sort >by_thread
	awk '$2 == "touch" { n[$1] += $3 } END { for (tid in n) print tid "\t" n[tid] }' measured | sort | join -t "$(printf '\t')" - by_thread |
		awk -F'\t' '{ n++ } $3 < $2 || $3 > $2 + 100 { print "of the thread: " $0; exit 1 } END { exit n != 2 }'
	fxt sql --csv "select tid, count(*) from events where category = 'sched' and name = 'page fault' group by tid" | rows rows tid 'count(*)' | sort >by_sql
	[ -s by_thread ]
	[ -z "$(comm -23 by_thread by_sql)" ]
	# They do not make the trace longer: it begins with its first call.
	[ "$(fxt replay --csv -n 1 | rows replay start_ns)" = 0 ]
	# Page faults are not wanted, and the kernel is not asked for them.
	fxtrun --no-sched faults >measured
	fxt why touch | fails grep 'page fault'
	fxt threads --json | grep '"page_faults": null'
}

# drawn TRACE: in which rows the viewer draws page faults, and how many, most first.
drawn()
{
	viewer "$1" "SELECT thread.name, count(*) FROM slice s JOIN thread_track t ON t.id = track_id JOIN thread USING (utid)
		WHERE s.name = 'page fault' GROUP BY utid ORDER BY 2 DESC"
}

# in_rows THREAD...: the faults of trace.fxt are in a row for each thread, of the name that
# it has last, and as many as the thread has to fxt.
in_rows()
{
	drawn trace.fxt >rows
	[ "$(cut -f 1 rows)" = "$(printf '%s: page faults\n' "$@")" ]
	fxt threads --csv trace.fxt | rows threads thread page_faults | awk -F'\t' '{ split($1, words, "\""); print words[2] ": page faults\t" $2 }' |
		sort -k 2 -t "$(printf '\t')" -nr | diff - rows
	# Nothing else stands there, and nothing of it among the calls.
	[ "$(viewer trace.fxt "SELECT count(*) FROM slice s JOIN thread_track t ON t.id = track_id JOIN thread USING (utid)
		WHERE (s.name = 'page fault') != (thread.name GLOB '*: page faults')")" = 0 ]
	[ "$(fxt info trace.fxt | grep -c '^  thread ')" = $# ]
}

@test "the viewer draws page faults beside the calls of their thread; to fxt they are the thread's" {
	needs_viewer
	cat >pages.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <sys/mman.h>
		static void touch(int pages)
		{
			char *all = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			madvise(all, pages * 4096, MADV_NOHUGEPAGE);
			for (int i = 0; i < pages; i++) all[i * 4096] = 1;
		}
		static void *work(void *name)
		{
			touch(2000);
			pthread_setname_np(pthread_self(), name);
			return NULL;
		}
		int main(void)
		{
			pthread_t worker;
			touch(5000);
			pthread_create(&worker, NULL, work, "worker");
			pthread_join(worker, NULL);
			return 0;
		}
	END
	gcc -O0 -g -D_GNU_SOURCE -finstrument-functions -pthread -o pages pages.c
	for mode in streaming circular oneshot; do
		# On a busy machine the kernel may have no room left for some of them, which is told.
		for _ in 1 2 3 4 5; do
			fxtrun --buffering-mode=$mode -o trace.fxt ./pages 2>err
			grep 'page faults are not in the trace' err || break
		done
		! grep 'no context switches\|no page faults' err || skip "the kernel tells nobody like us of page faults"
		in_rows pages worker
		awk -F'\t' '$2 < (NR == 1 ? 5000 : 2000) { exit 1 }' rows
		cp trace.fxt $mode.fxt
	done
	# A part of it has the rows of what it keeps.
	fxt cut --thread=worker -o part.fxt trace.fxt
	drawn part.fxt | diff <(sed 1d rows) -
	fxt threads --csv part.fxt | rows threads page_faults | diff <(cut -f 2 rows | sed 1d) -
	fxt merge -o both.fxt streaming.fxt circular.fxt
	diff <(drawn both.fxt) <({ drawn streaming.fxt && drawn circular.fxt; } | sort -t "$(printf '\t')" -k 2 -nr)
}

@test "replay, last, report and html show a program's alerts, on its thread at the time by its clock" {
	fxtrun -o trace.fxt alerts >raised
	sound trace.fxt
	[ "$(wc -l <raised)" = 6 ]
	fxt replay --csv trace.fxt | rows replay kind start_ns koid depth what | grep -P '^alert\t' >replayed
	# Each clock is known to a thousandth: times from one alert to another are compared.
	python3 - raised replayed <<-'END'
		import sys
		raised = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
		shown = [line.rstrip("\n").split("\t") for line in open(sys.argv[2])]
		assert [(tid, "alert: " + name) for tid, _, _, name in raised] == [(koid, what) for _, _, koid, _, what in shown], shown
		assert all(depth == "1" for _, _, _, depth, _ in shown), shown
		first = raised[0], int(shown[0][1])
		for (_, before, behind, _), (_, at, _, _, _) in zip(raised[1:], shown[1:]):
		    since, slack = int(at) - first[1], (int(at) - first[1]) // 1000 + 1000
		    assert int(before) - int(first[0][2]) - slack <= since <= int(behind) - int(first[0][1]) + slack, (at, raised)
	END
	fxt replay trace.fxt | grep -c '  /\* alert: of the other thread \*/$' | grep -x 4
	# The last ones of each thread, the latest first.
	fxt last -n 2 --csv trace.fxt | rows alerts start_ns name >last
	cut -f 2 last | sort | uniq -c | awk '{ $1 = $1 } 1' | diff - <(printf '%s\n' \
		'1 alert: a frame that is late, and whose name has more bytes than a packet' '2 alert: of the other thread' '1 alert: slow request')
	cut -f 1 last | while read -r ns; do grep -P "^alert\t$ns\t" replayed; done | wc -l | grep -x 4
	fxt report --csv trace.fxt | rows others calls name | grep -xP '4\talert: of the other thread'
	fxt html trace.fxt
	grep -q 'alert: slow request' trace.html
	# Alerts are no calls.
	fxt report trace.fxt | grep '^trace.fxt: 6 calls of 1 function in 2 threads'
}

@test "why without switches: waits and their holders are known, running times are not" {
	fxtrun --no-sched causes >measured
	fxt slow handle >slow
	grep 'no context switches in the trace' slow
	fxt slow --json handle | grep '"running_ns": null.*in grow, running or not'
	fxt why --limit=1 'look_?p' | grep 'waiting for index_lock in pthread_mutex_lock, held by thread .* "keeper" in keeper > rebuild_index'
	fxt why 'handle:2' | fails grep 'running in'
}

@test "why: sleeps and waits for descriptors are named, each with its descriptor and its time; reads that wait for nothing leave no slice" {
	fxtrun --no-sched -o trace.fxt blocks >measured
	sound trace.fxt
	decode times trace.fxt | awk -F'\t' '$3 == "sync" { print $4 "\t" $6 }' >waits
	[ "$(grep -c '^[a-z_0-9]*	[a-z_0-9]*	' measured)" = 18 ]
	while read -r function call fd took least; do
		[ "$function" != late ] || continue
		case $call in
		*sleep) what="sleeping in $call" ;;
		*) what="waiting in $call$([ "$fd" = -1 ] || echo " of fd $fd")" ;;
		esac
		fxt why --csv "$function" | rows parts part time_ns | awk -F'\t' -v what="$what" -v least="$least" -v took="$took" '
			$1 == what && $2 >= least && $2 <= took { n++ }
			END { if (n != 1) print "not so: " what " for " least " to " took; exit n != 1 }'
	done <measured
	# The thread that the first one waited for is known.
	fxt threads --json >threads.json
	python3 - threads.json measured <<-'END'
		import json, sys
		tables = json.load(open(sys.argv[1]))["traces"][0]["tables"]
		main = min(row["koid"] for row in tables[0]["rows"])
		by = {row["by"]: row["time_ns"] for row in tables[1]["rows"] if row["koid"] == main}
		waits = [line.split() for line in open(sys.argv[2]) if line.count("\t") == 4 and not line.startswith("late")]
		sleeps = [wait for wait in waits if wait[1].endswith("sleep")]
		others = [wait for wait in waits if not wait[1].endswith("sleep")]
		# Each function that waited has a line with its time; reads are also made beside the measured ones.
		for name in {wait[1] for wait in waits}:
		    own = [wait for wait in waits if wait[1] == name]
		    assert sum(int(wait[4]) for wait in own) <= by["in " + name], (by, own)
		    assert name not in {wait[1] for wait in sleeps} or by["in " + name] <= sum(int(wait[3]) for wait in own), (by, own)
	END
	# No slice is shorter than 10 us, and none is of a read that took less by the clocks
	# around it.
	awk '$1 != "woken" && $1 !~ /^(pthread|wakes)/ && $2 < 9990' waits >short
	[ ! -s short ]
	[ "$(fxt sql --csv "select count(*) from waits where name = 'read' and caller is null and tid = pid" | tail -n 1 | cut -d, -f2)" -le "$(awk '$1 == "late" { print $2 }' measured)" ]
	# With calls alone there are none.
	fxtrun --categories=function --no-sched blocks >measured
	[ "$(fxt sql --csv 'select count(*) from waits' | tail -n 1 | cut -d, -f2)" = 0 ]
}

@test "last: a thread killed in a write shows the descriptor, and since when" {
	fxtrun -o stuck.fxt blocks hang >out 2>err 3>&- &
	kill -KILL "$(await ready out | cut -d ' ' -f 2)"
	wait $! || true
	fxt last stuck.fxt >last
	grep '^0  .* write: waiting for fd [0-9]*' last
}

# Two calls of handle, which take 1000 and 500 us: in each 60 functions are called for a
# microsecond, and one for 800 and 300 us.
@test "why: small parts are one line, and the lines add up to the call; programs get all parts" {
	python3 -c '
import struct
names = ["function", "handle", "large"] + [f"small_{number:02}" for number in range(60)]
words = [0x0016547846040010, 0x21, 10**9, 0x33 | 1 << 16, 1, 1]
for number, name in enumerate(names):
    words += [2 | 2 + (len(name) - 1) // 8 << 4 | number + 1 << 16 | len(name) << 32]
    words += struct.unpack(f"<{(len(name) + 7) // 8}Q", name.encode().ljust(len(name) + 7 & ~7, b"\0"))
def call(name, start, end):
    words.extend([4 | 3 << 4 | 4 << 16 | 1 << 24 | 1 << 32 | name << 48, start, end])
for begin, large in (0, 800000), (2000000, 300000):
    call(3, begin + 100000, begin + 100000 + large)
    for number in range(60):
        call(4 + number, begin + large + 110000 + 1000 * number, begin + large + 111000 + 1000 * number)
    call(2, begin, begin + large + 200000)
open("trace.fxt", "wb").write(struct.pack(f"<{len(words)}Q", *words))'
	fxt why handle >why
	cat why
	grep -E '^800.000 us +80.0% +1 +300.000 us +1  in large, running or not$' why
	grep -E '^ 60.000 us +6.0% +60 +60.000 us +60  \(60 more\)$' why
	[ "$(grep -c small why)" = 0 ]
	fxt why -n 1 handle | grep -E '^200.000 us +20.0% +60 +[0-9.]+ us +60  \(61 more\)$'
	[ "$(fxt why --csv handle | rows parts part | grep -c small)" = 60 ]
	[ "$(fxt why --csv handle | rows parts time_ns | awk '{ n += $1 } END { print n }')" = 1000000 ]
}

# Each call of handle with kind 1 spends 90 us in read_disk and 9 us in parse, and each with
# kind 0 takes 19 us in parse alone.
@test "slow and why: with --where a call is compared with the calls that it leaves out, and a line says so" {
	for n in {0..99}; do
		if ((n % 10 == 3)); then
			echo "1 ${n}001000 ${n}091000 read_disk" $'\n'"1 ${n}092000 ${n}101000 parse" $'\n'"1 ${n}000000 ${n}110000 handle kind=1"
		else
			echo "1 ${n}001000 ${n}020000 parse" $'\n'"1 ${n}000000 ${n}021000 handle kind=0"
		fi
	done | python3 "$BATS_TEST_DIRNAME/planted.py" trace.fxt
	fxt slow --where kind=1 handle >slow
	cat slow
	grep -Fx 'handle: 10 calls, the median takes 110.000 us' slow
	grep -Fx 'compared with the 90 calls that --where leaves out: their median takes 21.000 us' slow
	[ "$(grep -c 'in read_disk, running or not, 82 %' slow)" = 10 ]
	fxt why --where kind=1 handle >why
	cat why
	grep -Fx 'compared with the 90 calls that --where leaves out: their median takes 21.000 us' why
	grep -Fx 'mostly: 90.000 us in read_disk, running or not; the median call of the others none' why
	grep -E '^ 9.000 us +8.2% +1 +19.000 us +1  in parse, running or not$' why
	# Without other calls, or without conditions, the calls are compared with themselves.
	fxt why --where 'kind<2' handle:1 | fails grep 'compared with'
	fxt slow handle --by=arg:kind | fails grep 'compared with'
	fxt slow handle --by=arg:kind --where kind=1 | grep -E '^1 +110.000 us .*in read_disk, running or not, 82 %'
}

# Three hundred functions take 1 us each, and one of them 1.2 us: all are small.
@test "why: the longest part is shown, however small it is and however few are to be shown" {
	{
		for n in {1..300}; do
			echo "1 $((1000 * (n - 1) + (n > 77 ? 200 : n == 1))) $((1000 * n + (n >= 77 ? 200 : 0))) small_$n"
		done
		echo 1 0 300200 handle
	} | python3 "$BATS_TEST_DIRNAME/planted.py" trace.fxt
	for n in 1 10; do
		fxt why -n $n handle >why
		cat why
		grep -E '^ +1.200 us +0.4% .*in small_77, running or not$' why
		grep -E '^299.000 us +99.6% .*\(300 more\)$' why
	done
	# The only call is compared with nothing: itself would explain nothing.
	fails grep -i 'median' why
	grep -Fx 'mostly: 1.200 us in small_77, running or not' why
	fxt slow handle | grep -E '^ +1 .* in small_77, running or not, 0 %'
}

# The second call has ten arguments; a text of the first one has 90 characters.
@test "slow: the arguments of calls are shown, piped and on a terminal; long ones lose their end, but not for programs" {
	local long=$(printf 'x%.0s' {1..90})

	python3 "$BATS_TEST_DIRNAME/planted.py" trace.fxt <<-END
		1 0 3000 handle path=/report%20of%20today status=500 text=$long
		1 4000 6000 handle $(printf 'a%d=%d ' {0..9}{,})
		1 7000 8000 handle
		1 9000 9500 other
	END
	fxt slow handle >piped
	cat piped
	grep -E "^ +1 .* path=/report of today, status=500, text=x{40}…$" piped
	grep -E '^ +2 .* a0=0, a1=1, a2=2, a3=3, a4=4, a5=5, a6=6, a7=7, …$' piped
	grep -E '^ +3 .* -$' piped
	PAGER=cat NO_COLOR=1 TERM=xterm script -qec "stty cols 80; fxt slow handle" /dev/null </dev/null | tr -d '\r' >shown
	cat shown
	fails grep -E '^.{81}' shown
	grep 'path=/report of' shown
	grep 'a5=5' shown
	[ "$(fxt slow --csv handle | rows calls arguments | head -1)" = "path=/report of today, status=500, text=$long" ]
	[ "$(fxt slow --csv handle | rows calls arguments | sed -n 2p | tr -d -c =)" = "==========" ]
	fxt slow other | fails grep arguments
}

@test "slow and why: chosen parts, and missing functions" {
	fxtrun causes >measured
	[ "$(fxt slow --csv -n 7 handle | wc -l)" = 8 ]
	says 2 "fxt: trace.fxt: no function is named 'hande'; did you mean 'handle'?" fxt why hande
	says 2 "fxt: trace.fxt: 'handle' has no more than 200 calls" fxt why handle:201
	says 2 "fxt why: no function given; see fxt why --help" fxt why
	says 2 "fxt why: 'trace.fxt' is a file; the name of a function comes first; see fxt why --help" fxt why trace.fxt
	says 2 "fxt why: the number of a call is from 1, the slowest, to 1000000; see fxt why --help" fxt why handle:0
	# One that calls no other: all of it is its own.
	fxt why --thread=hog hog | grep 'hog itself'
	# Nor is a call compared with itself, if there is no other.
	[[ "$(fxt why main)" = "main: one call"*$'\n'"call 1: "* ]]
	fxt why main | fails grep 'the median'
	says 2 "fxt: trace.fxt: no call of 'handle' is in the chosen part" fxt slow --thread=hog handle
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
	# Open slices last until the signal: start and length add up to the same moment, to
	# the nanosecond of rounding.
	decode times trace.fxt | awk -F'\t' '$6 == "" { print $5 }' | sort -n >begun
	fxt last --csv | awk -F, '$1 == "open" { print $4 }' | sort -nr >lasted
	[ "$(wc -l <lasted)" = 5 ]
	paste begun lasted | awk '{ print $1 + $2 }' | sort -n | sed -n '1p; $p' | tr '\n' ' ' | awk '{ exit $2 - $1 > 1 }'
}

@test "last: of a process of several threads it says which one the signal came to" {
	cat >crash.c <<-'END'
		#include <pthread.h>
		static void *dies(void *none) { *(volatile int *)none = 1; return none; }
		int main(void)
		{
			pthread_t thread;
			pthread_create(&thread, NULL, dies, NULL);
			return pthread_join(thread, NULL);
		}
	END
	cc -O0 -g -pthread -finstrument-functions -o crash crash.c
	fxtrun ./crash 2>/dev/null || true
	fxt last >last
	grep '^killed by SIGSEGV (11), SEGV_MAPERR at address 0x0, .* start: thread [0-9]* "crash" of process [0-9]* "crash"$' last
	fails grep '^killed by .* thread \([0-9]*\) .* process \1 ' last
	grep '^0  .* dies  .*/crash.c:2$' last
}

@test "last: a deadlock shows the locks, and which thread waits for them since when" {
	fxtrun -o stuck.fxt deadlock >out 2>err 3>&- &
	kill -KILL "$(await ready out | cut -d ' ' -f 2)"
	wait $! || true
	fxt last stuck.fxt >last
	grep '^killed by SIGKILL (9)' last
	for lock in there here; do
		grep -A 1 "^0  .* pthread_mutex_lock: waiting for $lock, held by thread .*  " last | tail -n 1 | grep '^1  .*  lock_both  .*/deadlock.c:[0-9]*$'
	done
	grep '^0  .* pthread_cond_wait: waiting for never ' last
}

@test "replay: every slice once, in the order of time, within its caller" {
	fxtrun convoy >measured
	# The decoder's process, thread, category, name, start and duration; starts count
	# from the first one.
	decode times trace.fxt | awk -F'\t' -v OFS='\t' '$4 != "woken" { print $2, $4, $6 }' | sort >decoded
	fxt replay --csv >all.csv
	python3 -c '
import csv
rows = [r for r in csv.DictReader(open("all.csv")) if r["kind"] not in ("preempted", "blocked")]
starts = [int(r["start_ns"]) for r in rows]
assert starts == sorted(starts) and starts[0] == 0
for r in rows: print(r["koid"], r["what"], r["time_ns"], sep="\t")' | sort | diff decoded -
	# For people: what begins ends, around what is inside.
	fxt replay >lines
	[ "$(grep -c ' {$' lines)" = "$(grep -c ' } ' lines)" ]
	grep -A 1000 'main() {' lines | grep -oE '(main|open_gates|hold_until_all_queue)\(\).*|} (main|open_gates)' | tr '\n' ' ' |
		grep '^main() { open_gates() { hold_until_all_queue();* {* *} open_gates } main $'
	[ "$(fxt replay --csv -n 3 | wc -l)" = 4 ]
	# Calls that are too short are not there; a part of the time has the calls that
	# begin in it and those that last into it.
	fxt replay --min=1s | fails grep '();'
	fxt replay --csv --time=1us.. | sed -n 2p | grep '"main"'
}

# read_by COMMAND...: the bytes that it got from files, as the kernel counts its system calls; nothing if it fails.
read_by()
{
	strace -f -e trace=read,pread64 -o calls "$@" >/dev/null || return 1
	awk '/= [0-9]+$/ { sum += $NF } END { printf "%d\n", sum }' calls
}

@test "replay: its first lines take one pass over the headers and a piece of the trace, not all of it again" {
	compiled launcher/counted.c
	fxtrun ./program 2000000
	size=$(stat -c %s trace.fxt)
	[ "$size" -gt $((45 << 20)) ]
	[ "$(read_by fxt replay -n 50)" -lt $((size + (8 << 20))) ]
	[ "$(read_by sh -c 'fxt replay | head -n 50')" -lt $((size + (8 << 20))) ]
	[ "$(read_by fxt replay --min=1s)" -ge $((2 * size)) ]
}

@test "locks: a convoy by holder, and the holders' shares add up to the waits" {
	fxtrun convoy >measured
	fxt locks --json >locks.json
	fxt locks 2>&1 | grep '^convoy: up to 4 threads queued for counter_lock at once$'
	decode times trace.fxt | awk -F'\t' '$4 == "pthread_mutex_lock" { n++; sum += $6 } END { print n, sum }' >decoded
	python3 - measured decoded locks.json <<-'END'
		import json, sys
		measured = [int(line) for line in open(sys.argv[1])]
		waits, total = map(int, open(sys.argv[2]).read().split())
		locks, bill = json.load(open(sys.argv[3]))["traces"][0]["tables"]
		lock, = locks["rows"]
		assert (lock["lock"], lock["waits"], lock["at_once"], lock["open"]) == ("counter_lock", 4, 4, 0) and waits == 4, lock
		# Each time is a difference of two that were rounded.
		assert abs(lock["total_ns"] - total) <= 4, (lock, total)
		assert sum(row["total_ns"] for row in bill["rows"]) == lock["total_ns"], bill
		# By the threads' own clocks, which have a little more.
		assert 0.9 * sum(measured) - 1e6 <= lock["total_ns"] <= sum(measured), (lock, measured)
		first = [row for row in bill["rows"] if row["holder"].endswith("in main > open_gates")]
		turns = [row for row in bill["rows"] if row["holder"].endswith("in queue > take_turn")]
		assert len(first) == 4 and 0 < len(turns) <= 6, bill
		assert all(row["waiter"].endswith("in queue > take_turn") for row in bill["rows"]), bill
		# 2 ms a turn, for which three, two threads and one wait.
		assert sum(row["total_ns"] for row in turns) >= 6 * 2e6 * 0.99, turns
	END
}

@test "locks, why, sql: locks that lived at one address one after the other are told apart" {
	compiled threads/lock_lives.c
	fxtrun --heap=objects ./program >addresses
	sound trace.fxt
	fxt locks --json -n 99 >locks.json
	fxt sql --json "select lock, waits from waits_by_lock" >sql.json
	for call in $(seq 18); do
		fxt why --csv "want:$call" >>why.csv
	done
	python3 - addresses locks.json sql.json why.csv <<-'END'
		import collections, csv, json, sys
		lives = collections.Counter(line.strip() for line in open(sys.argv[1]))
		assert sorted(lives.values()) == [3, 3, 3], lives
		numbers = ["", " #2", " #3"]
		def expected(name):
		    return {name + number: 2 for number in numbers}
		for rows in (json.load(open(sys.argv[2]))["traces"][0]["tables"][0]["rows"],
		             json.load(open(sys.argv[3]))["traces"][0]["tables"][0]["rows"]):
		    told = {row["lock"]: row["waits"] for row in rows if row["lock"].split()[0] in [*lives, "renewed"]}
		    truth = expected("renewed")
		    for address in lives:
		        truth |= expected(address)
		    missing = [address for address in lives if address not in told]
		    assert len(missing) == 1, (missing, told)
		    for number in numbers:
		        del truth[missing[0] + number]
		    assert told == truth, (told, truth)
		explained = {row["object"] for row in csv.DictReader(open(sys.argv[4]))}
		assert set(truth) <= explained, (explained, truth)
	END
	# The thousand locks that no thread waited for leave nothing.
	fxt dump trace.fxt | grep -c 'instant .*name="lock ends"' >ends
	[ "$(cat ends)" -le 9 ]
}

@test "locks: a deadlock shows both locks, and the threads that wait" {
	fxtrun -o stuck.fxt deadlock >out 2>err 3>&- &
	kill -KILL "$(await ready out | cut -d ' ' -f 2)"
	wait $! || true
	fxt locks stuck.fxt >locks
	for lock in here there; do
		head -n 1 locks | grep "^deadlock: .*thread .* has waited for .* for $lock, held by thread .*, in .* > lock_both"
	done
}

@test "threads: which threads ran, and which kept others from running" {
	fxtrun causes >measured
	! fxt slow handle | grep 'no context switches' || skip "the kernel tells nobody like us of context switches"
	fxt threads --json >threads.json
	# By the independent decoder: thread, running, runnable, blocked, switches.
	decode cpu trace.fxt >cpu
	python3 - threads.json cpu measured <<-'END'
		import json, sys
		tables = json.load(open(sys.argv[1]))["traces"][0]["tables"]
		threads = {row["koid"]: row for row in tables[0]["rows"]}
		decoded = [tuple(map(int, line.split()[:4])) for line in open(sys.argv[2])]
		assert len(threads) == 3
		ran = [row["running_ns"] for row in tables[0]["rows"]]
		assert ran == sorted(ran, reverse=True), ran
		for koid, running, runnable, blocked in decoded:
		    if koid not in threads:
		        continue
		    row = threads[koid]
		    # The decoder's ends with the thread's last switch.
		    assert abs(row["running_ns"] - running) <= 0.05 * running + 1e6, (row, running)
		    assert abs(row["preempted_ns"] - runnable) <= 0.05 * runnable + 1e6, (row, runnable)
		by = {}
		for row in tables[1]["rows"]:
		    key = (row["koid"], row["how"])
		    by[key] = by.get(key, 0) + row["time_ns"]
		for koid, row in threads.items():
		    assert by.get((koid, "preempted by"), 0) == row["preempted_ns"], (row, by)
		    assert by.get((koid, "waited for"), 0) <= row["waiting_ns"], (row, by)
		main = min(threads)
		busy = next(int(line.split()[5]) for line in open(sys.argv[3]) if line.startswith("preempted"))
		hog = [row for row in tables[1]["rows"] if row["koid"] == main and row["how"] == "preempted by" and '"hog"' in row["by"]]
		assert len(hog) == 1 and hog[0]["time_ns"] >= 0.95 * busy - 5e5, (hog, busy)
		assert any(row["koid"] == main and row["how"] == "waited for" and '"keeper"' in row["by"] for row in tables[1]["rows"])
	END
}

@test "threads: the critical path goes from turn to turn, and sums to the call" {
	fxtrun convoy >measured
	fxt threads --critical=take_turn --json >path.json
	decode times trace.fxt | awk -F'\t' '$4 == "take_turn" { print $6 }' | sort -n | tail -n 1 >longest
	python3 - path.json longest <<-'END'
		import json, sys
		steps = json.load(open(sys.argv[1]))["traces"][0]["tables"][0]["rows"]
		assert sum(step["time_ns"] for step in steps) == int(open(sys.argv[2]).read()), steps
		for later, earlier in zip(steps, steps[1:]):
		    assert earlier["start_ns"] + earlier["time_ns"] == later["start_ns"]
		turns = [step["until"] for step in steps if step["until"].startswith("it let go counter_lock")]
		# The thread that queued longest waited for the turns before it, and all of
		# them for main.
		functions = [turn.rsplit(" ", 1)[1] for turn in turns]
		assert functions == ["take_turn"] * (len(turns) - 1) + ["open_gates"] and turns, turns
		assert len({step["koid"] for step in steps}) == len(turns) + 1, steps
	END
}

@test "threads: the critical path goes from a thread's begin to its creator, and is never in a thread before it began" {
	cat >creates.c <<-'END'
		#include <pthread.h>
		#include <unistd.h>
		static void *leaf(void *none) { usleep(200000); return none; }
		static void *branch(void *none)
		{
			pthread_t thread;
			usleep(2000);
			pthread_create(&thread, NULL, leaf, NULL);
			pthread_join(thread, NULL);
			return none;
		}
		static void root(void)
		{
			pthread_t thread;
			usleep(1000);
			pthread_create(&thread, NULL, branch, NULL);
			pthread_join(thread, NULL);
		}
		int main(void) { root(); return 0; }
	END
	${CC:-cc} -O1 -pthread -finstrument-functions -o creates creates.c
	fxtrun ./creates
	decode times trace.fxt >times
	fxt threads --critical=root --json >path.json
	python3 - path.json times <<-'END'
		import json, sys
		steps = json.load(open(sys.argv[1]))["traces"][0]["tables"][0]["rows"]
		calls = {line.split("\t")[3]: line.split("\t") for line in open(sys.argv[2])}
		koid = {name: int(call[1]) for name, call in calls.items()}
		assert sum(step["time_ns"] for step in steps) == int(calls["root"][5]), (steps, calls)
		order = [step["koid"] for i, step in enumerate(steps) if i == 0 or steps[i - 1]["koid"] != step["koid"]]
		assert order == [koid[name] for name in ("root", "branch", "leaf", "branch", "root")], (order, koid)
		created = [step["until"] for step in steps if step["until"].startswith("it created")]
		assert [text.rsplit(" ", 1)[1] for text in created] == ["branch", "root"], created
		slept = {koid["leaf"]: 3e6, koid["branch"]: 2e6, koid["root"]: 1e6}
		for thread, least in slept.items():
		    assert sum(step["time_ns"] for step in steps if step["koid"] == thread) >= least, (thread, steps)
	END
}

# A recursion has as many paths as calls. Climbing each path anew would take minutes instead
# of less than a second.
@test "slow: of a recursion of 8000 calls" {
	echo 'int rec(int n) { volatile int kept = n; return n ? rec(n - 1) + kept : 0; } int main(void) { return rec(7999) & 1; }' >rec.c
	cc -g -finstrument-functions rec.c -o rec
	fxtrun ./rec || [ $? = 1 ]
	(ulimit -t 10; fxt slow -n 100 rec >slow)
	grep -q '^rec: 8000 calls' slow
	[ "$(grep -c '> rec > rec$' slow)" -gt 90 ]
}
