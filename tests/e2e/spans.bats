#!/usr/bin/env bats
# Async spans and counters as fxt shows them. The truth is what the programs print of them.

load helpers

setup_file()
{
	cd "$BATS_FILE_TMPDIR"
	${CC:-cc} -O2 -pthread -I"$root/include" -o spans "$root/tests/programs/trace_h/spans.c"
	fxtrun -o trace.fxt ./spans >printed
	fxtrun -o server.fxt "$build/examples/server" >served
}

setup()
{
	cd "$BATS_FILE_TMPDIR" || return 1
	read -r spans open others least most sum last <printed
}

@test "fxt report has async spans by name and category, with those that are open" {
	diff <(fxt report --csv trace.fxt | rows async_spans category name spans open | sort) - <<-END
		db	request	$others	0
		http	long	1	0
		http	request	$spans	$open
	END
	fxt report trace.fxt >report
	grep -E " $spans .* $open +request \[http\]$" report
	grep -E ' request \[db\]$' report
	grep -E ' long$' report
	grep -Fx '1 async span ended without a begin' report
	# A condition on arguments is about the begin.
	[ "$(fxt report --csv --where 'i>=40' trace.fxt | rows async_spans name spans)" = "request	$((spans - 40))" ]
	[ "$(fxt report --csv server.fxt | rows async_spans name spans)" = "request	$(awk '/^requests/ { print $2 }' served)" ]
}

@test "fxt sql has async_spans, with the same numbers" {
	[ "$(fxt sql --csv "select count(*), sum(end is null), min(duration) >= 0 from async_spans where name = 'request' and category = 'http'" trace.fxt | tail -1)" = "rows,$spans,$open,1" ]
	[ "$(fxt sql --csv "select duration >= 20000000 from async_spans where name = 'long'" trace.fxt | tail -1)" = rows,1 ]
	# All of these have one id.
	[ "$(fxt sql --csv "select count(*), sum(end is null), sum(from_tid = to_tid) from async_spans where category = 'db'" trace.fxt | tail -1)" = "rows,$others,0,$others" ]
}

@test "fxt counters has samples, first, last, min, max and mean, and draws them" {
	diff <(fxt counters --csv trace.fxt | rows counters name series samples first last min max | grep -v '^heap') - <<-END
		cache	double	$spans	-100	$(awk "BEGIN { print $last * 2.5 }")	$(awk "BEGIN { print $least * 2.5 }")	$(awk "BEGIN { print $most * 2.5 }")
		cache	level	$spans	-40	$last	$least	$most
	END
	[ "$(fxt counters --csv trace.fxt | rows counters series mean | awk '$1 == "level" { printf "%.6f", $2 }')" = \
		"$(awk "BEGIN { printf \"%.6f\", $sum / $spans }")" ]
	[ "$(fxt counters --csv server.fxt | rows counters name samples | awk '$1 == "queue" { n += $2 } END { print n }')" = \
		"$(awk '/^changes/ { print $2 }' served)" ]
	fxt counters server.fxt >text
	grep -E 'queue 0 waiting \[server\] .*█' text
	[ "$(fxt counters --csv -f cache trace.fxt | rows counters series | sort | tr '\n' ' ')" = 'double level ' ]
}

@test "fxt check has limits for spans: durations and async spans" {
	local status=0

	fxt check --fail-if="span(request).count > $((spans + others))" --fail-if="span(request).calls < $((spans + others))" \
		--fail-if='span(long).min < 20ms' --fail-if='span(sleeps).mean < 20ms' --fail-if='total(span(long)) < 20ms' trace.fxt
	for rule in 'span(long).p99 >= 20ms' 'span(long).max > 19ms' 'span(sleeps).p50 >= 20ms' "span(request).count >= $((spans + others))"; do
		status=0
		fxt check --fail-if="$rule" trace.fxt || status=$?
		[ "$status" = 4 ] || { echo "$rule: $status" && return 1; }
	done
	status=0
	fxt check --fail-if='span(nothing).p99 > 1ms' trace.fxt || status=$?
	[ "$status" = 3 ]
	# The function of the same name does not count, only what it says.
	fxt check --fail-if='span(handle).count > 60' --fail-if='calls(handle) < 120' server.fxt
}

# tasks_are TASKS PIECES TRACE: each piece is a duration and an async span, and flows join them.
tasks_are()
{
	fxt check "$3"
	decode check "$3"
	diff <(python3 "$root/tests/independent/saiddecode.py" counts "$3" | grep -P '\ttask\t' | cut -f1,4) <(sort <<-END
		async begin	$2
		async end	$2
		begin	$2
		end	$2
		flow begin	$1
		flow end	$1
		flow step	$(($2 - $1))
	END
	) && [ "$(fxt report --csv "$3" | rows async_spans name spans open)" = "task	$2	0" ]
}

@test "a task's pieces are durations, one row of async spans, and joined by flows" {
	cat >task.c <<-'END'
		#include <fxt/trace.h>
		#include <pthread.h>
		static uint64_t id;
		static void *resumes(void *unused)
		{
			FXT_TASK_RESUME("pool", "task", id);
			FXT_TASK_SUSPEND("pool", "task", id, "why", "io");
			return unused;
		}
		int main(void)
		{
			pthread_t thread;
			id = FXT_NONCE();
			FXT_TASK_BEGIN("pool", "task", id, "n", 1);
			FXT_TASK_SUSPEND("pool", "task", id);
			for (int i = 0; i < 3; i++) {
				pthread_create(&thread, NULL, resumes, NULL);
				pthread_join(thread, NULL);
			}
			FXT_TASK_RESUME("pool", "task", id);
			FXT_TASK_END("pool", "task", id);
			return 0;
		}
	END
	${CC:-cc} -Wall -Wextra -Werror -pthread -I"$root/include" -o task task.c
	${CC:-cc} -DFXT_NTRACE -pthread -I"$root/include" -o untraced task.c
	fxtrun -o task.fxt ./task
	tasks_are 1 5 task.fxt
}

@test "a C++20 coroutine whose promise derives from the example's is a task" {
	echo '#include <coroutine>' >probe.cc
	c++ -std=c++20 -fcoroutines -c -o probe.o probe.cc 2>/dev/null || skip "this compiler has no coroutines"
	c++ -O2 -std=c++20 -fcoroutines -pthread -I"$root/include" -o coroutines "$root/examples/bindings/coroutines.cc"
	fxtrun -o coroutines.fxt ./coroutines >coroutines.out
	tasks_are "$(awk '/^tasks/ { print $2 }' coroutines.out)" "$(awk '/^pieces/ { print $2 }' coroutines.out)" coroutines.fxt
}

@test "fxt why explains a request that crosses three threads as one, to the nanosecond" {
	local function

	for function in receive handle answer; do
		fxt why --json "$function" --where 'path~*' server.fxt >why.json || fxt why --json "$function" --where 'status>0' server.fxt >why.json
		jq -e '.traces[0] | (.tables[] | select(.name == "flow") | .rows) as $rows |
			([$rows[] | select(.level == 0) | .time_ns] | add) == .facts.flow_ns and
			([$rows[] | select(.kind == "flow") | .function] == ["receive [span server]", "handle [span server]", "answer [span server]"]) and
			([$rows[] | select(.kind == "flow") | .thread] | unique | length) == 3' why.json
	done
	fxt why handle --where path=/report server.fxt >why
	grep -F 'its flow request: ' why
	grep -F '  sleeping in nanosleep' why
	# A call without a flow has no such table.
	fxt why queue_change server.fxt >without
	! grep -F 'its flow' without
}

@test "spans raise triggers as calls do: by their length, their begin and their end" {
	local trigger

	cat >waits.c <<-'END'
		#include <fxt/trace.h>
		#include <time.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			for (int i = 0; i < 3; i++) {
				FXT_DURATION("app", "sleeps", "i", i);
				nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
			}
			{
				FXT_DURATION("app", "short");
			}
			/* until the snapshot is there, a minute at most */
			for (int i = 0; i < 6000 && argc > 1 && access(argv[1], F_OK) != 0; i++)
				usleep(10000);
			return 0;
		}
	END
	${CC:-cc} -O2 -I"$root/include" -o waits waits.c
	for trigger in 'sleeps>10ms' 'sl*ps>10ms' sleeps=begin sleeps=end 'short>1ns'; do
		rm -f trace-*.fxt
		timeout 100 fxtrun --buffering-mode=circular --trigger="$trigger:snapshot" -o trace.fxt ./waits trace-1.fxt
		[ -e trace-1.fxt ] || { echo "no snapshot by $trigger" && return 1; }
	done
	for trigger in 'sleeps>1h' 'short>1h' 'app>1ns' 'i>1ns'; do
		rm -f trace-*.fxt
		timeout 100 fxtrun --buffering-mode=circular --trigger="$trigger:snapshot" -o trace.fxt ./waits
		! ls trace-*.fxt || { echo "a snapshot by $trigger" && return 1; }
	done
}
