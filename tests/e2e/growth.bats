# The work of fxt grows as its trace does: twice the processes, the threads or the depth take about twice the instructions.
# Valgrind counts them, so that no clock matters; tests/independent/growth.py makes the traces.

load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	command -v valgrind >/dev/null || skip "valgrind is not installed"
}

# instructions COMMAND...: how many it takes.
instructions()
{
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null | sed -n 's/.*Collected : //p'
}

# grows SHAPE COUNT COMMAND...: each command of fxt, words that {} stands for the trace in, takes at most 2.5 times as many
# instructions for twice the count.
grows()
{
	local shape=$1 count=$2 command less more

	python3 "$BATS_TEST_DIRNAME/../independent/growth.py" "$shape" "$count" >less.fxt
	python3 "$BATS_TEST_DIRNAME/../independent/growth.py" "$shape" $((2 * count)) >more.fxt
	for command in "${@:3}"; do
		less=$(instructions fxt ${command/\{\}/less.fxt})
		more=$(instructions fxt ${command/\{\}/more.fxt})
		echo "$command, $shape: $less instructions for $count, $more for twice as many"
		[ $((2 * more)) -le $((5 * less)) ]
	done
}

@test "in processes: pages, flame graphs and profiles" {
	grows processes 1000 "export --to=callgrind {} -o out" "export --to=pprof {} -o out" "html {} -o out" "flamegraph {} -o out"
}

@test "in processes: folded stacks, and the table of processes" {
	grows processes 1000 "export --to=folded {} -o out"
	grows processes 4000 "sql select(sum(threads))from(processes) {}"
}

@test "in threads: pages and profiles by thread" {
	grows threads 1000 "html {} -o out" "export --to=callgrind --threads {} -o out" "export --to=pprof --threads {} -o out"
}

@test "in depth: the slowest calls of a recursion" {
	grows deep 20000 "slow f0 {}"
}
