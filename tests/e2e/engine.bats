#!/usr/bin/env bats
# The trace engine: whatever happens to a program, to its manager or to the buffers between
# them, recorded + lost = the calls the program counted itself.

load helpers

setup_file()
{
	ulimit -c 0
	export FXT_OPTIONS=--heap=off # what is lost of the heap would be among the calls that are lost
	for program in engine/crash engine/full engine/load engine/stalled signals/dense; do
		${CC:-cc} -O2 -g -finstrument-functions -pthread -o "$BATS_FILE_TMPDIR/$(basename "$program")" \
			"$BATS_TEST_DIRNAME/../programs/$program.c"
	done
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	engine=$BATS_FILE_TMPDIR
}

# valid TRACE...: nothing is wrong with them, to the independent decoder and to fxt, except
# what a trace of a killed program, or of one that overran its buffer, must have: open
# calls, losses, and flows with a lost beginning.
valid()
{
	for trace; do
		fxt check "$trace"
	done
	decode check "$@" | awk '
		$1 && $2 !~ /^(calls:left_open|calls:records_lost|flow_end_without_start)$/ { print; wrong = 1 }
		END { exit wrong || !NR }'
}

# ---- the program dies ----

# crashes HOW STATUS SEED...: runs of crash that end so leave all calls. Every call that
# returned before the end is whole; every call that began is there, as begun if a signal
# ended it, and as ended there if the program ended itself. A call is recorded before it can
# be counted, and at most one a thread is between the two.
crashes()
{
	local how=$1 expected=$2 sizes=(32K 64K 128K 256K) status

	shift 2
	for seed; do
		status=0
		rm -f counts
		fxtrun --buffer-size="${sizes[$seed % 4]}" -o "$seed.fxt" "$engine/crash" counts "$seed" "$how" 2>said ||
			status=$?
		[ "$status" = "$expected" ] || { echo "seed $seed: status $status" && cat said && return 1; }
		grep ' 0 lost, ' said
		echo "seed $seed"
		"$engine/crash" counts
	done >counted
	valid "${@/%/.fxt}"
	decode slices "${@/%/.fxt}" | awk -F'\t' -v killed="$((expected > 128))" '
		FILENAME == "-" { $6 == "" ? open[$2, $4]++ : whole[$2, $4]++; next }
		/^seed/ { seed = $0 }
		NF == 4 {
			all = whole[$1, $2] + open[$1, $2]
			wrong = all < $3 || all > $3 + 1
			if (killed)
				wrong = wrong || whole[$1, $2] < $4 || whole[$1, $2] > $4 + 1
			else
				wrong = wrong || open[$1, $2]
			if (wrong)
				print seed ": " $0 ", but " whole[$1, $2] + 0 " whole and " open[$1, $2] + 0 " open"
			failed = failed || wrong
			calls += $4
		}
		END { exit failed || calls < 1000 }' - counted >wrong || {
		cat wrong
		for seed in $(sed -n 's/^seed \([0-9]*\):.*/\1/p' wrong | sort -u); do
			fxt info "$seed.fxt"
			decode calls "$seed.fxt"
		done
		return 1
	}
	rm -- *.fxt
}

@test "50 kills: no call that returned is missing, every open call is there as begun" {
	for tens in {0..4}; do
		crashes kill 137 $(seq $((tens * 10 + 1)) $((tens * 10 + 10)))
	done
}

@test "a crash: SIGSEGV, abort" {
	crashes segv 139 {1..10}
	crashes abrt 134 {1..10}
}

@test "an end past all exit handlers: _exit, quick_exit, exit_group" {
	crashes _exit 7 {1..10}
	crashes quick_exit 7 {1..10}
	crashes exit_group 7 {1..10}
}

# ---- more calls than a buffer holds, and managers that are slow or gone ----

# loaded OPTIONS ARGUMENT...: load ran as it should under fxtrun with these options, and
# left a valid trace.
loaded()
{
	local options=$1 status=0

	shift
	timeout 120 fxtrun $options -o trace.fxt "$engine/load" "$@" >out 2>said || status=$?
	cat said
	[ "$status" = 3 ]
	valid trace.fxt
	decode slices trace.fxt >slices
	sort out >expected
}

# "tid<tab>recorded + lost" of every thread, by its calls and the slices that tell of
# losses.
told()
{
	fxt dump trace.fxt |
		sed -En 's/.* thread=[0-9]+\/([0-9]+) .* name="fxt: ([0-9]+) records (lost|overwritten)".*/\1\tlost\t\2/p' |
		awk -F'\t' '
			$2 == "lost" { calls[$1] += $3 }
			$3 == "function" { calls[$2]++ }
			END { for (tid in calls) print tid "\t" calls[tid] }' - slices | sort
}

# Calls counted by the program, recorded in the trace, and lost according to the summary.
counted()
{
	awk -F'\t' '{ n += $2 } END { print n }' expected
}
recorded()
{
	grep -c $'\tfunction\t' slices || true
}
lost()
{
	sed -En 's/.*, ([0-9,]+) lost, (([0-9,]+) overwritten, )?.*/\1 \3/p' said | tr -d , | awk '{ print $1 + $2 }'
}

# Every thread's losses, overwritten calls among them, are slices on its row, with their
# number in the name and in the argument; the summary has the sum.
every_loss_told()
{
	told | diff expected -
	[ $(($(recorded) + $(lost))) = "$(counted)" ]
	fxt dump trace.fxt | grep -E 'records (lost|overwritten)"' >losses
	[ "$(sed -En 's/.*name="fxt: ([0-9]+) records (lost|overwritten)" \{records=uint64:\1\}$/\1/p' losses |
		awk '{ n += $1 } END { print n + 0 }')" = "$(lost)" ]
}

# known_by_name: every thread with a slice has the name it gave itself.
known_by_name()
{
	diff <(decode threads trace.fxt | cut -f2,4 | grep 'load [0-9]' | sort) \
		<(awk -F'\t' '{ print $1 "\tload " NR - 1 }' out | sort)
}

@test "streaming/drop, manager stopped: recorded + lost is exact on every thread" {
	loaded "--on-full=drop --buffer-size=256K" 4 20000 stop
	every_loss_told
	known_by_name
	# From the first half, at least what the buffer could not hold.
	[ "$(lost)" -ge $((4 * 20000 - 256 * 1024 / 24)) ]
}

@test "oneshot, overfull: recorded + lost is exact on every thread, threads without room have names" {
	loaded "--buffering-mode=oneshot --buffer-size=64K" 4 20000
	every_loss_told
	known_by_name
	[ "$(recorded)" -gt 0 ]
	[ "$(recorded)" -lt $((64 * 1024 / 24)) ]
}

@test "oneshot, overfull: open calls end there, and calls inside them stay inside" {
	fxtrun --buffering-mode=oneshot --buffer-size=64K -o trace.fxt "$engine/full" 4 20000 >made 2>said
	valid trace.fxt
	decode slices trace.fxt >slices
	# A thread with calls of leaf() has one of outer() around all of them, and one of
	# middle().
	awk -F'\t' '
		$4 == "leaf" {
			if (!($2 in first) || $5 < first[$2]) first[$2] = $5
			if ($6 > last[$2]) last[$2] = $6
		}
		$4 ~ /^(outer|middle)$/ { count[$2, $4]++; start[$2, $4] = $5; end[$2, $4] = $6 }
		END {
			for (thread in first)
				for (i = split("outer middle", names, " "); i; i--) {
					wrong = count[thread, names[i]] != 1 || start[thread, names[i]] > first[thread] ||
						end[thread, names[i]] < last[thread]
					if (wrong) { print "thread " thread ": " names[i]; failed = 1 }
					looked++
				}
			exit failed || looked < 4
		}' slices
	[ $(($(recorded) + $(lost))) = "$(cat made)" ]
}

@test "drop and oneshot, overfull, with jumps, handlers, a fork, and threads that end: recorded + lost is exact" {
	for options in "--buffering-mode=oneshot --buffer-size=64K" "--buffering-mode=oneshot --buffer-size=1M" \
		"--on-full=drop --buffer-size=64K" "--on-full=drop --buffer-size=256K"; do
		fxtrun $options -o trace.fxt "$engine/full" 8 50000 >made 2>said
		valid trace.fxt
		decode slices trace.fxt >slices
		[ $(($(recorded) + $(lost))) = "$(cat made)" ]
	done
}

@test "the viewer says that data was lost where some was, and not where none was" {
	needs_viewer
	loaded "--buffering-mode=oneshot --buffer-size=64K" 4 20000
	flag="SELECT severity, value > 0 FROM stats WHERE name = 'traced_buf_trace_writer_packet_loss'"
	viewer trace.fxt "$flag" | diff - <(printf 'data_loss\t1\n')
	loaded "" 1 1000
	[ -z "$(viewer trace.fxt "$flag")" ]
}

@test "circular, overfull: recorded + lost is exact, and the end is kept" {
	loaded "--buffering-mode=circular --buffer-size=256K" 4 20000
	every_loss_told
	# One half of the buffer is full, except for the free ends of some threads' chunks;
	# a quarter at the very least.
	[ "$(recorded)" -gt $((256 * 1024 / 4 / 24)) ]
	loaded "--buffering-mode=circular --buffer-size=256K" 1 100000
	[ "$(counted)" = 200000 ]
	every_loss_told
	known_by_name
}

@test "circular: no end of an arrow is kept without the slice it lies in" {
	# Threads that cannot be created leave nothing but the arrow's beginning and its
	# slice, again and again, so that in half of the buffers one of the two would be the
	# last.
	cat >arrows.c <<-'END'
		#include <pthread.h>
		#include <stddef.h>
		static void *run(void *none) { return none; }
		int main(void)
		{
			pthread_attr_t huge;
			pthread_t thread;
			pthread_attr_init(&huge);
			if (pthread_attr_setstacksize(&huge, (size_t)1 << 62) != 0)
				return 1;
			for (int i = 0; i < 20000; i++)
				if (pthread_create(&thread, &huge, run, NULL) == 0)
					return 2;
			return 0;
		}
	END
	${CC:-cc} -O1 -pthread -o arrows arrows.c
	local size
	for size in 256K 260K 264K 268K; do
		fxtrun --heap=off --buffering-mode=circular --buffer-size=$size -o trace.fxt ./arrows
		decode check trace.fxt
		fxt dump trace.fxt | grep -q flow-begin
	done
}

@test "circular: an idle thread and a dead one show what was overwritten while they were busy, and no longer" {
	needs_viewer
	cat >rest.c <<-'END'
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <stdio.h>
		#include <time.h>
		static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
		static int is_ready;
		__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }
		__attribute__((no_instrument_function)) static long long now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_MONOTONIC, &t);
			return t.tv_sec * 1000000000LL + t.tv_nsec;
		}
		__attribute__((no_instrument_function)) static void *brief(void *stays)
		{
			pthread_setname_np(pthread_self(), stays ? "idle" : "died");
			for (int i = 0; i < 500; i++)
				leaf();
			__atomic_fetch_add(&is_ready, 1, __ATOMIC_SEQ_CST);
			if (stays) {
				pthread_mutex_lock(&gate);
				pthread_mutex_unlock(&gate);
			}
			return NULL;
		}
		__attribute__((no_instrument_function)) int main(void)
		{
			pthread_t idle, died;
			long long began = now();
			pthread_mutex_lock(&gate);
			pthread_create(&idle, NULL, brief, &gate);
			pthread_create(&died, NULL, brief, NULL);
			pthread_join(died, NULL);
			while (__atomic_load_n(&is_ready, __ATOMIC_SEQ_CST) < 2)
				;
			long long busy = now() - began;
			while (now() - began < 20 * busy)
				for (int i = 0; i < 100000; i++)
					leaf();
			pthread_mutex_unlock(&gate);
			pthread_join(idle, NULL);
			return printf("%lld\n", busy) < 0;
		}
	END
	${CC:-cc} -O2 -pthread -finstrument-functions -o rest rest.c
	fxtrun --buffering-mode=circular --buffer-size=256K -o trace.fxt ./rest >busy
	viewer trace.fxt "SELECT thread.name, sum(dur), count(*) FROM slice JOIN thread_track t ON t.id = track_id
		JOIN thread USING (utid) WHERE slice.name GLOB 'fxt: * records overwritten' AND thread.name IN ('idle', 'died')
		GROUP BY thread.name" | tee shown
	[ "$(cut -f1 shown)" = $'died\nidle' ]
	awk -F'\t' -v busy="$(cat busy)" '$2 <= 0 || $2 > busy * 1.01 { exit 1 }' shown
}

@test "circular, then a crash: names, threads and calls still open outlive the half they began in" {
	local status=0

	fxtrun --buffering-mode=circular --buffer-size=64K -o trace.fxt "$engine/load" 4 5000 crash >out 2>said || status=$?
	[ "$status" = 137 ]
	valid trace.fxt
	decode threads trace.fxt >threads
	decode slices trace.fxt >slices
	[ -z "$(grep early slices)" ]
	local tid=$(awk -F'\t' '$4 == "sleeper" { print $2 }' threads)
	[ "$(awk -F'\t' '$6 == "" { print $2 " " $4 }' slices | sort)" = "$tid pause"$'\n'"$tid sleeping" ]
	[ $(($(recorded) + $(lost))) = $((4 * 5000 * 2 + 2)) ]
}

@test "streaming/block, manager stopped for a while: nothing is lost, every thread shows that it waited" {
	loaded --buffer-size=256K 4 20000 pause
	told | diff expected -
	[ "$(recorded)" = "$(counted)" ]
	[ "$(lost)" = 0 ]
	known_by_name
	[ -z "$(comm -23 <(cut -f1 expected | sort) <(awk -F'\t' '$4 == "fxt: waited" { print $2 }' slices | sort -u))" ]
}

@test "the viewer draws the tracer's own waits as they are in the trace: their threads, number and length" {
	needs_viewer
	loaded --buffer-size=256K 4 20000 pause
	awk -F'\t' '$4 == "fxt: waited" { n[$2]++; ns[$2] += $6 - $5 } END { for (t in n) print t "\t" n[t] "\t" ns[t] }' slices | sort >waits
	[ "$(wc -l <waits)" -ge 4 ]
	viewer trace.fxt "SELECT tid, count(*), sum(dur) FROM slice JOIN thread_track t ON t.id = track_id JOIN thread USING (utid)
		WHERE slice.name = 'fxt: waited' GROUP BY tid" | sort >drawn
	# Each begin and end is rounded to a nanosecond.
	join waits drawn | awk '$2 != $4 || ($3 - $5) ^ 2 > (2 * $2) ^ 2 { exit 1 } END { exit NR == 0 }'
	diff <(cut -f1 waits) <(cut -f1 drawn)
}

@test "the tracer's own waits are in no call's total: report, tree and flame graph agree with the independent decoder" {
	loaded --buffer-size=256K 4 20000 pause
	# By function: the time of its calls, less the waits inside them. Each sum is rounded down.
	decode paths trace.fxt | awk -F'\t' '
		{ depth = split($4, names, ";"); if (names[depth] == "fxt: waited") ; else if ($3 == "function") total[names[depth]] += $7 }
		names[depth] == "fxt: waited" { for (i = 1; i < depth; i++) { total[names[i]] -= $7; inside += $7 } }
		END { for (name in total) print name "\t" total[name]; exit inside == 0 }' | sort >expected
	fxt report --csv trace.fxt | rows functions name total_ns | sort >reported
	fxt tree --csv trace.fxt | rows tree name total_ns |
		awk -F'\t' -v OFS='\t' '{ n[$1] += $2 } END { for (name in n) print name, n[name] }' | sort >drawn
	for sums in reported drawn; do
		join -t "$(printf '\t')" expected $sums | awk -F'\t' '($2 - $3) ^ 2 > 100 ^ 2 { print; bad = 1 } END { exit bad || NR == 0 }'
	done
	decode paths trace.fxt >paths
	fxt flamegraph -o flame.svg trace.fxt
	python3 "$root/tests/e2e/flames.py" time flame.svg paths
	fails grep -q 'fxt: waited' flame.svg
}

@test "the slowest calls are those without the tracer's own waits: slow, why and the page agree with the independent decoder" {
	local threads

	for threads in 4 6 8 12; do # until the buffer is full before the manager goes on
		loaded --buffer-size=256K $threads 20000 pause
		! grep -q 'fxt: waited' slices || break
	done
	fxt html -o page.html trace.fxt
	for name in one_round leaf; do
		fxt slow --csv -n 5 $name trace.fxt | rows calls time_ns >$name.slow
		for call in 1 2 3; do
			fxt why --csv $name:$call trace.fxt | rows parts level time_ns | awk '$1 == 0 { ns += $2 } END { print ns + 0 }'
		done >$name.why
	done
	python3 - <<-'END'
		import bisect, collections, json, re
		calls, waits = collections.defaultdict(list), collections.defaultdict(list)
		for line in open("slices"):
		    _, thread, category, name, start, end = line.rstrip("\n").split("\t")
		    if name == "fxt: waited":
		        waits[thread].append((int(start), int(end)))
		    elif name in ("one_round", "leaf"):
		        calls[name].append((thread, int(start), int(end)))
		def net(thread, start, end):
		    of = waits[thread]
		    first, last = bisect.bisect_left(of, (start, 0)), bisect.bisect_left(of, (end, 0))
		    return end - start - sum(min(b, end) - a for a, b in of[first:last])
		waited, most = 0, {}
		for name, found in calls.items():
		    expected = sorted((net(*call) for call in found), reverse=True)
		    waited += sum(end - start for _, start, end in found) - sum(expected)
		    most[name] = expected[0]
		    slow = [int(line) for line in open(name + ".slow")]
		    why = [int(line) for line in open(name + ".why")]
		    for got in (slow, why):
		        assert got and all(abs(a - b) < 100 for a, b in zip(got, expected)), (name, got, expected[:5])
		assert waited > 0, "no wait was inside a call"
		text = open("page.html").read()
		drawn = [int(ns) for ns in re.findall(r'"ns": (\d+), "whole_ns"', text[text.index('"slow": ['):])]
		assert all(ns < max(most.values()) + 100 for ns in drawn), (drawn, most)
	END
}

# waited_ms: how long threads waited for the manager, all together, by the independent
# decoder.
waited_ms()
{
	awk -F'\t' '$4 == "fxt: waited" { sum += $6 - $5 } END { printf "%d", sum / 1e6 }' slices
}

@test "streaming/block: a second of waiting for the manager is reported, and no less" {
	local threads waited=0
	for threads in 2 6 8 10 12 14 16 20 24 32 48 64; do
		loaded --buffer-size=256K $threads 2000 pause
		waited=$(waited_ms)
		[ "$waited" -le 1010 ] || break
		[ "$waited" -ge 990 ] || fails grep "threads waited" said
	done
	[ "$waited" -gt 1010 ]
	python3 -c 'import re, sys
told = re.search("threads waited ([0-9.]+) s in all for room in the buffer", open("said").read())[1]
assert abs(float(told) * 1000 - int(sys.argv[1])) <= 10' "$waited"
}

# orphan WITH SEED: runs load under a shell that knows the manager and waits for the end: it
# writes the status to a pipe. The manager runs on in the background as $manager.
orphan()
{
	rm -f trace.fxt status
	mkfifo status
	fxtrun --buffer-size=256K -o trace.fxt sh -c 'MANAGER=$PPID "$0" "$@" >out 2>err; echo $? >status' \
		"$engine/load" 4 10000 "$@" 2>said 3>&- &
	manager=$!
	ended=$(timeout 60 cat status || echo "not at all")
}

# The orphan did what it does bare.
unharmed()
{
	[ "$ended" = 3 ]
	[ ! -s err ]
	cut -f2 out | diff - <(printf '20000\n%.0s' {1..4})
}

@test "manager killed at any moment: the program runs as before, every call is in the trace or counted as lost" {
	local calls=0

	for seed in {1..10}; do
		orphan kill "$seed"
		unharmed
		wait "$manager" || [ $? = 137 ]
		# It may not even have begun to record, but where calls had returned.
		grep '^fxtrun: recovered: ' said || { [ $((seed % 2)) = 1 ] && continue; }
		valid trace.fxt
		decode slices trace.fxt >slices
		sort out >expected
		every_loss_told
		calls=$((calls + $(recorded)))
	done
	[ "$calls" -gt 10000 ]
}

@test "manager stopped for good: the program waits a second for it, then does without" {
	orphan freeze
	kill -CONT "$manager"
	unharmed
	wait "$manager"
	valid trace.fxt
	sort out >expected
	decode slices trace.fxt >slices
	every_loss_told
	[ "$(lost)" -gt 0 ]
}

# ---- threads that stay inside a hook ----

# held OPTIONS STATUS [kill]: stalled ran like that, and the trace has the calls that it
# counted. If the program was killed while a thread was held, that thread's current call may
# be there too. A thread without any call in the trace has 0 there.
held()
{
	local status=0

	fxtrun $1 -o trace.fxt "$engine/stalled" 20 $3 >out 2>said || status=$?
	cat said
	[ "$status" = "$2" ]
	valid trace.fxt
	decode slices trace.fxt >slices
	told >now
	join -t $'\t' -a 1 -e 0 -o 0,1.2,2.2 <(sort out) now | awk -F'\t' -v held="$(head -1 out)" -v killed="${3:+1}" '
		{ print; threads++ }
		$3 != $2 && !(killed && $1 "\t" $2 == held && $3 == $2 + 1) { wrong = 1 }
		END { exit wrong || threads != 4 }'
}

@test "a thread held inside a hook while the buffer fills again and again: nothing is lost" {
	held --buffer-size=64K 3
	[ "$(lost)" = 0 ]
	held --buffer-size=64K 137 kill
	[ "$(lost)" = 0 ]
}

@test "a thread held inside a hook, with drop: recorded + lost is exact on every thread" {
	held "--on-full=drop --buffer-size=64K" 3
	held "--on-full=drop --buffer-size=64K" 137 kill
}

@test "a thread held inside a hook, in circular mode: recorded + lost is exact" {
	fxtrun --buffering-mode=circular --buffer-size=64K -o trace.fxt "$engine/stalled" 20 >expected 2>said || [ $? = 3 ]
	valid trace.fxt
	decode slices trace.fxt >slices
	[ $(($(recorded) + $(lost))) = "$(counted)" ]
}

@test "handlers inside hooks while the buffer is full: recorded + lost is exact" {
	for mode in oneshot circular; do
		fxtrun --buffering-mode=$mode --buffer-size=64K -o trace.fxt "$engine/dense" plain >expected 2>said
		valid trace.fxt
		decode slices trace.fxt >slices
		[ $(($(recorded) + $(lost))) = "$(counted)" ]
		[ "$(lost)" -gt 0 ]
	done
}
