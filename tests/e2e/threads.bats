#!/usr/bin/env bats
# Threads: every thread has its own row, its name, and exactly its own calls.

load helpers
load heap

# The calls of each thread, by the trace and by the thread itself.
calls_of_each_thread()
{
	same_as_bare "$programs/threads8"
	sound trace.fxt
	decode calls trace.fxt | cut -f2- | grep 'work::' | sort >recorded
	sort traced.out | diff - recorded
}

@test "eight named threads: each thread's calls are the calls it counted itself" {
	calls_of_each_thread
}

@test "the same when the buffer fills and is saved again and again" {
	options=--buffer-size=64K
	for run in 1 2 3 4 5; do
		calls_of_each_thread
	done
}

# compiled NAME: a program of tests/programs/threads.
compiled()
{
	${CC:-cc} -O2 -g -D_GNU_SOURCE -finstrument-functions -pthread -o "$1" "$root/tests/programs/threads/$1.c"
	program=$PWD/$1
}

@test "threads of every kind: all their calls, their names, and an arrow from their creator" {
	compiled lives
	same_as_bare "$program"
	sound trace.fxt
	[ "$(calls_of trace.fxt destroy_late)" = 3 ]
	[ "$(calls_of trace.fxt live)" -ge 3008 ]
	decode threads trace.fxt | grep -q 'given by main$'
	[ "$(fxt dump trace.fxt | grep -c 'flow-begin.*name="\(pthread\|thrd\)_create: a new thread"')" = 3007 ]
	[ "$(fxt dump trace.fxt | grep -c 'flow-end.*name="thread begins"')" = 3007 ]
}

@test "waits for locks: each one that happened, with its object and its waker, and none that did not" {
	compiled locks
	same_as_bare "$program"
	sound trace.fxt
	fxt dump trace.fxt >dump
	sed -n 's/.*duration-complete.*category="sync" name="\([a-z_]*\)" {object=.*/\1/p' dump | sort | uniq -c |
		awk -v OFS='\t' '$2 != "pthread_join" { print $2, $1 }' | diff traced.out -
	grep 'category="sync" name="pthread_mutex_lock"' dump | grep -v flow | grep -o 'object=[^,} ]*' | sort -u >objects
	[ "$(wc -l <objects)" = 1 ]
	[ "$(grep -c 'flow-end.*name="pthread_mutex_lock"' dump)" = 20 ]
	[ "$(grep -c 'flow-end.*name="pthread_cond_wait"' dump)" = 20 ]
	[ "$(grep -c 'flow-end.*name="pthread_rwlock_rdlock"' dump)" = 20 ]
	[ "$(grep -c 'flow-begin' dump)" -lt 200 ]
}

@test "calls that wait for files, signals, queues, children and futexes: each wait has the name of its call" {
	compiled named_waits
	fxtrun -o trace.fxt "$program" >made
	sound trace.fxt
	[ "$(wc -l <made)" -ge 13 ]
	for call in $(cat made); do
		# Inside of the function that made the call.
		fxt sql --csv "select count(*) from slices where function = '$call' and category = 'sync'
			and caller_function = 'by_$call'" trace.fxt | sed -n 's/^rows,//p' | tail -1 >found
		[ "$(cat found)" -ge 1 ] || { echo "$call: $(cat found)"; return 1; }
	done
	[ "$(fxt why by_flock trace.fxt | grep -c unknown)" = 0 ]
}

@test "waits of 48 kinds, of libc, C++20, futexes and system calls by number: each has its call, its length and its waker" {
	${CXX:-c++} -std=c++20 -O1 -g -finstrument-functions -pthread -o wait_kinds "$root/tests/programs/threads/wait_kinds.cc"
	fxtrun -o trace.fxt ./wait_kinds >made 2>err
	fxt check trace.fxt
	[ -z "$(decode check trace.fxt | grep -v '^0')" ]
	[ "$(wc -l <made)" = 48 ]
	fxt dump trace.fxt >dump
	decode times trace.fxt >times
	python3 - made dump times <<-'END'
		import collections, re, sys
		lengths = collections.defaultdict(list)
		for line in open(sys.argv[3]):
		    process, thread, category, name, start, length = line.rstrip("\n").split("\t")
		    if category == "sync" and length:
		        lengths[int(thread), name].append(int(length))
		waits, begins, ends = collections.defaultdict(list), {}, {}
		for line in open(sys.argv[2]):
		    if match := re.search(r'duration-complete thread=\d+/(\d+) time=(\d+) end=(\d+) category="sync" name="([a-z0-9_]+)"', line):
		        waits[int(match[1])].append((match[4], int(match[2]), int(match[3])))
		    elif match := re.search(r'flow-(begin|end) thread=\d+/(\d+) time=(\d+) id=(\w+) category="sync" name="(\w+)', line):
		        (begins if match[1] == "begin" else ends)[match[4]] = (int(match[2]), int(match[3]), match[5])
		for line in open(sys.argv[1]):
		    call, waiter, waker, least, most = line.split("\t")
		    found = [(start, end) for name, start, end in waits[int(waiter)] if name == call]
		    slack = 20000 + int(most) // 100
		    assert len(found) == 1, (line, waits[int(waiter)])
		    length, = lengths[int(waiter), call]
		    assert int(least) - slack <= length <= int(most) + slack, (line, length)
		    arrows = [flow for flow, (thread, time, name) in ends.items()
		              if thread == int(waiter) and name == call and found[0][0] <= time <= found[0][1]]
		    wakers = [begins[flow][0] for flow in arrows]
		    assert wakers == ([int(waker)] if int(waker) else []), (line, wakers)
		    # The waker let it go before it went on.
		    assert all(found[0][0] <= begins[flow][1] <= found[0][1] for flow in arrows), (line, arrows)
		# A wake of no thread has no arrow, and no arrow begins without an end.
		made = [line.split("\t") for line in open(sys.argv[1])]
		told = [name for _, _, name in begins.values() if name == "futex"]
		assert len(told) == sum(call == "futex" for call, *_ in made), len(told)
	END
	# Waits for nothing have no record, but for the few during which the thread lost its
	# processor; the one that timed out has, without an arrow.
	nothing=$(($(grep -c 'duration-complete.*name="futex" {object' dump) - $(grep -c ^futex made)))
	[ "$nothing" -ge 1 ]
	[ "$nothing" -le $((1 + $(sed -n 's/^long ones: //p' err))) ]
	fxt locks --json trace.fxt >locks
	for lock in counting binary latch word raw once c11_once cpp_once 'guard variable for use_local()::local'; do
		grep "\"lock\": \"$lock" locks
	done
	fxt why use_local trace.fxt | grep 'waiting for guard variable .* in futex, woken by thread .* > use_local'
}

# arrows TRACE: from which slice to which slice in which wait the viewer draws arrows, and
# how many.
arrows()
{
	viewer "$1" "SELECT o.name, i.name, w.name, count(*) FROM flow JOIN slice o ON o.id = slice_out
		JOIN slice i ON i.id = slice_in LEFT JOIN slice w ON w.id = i.parent_id AND w.category = 'sync'
		GROUP BY 1, 2, 3 ORDER BY 1, 3"
}

@test "the viewer draws the arrow of a wait from the waker to the wait's end, and none backwards" {
	needs_viewer
	compiled locks
	# A thread that joins another frees its stack's memory: an instant inside the wait,
	# which does not end the arrow.
	traced --heap=objects -- "$program"
	arrows trace.fxt >arrows
	grep -v -e pthread_join -e pthread_create arrows | diff - <(printf '%s\twoken\t%s\t%d\n' \
		'pthread_cond_signal: wakes a waiter' pthread_cond_wait 20 \
		'pthread_mutex_unlock: wakes a waiter' pthread_mutex_lock 20 \
		'pthread_rwlock_unlock: wakes a waiter' pthread_rwlock_rdlock 20 \
		'sem_post: wakes a waiter' sem_wait 61)
	[ "$(grep pthread_create arrows)" = $'pthread_create: a new thread\tthread begins\t\t1' ]
	[ -z "$(grep pthread_join arrows | grep -v $'^wakes who joins it\twoken\tpthread_join\t1$')" ]
	# The slice at the end of an arrow is neither a call nor a wait of its own.
	[ "$(calls_of trace.fxt woken)" = 0 ]
	reported_calls trace.fxt | fails grep woken
}

@test "every call that waits has the name of its object, and an arrow from its waker; no others have" {
	compiled waits
	same_as_bare "$program"
	sound trace.fxt
	fxt dump trace.fxt >dump
	# All by one thread, except for the barrier, at which two wait.
	sed -En 's/.*thread=([0-9]+)\/([0-9]+) .*duration-complete.*/&/; s/.* duration-complete thread=([0-9]+)\/([0-9]+) .*category="sync" name="([a-z0-9_]+)" \{object=pointer:[^,]*(, symbol="([^"]*)")?(, holder=koid:[0-9]+( "[^"]*")?)?\}$/\1 \2 \3 \5/p' dump |
		awk -v OFS='\t' '$1 != $2 { print $3, $4 } $1 == $2 { others = others $3 } END { exit others != "pthread_barrier_wait" }' >waits
	grep $'\t' traced.out | sed -E 's/(on_heap|thread)$//' | diff - waits
	[ "$(grep -c 'flow-end.*category="sync"' dump)" = "$(wc -l <waits)" ]
	[ "$(grep -c 'flow-begin.*category="sync"' dump)" = "$(wc -l <waits)" ]
	# Each argument "object" leads to an object of the trace.
	grep -o 'object=pointer:0x[0-9a-f]*' dump | cut -d : -f 2 | sort -u >awaited
	sed -En 's/.*userspace-object.* pointer=(0x[0-9a-f]*) name="[^"]+".*/\1/p' dump | sort -u >objects
	[ "$(wc -l <awaited)" -ge 9 ]
	[ "$(comm -23 awaited objects)" = "" ]
	[ "$(sed -En 's/.*userspace-object.* (pointer=[^ ]* name="(mutex|rwlock|semaphore|condition|c11_mutex|c11_condition|barrier)").*/\1/p' dump | sort -u | wc -l)" = 7 ]
}

@test "arrows come from the waker to each waiter, and not from a late one; a wait in vain has none" {
	needs_viewer
	compiled wakers
	fxtrun "$program" >traced.out
	sound trace.fxt
	viewer trace.fxt "SELECT c.name, w.name FROM flow JOIN slice o ON o.id = slice_out JOIN slice c ON c.id = o.parent_id
		JOIN slice i ON i.id = slice_in JOIN slice w ON w.id = i.parent_id
		WHERE i.name = 'woken' AND w.name NOT IN ('pthread_join', 'pthread_mutex_lock')" >arrows
	grep -v sem_wait arrows | sort | diff - <(printf '%s\tpthread_cond_wait\n' all all all first in_time)
	[ "$(grep -c sem_wait arrows)" = "$(cat traced.out)" ]
	[ "$(fxt report --csv trace.fxt | rows others name calls | sed -n 's/^sem_wait\t//p')" -gt "$(cat traced.out)" ]
}

@test "a waiter that was let go and does not run yet: one wake in the trace, and unlocking costs as little as without it" {
	compiled woken_once
	fxtrun -o trace.fxt "$program" >pairs
	sound trace.fxt
	[ "$(wc -l <pairs)" = 10 ]
	fxt dump trace.fxt | sed -n 's/.*duration-complete.* name="\(.*\): wakes a waiter".*/\1/p' | sort | uniq -c >wakes
	cut -f1 pairs | sort | uniq -c | diff - wakes
	# An arrow takes more than 500 instructions.
	awk -F'\t' '$3 > $2 + 60 { print; bad = 1 } END { exit bad }' pairs
}

@test "the viewer has the end of a thread once, on its track after its calls, and none for a thread that goes on" {
	needs_viewer
	cat >over.c <<-'END'
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <stdio.h>
		#include <unistd.h>
		static pthread_barrier_t ready;
		static void say(const char *how) { printf("%s\t%d\n", how, gettid()); }
		static void *returns(void *unused) { say("ends"); return unused; }
		static void *exits(void *unused) { say("ends"); pthread_exit(unused); }
		static void *is_cancelled(void *unused) { say("ends"); pthread_barrier_wait(&ready); for (;;) pause(); return unused; }
		static void *goes_on(void *unused) { say("goes on"); pthread_barrier_wait(&ready); for (;;) pause(); return unused; }
		int main(void)
		{
			pthread_t ended[3], other;
			pthread_barrier_init(&ready, NULL, 3);
			pthread_create(&ended[0], NULL, returns, NULL);
			pthread_create(&ended[1], NULL, exits, NULL);
			pthread_create(&ended[2], NULL, is_cancelled, NULL);
			pthread_create(&other, NULL, goes_on, NULL);
			pthread_barrier_wait(&ready);
			pthread_cancel(ended[2]);
			for (int i = 0; i < 3; i++)
				pthread_join(ended[i], NULL);
			say("goes on");
			return 0;
		}
	END
	${CC:-cc} -O1 -finstrument-functions -pthread -o over over.c
	fxtrun ./over >told
	viewer trace.fxt "SELECT tid, s.ts >= (SELECT max(ts + dur) FROM slice c WHERE c.track_id = s.track_id AND category = 'function')
		FROM slice s JOIN thread_track t ON t.id = s.track_id JOIN thread USING (utid) WHERE s.name = 'thread ends' ORDER BY tid" >ends
	[ "$(wc -l <told)" = 5 ]
	sed -n 's/^ends\t\(.*\)/\1\t1/p' told | sort -n | diff - ends
}

# open_waits TRACE: the waits that the viewer draws as unfinished, in which call and for
# what; each lasts to the trace's end, or to where the process was killed.
open_waits()
{
	viewer "$1" "SELECT c.name, s.name, a.string_value, s.ts < trace_end() FROM slice s
		JOIN slice c ON c.id = s.parent_id LEFT JOIN args a ON a.arg_set_id = s.arg_set_id AND a.key LIKE '%symbol'
		WHERE s.category = 'sync' AND (s.dur = -1 OR s.ts + s.dur = (SELECT max(ts) FROM slice WHERE name = 'killed')) ORDER BY 3"
}

@test "waits that go on: a snapshot, an end and a kill show what each thread waits for, and since when" {
	needs_viewer
	compiled deadlock
	export XDG_RUNTIME_DIR=$PWD
	fxtrun --buffering-mode=circular --session=stuck --detach -o end.fxt "$program" >out 2>err 3>&- &
	program_pid=$(await ready out | cut -d ' ' -f 2)
	fxtctl --session=stuck snapshot -o now.fxt
	fxtctl --session=stuck terminate
	await 'fxtrun: .* events' err
	kill "$program_pid"
	wait $! || true
	fxtrun -o killed.fxt "$program" >out 2>err 3>&- &
	kill -KILL $(await ready out | cut -d ' ' -f 2)
	wait $! || true
	for trace in now.fxt end.fxt killed.fxt; do
		fxt check $trace
		# main joins, or is about to.
		open_waits $trace | grep -v pthread_join | diff - <(printf '%s\t%s\t%s\t1\n' \
			lock_both pthread_mutex_lock here wait_for_ever pthread_cond_wait never lock_both pthread_mutex_lock there)
		fxt report --csv $trace | rows functions name calls not_ended | grep -Px 'lock_both\t2\t2'
		reported_calls $trace | fails grep pthread_
		fxt dump $trace | grep 'duration-complete.*name="sem_wait" {.*symbol="cancelled", abandoned=true}'
	done
}

# tool FUNCTION...: ./tool.so interposes these and writes into the file that TOOL names how
# often each was called.
tool()
{
	{
		printf '#include <dlfcn.h>\n#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n'
		for function; do
			echo "static unsigned long n_$function;
				int $function(long a, long b, long c)
				{
					static int (*next)(long, long, long);
					if (!next) next = (int (*)(long, long, long))dlsym(RTLD_NEXT, \"$function\");
					__atomic_add_fetch(&n_$function, 1, __ATOMIC_RELAXED);
					return next(a, b, c);
				}"
		done
		echo '__attribute__((destructor)) static void tell(void)
			{
				char path[4096], text[4096];
				int bytes = 0, fd;
				snprintf(path, sizeof(path), "%s/%s", getenv("TOOL"), program_invocation_short_name);
				fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);'
		for function; do
			echo "bytes += snprintf(text + bytes, sizeof(text) - bytes, \"$function %lu\\n\", n_$function);"
		done
		echo 'if (write(fd, text, bytes) != bytes) abort(); }'
	} >tool.c
	${CC:-cc} -O1 -w -D_GNU_SOURCE -include errno.h -fPIC -shared -o tool.so tool.c
}

@test "a library that interposes one or all functions of locks sees the same calls as without fxt" {
	local functions='mtx_lock mtx_timedlock mtx_trylock mtx_unlock pthread_clockjoin_np pthread_join
		pthread_mutex_clocklock pthread_mutex_lock pthread_mutex_timedlock pthread_mutex_trylock pthread_mutex_unlock
		pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock pthread_rwlock_rdlock pthread_rwlock_timedrdlock
		pthread_rwlock_timedwrlock pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_unlock
		pthread_rwlock_wrlock pthread_timedjoin_np pthread_tryjoin_np sem_clockwait sem_post sem_timedwait sem_trywait
		sem_wait thrd_join'

	compiled each
	mkdir bare traced before
	for which in "$functions" mtx_lock pthread_mutex_lock pthread_mutex_trylock pthread_rwlock_rdlock sem_wait sem_trywait \
		pthread_join pthread_tryjoin_np thrd_join; do
		tool $which
		LD_PRELOAD=$PWD/tool.so TOOL=$PWD/bare ./each
		LD_PRELOAD=$PWD/tool.so TOOL=$PWD/traced fxtrun -o trace.fxt ./each 2>said
		grep ' 0 lost' said
		diff bare/each traced/each
		LD_PRELOAD=$PWD/tool.so:$build/libfxtagent.so TOOL=$PWD/before FXT_OUTPUT=$PWD/alone.fxt ./each
		diff bare/each before/each
	done
	# As many as the program says.
	[ "$(cat bare/each)" = 'thrd_join 23' ]
}

@test "names of threads that are not UTF-8, or that the kernel cuts inside a letter: valid in the trace, and still different" {
	fxtrun -o trace.fxt "$programs/named_bytes"
	sound trace.fxt
	LD_PRELOAD=$build/libfxtagent.so FXT_OUTPUT=$PWD/alone.fxt "$programs/named_bytes"
	fxt check alone.fxt
	for trace in trace alone; do
		decode threads $trace.fxt | cut -f4 | sort -u >$trace.names
		for name in '12345678901234\xc3' 'caf\xe9' 'caf\xe8'; do
			grep -Fx "$name" $trace.names
		done
	done
}

@test "names of programs that are not UTF-8: valid in the trace, and still different" {
	for byte in e8 e9; do
		name=$(printf "caf\\x$byte")
		cp "$programs/named_bytes" "$name"
		fxtrun -o $byte.fxt "./$name"
		LD_PRELOAD=$build/libfxtagent.so FXT_OUTPUT=$PWD/alone.fxt "./$name"
		for trace in $byte alone; do
			decode threads $trace.fxt | cut -f3 | grep -Fx "caf\\x$byte"
		done
	done
}
