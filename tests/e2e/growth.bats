#!/usr/bin/env bats
# The work of fxt grows as its trace does: twice the processes, the threads or the depth take about twice the instructions.
# Valgrind counts them, so that no clock matters; tests/independent/growth.py makes the
# traces.

load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
}

make_trace()
{
	python3 "$BATS_TEST_DIRNAME/../independent/growth.py" "$@"
}

# instructions COMMAND...: how many it takes.
instructions()
{
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null | sed -n 's/.*Collected : //p'
}

# grows SHAPE COUNT COMMAND...: each command of fxt, words that {} stands for the trace in,
# takes at most 2.5 times as many instructions for twice the count.
grows()
{
	local shape=$1 count=$2 command less more

	command -v valgrind >/dev/null || skip "valgrind is not installed"
	make_trace "$shape" "$count" >less.fxt
	make_trace "$shape" $((2 * count)) >more.fxt
	for command in "${@:3}"; do
		less=$(instructions fxt ${command/\{\}/less.fxt})
		more=$(instructions fxt ${command/\{\}/more.fxt})
		echo "$command, $shape: $less instructions for $count, $more for twice as many"
		[ $((2 * more)) -le $((5 * less)) ]
	done
}

# prints BYTES COMMAND...: each command of fxt prints at most so many bytes of trace.fxt,
# which {} stands for.
prints()
{
	local most=$1 command bytes

	for command in "${@:2}"; do
		bytes=$(fxt ${command/\{\}/trace.fxt} | head -c $((most + 1)) | wc -c)
		echo "$command: $bytes bytes"
		[ "$bytes" -gt 0 ]
		[ "$bytes" -le "$most" ]
	done
}

# takes EACH COUNT COMMAND...: each command takes at most so many instructions for each of
# the calls of trace.fxt, besides ten million.
takes()
{
	local each=$1 count=$2 command all

	command -v valgrind >/dev/null || skip "valgrind is not installed"
	for command in "${@:3}"; do
		all=$(instructions fxt ${command/\{\}/trace.fxt})
		echo "$command: $all instructions for $count calls"
		[ "$all" -le $((10000000 + each * count)) ]
	done
}

@test "in processes: pages, flame graphs, profiles and folded stacks" {
	grows processes 500 "export --to=callgrind {} -o out" "export --to=pprof {} -o out" "html {} -o out" \
		"flamegraph {} -o out" "export --to=folded {} -o out"
}

@test "in processes: the table of processes" {
	grows processes 2000 "sql select(sum(threads))from(processes) {}"
}

@test "in threads: pages and profiles by thread" {
	grows threads 500 "html {} -o out" "export --to=callgrind --threads {} -o out" "export --to=pprof --threads {} -o out"
}

@test "in messages between ranks that are in no call of MPI: who waited for whom" {
	grows messages 3000 "report --mpi {}"
}

@test "in depth: the slowest calls of a recursion" {
	make_trace deep 5000 >trace.fxt
	takes 20000 5000 "slow f0 {}"
	grows deep 5000 "slow f0 {}"
}

@test "in depth: what is printed and drawn of a recursion, also of several functions, is bounded" {
	for shape in deep mutual visiting; do
		make_trace "$shape" 20000 >trace.fxt
		prints 1000 "tree {}" "tree --bottom-up {}" "export --to=folded {} -o -" "export --to=pprof {} -o -"
		prints 40000 "flamegraph {} -o -" "flamegraph --bottom-up {} -o -"
		prints 120000 "replay {}"
	done
}

@test "in depth: functions that call each other in no order, or each once, take no more for being deep" {
	make_trace irregular 20000 >trace.fxt
	prints 2000 "tree {}" "export --to=folded {} -o -" "export --to=pprof {} -o -"
	prints 6000000 "replay {}"
	make_trace ladder 20000 >trace.fxt
	prints 6000000 "tree {}" "replay {}" "export --to=folded {} -o -" "export --to=pprof {} -o -" "flamegraph {} -o -"
}

@test "in depth: the work for each call of a recursion is the same" {
	make_trace visiting 5000 >trace.fxt
	takes 10000 10000 "tree {}" "export --to=folded {} -o out" "export --to=pprof {} -o out" "flamegraph {} -o out" \
		"html {} -o out"
	takes 60000 10000 "tree --json {}" "replay {}" "replay --json {}"
}

@test "a folded recursion: its calls and own times are exact, by function, and each line of a replay is there or counted" {
	make_trace visiting 20000 >trace.fxt
	fxt export --to=folded trace.fxt -o out 2>err
	cat out
	# Each call of f1 takes a nanosecond, and all 120,000.
	diff - out <<<$'f0 100000\nf0;f1 20000'
	grep -q '^fxt: trace.fxt: recursion deeper than 100 calls is folded: up to 20000 calls' err
	fxt tree trace.fxt >out
	grep -q '20000  f0 x 20000$' out
	grep -q '20000    f1$' out
	fxt replay trace.fxt >out
	# A line for the begin and the end of each call of f0, and one for each of f1.
	hidden=$(sed -n 's/.*: \([0-9]*\) lines are shown as.*/\1/p' out)
	[ $((hidden + $(grep -c '[0-9.]* .*\(f0() {\|} f0\|f1();\)$' out))) = 60000 ]
	[ "$(grep -c '/\* f1, f0 x [0-9]*.* \*/$' out)" = 1 ]
	[ "$(grep -c '/\* } f0 x [0-9]* \*/$' out)" = 1 ]
	# The end of each call whose begin is there is there too.
	[ "$(grep -c '} f0$' out)" -ge "$(grep -c 'f0() {$' out)" ]
	[ "$(fxt replay --csv trace.fxt | wc -l)" = 40001 ]
	fxt flamegraph trace.fxt -o out
	grep -q '>f0 x 20000<' out
	grep -q 'Recursion deeper than 100 calls is folded' out
}
