#!/usr/bin/env bats
# Traces made to exhaust their reader cost it no more than fxt(1) says: 64 MiB, and 32 bytes for each byte of the trace.
# tests/independent/hostile.py makes them. The limit counts address space, so a process gets
# 64 MiB more for its libraries, its threads' stacks and the file itself.

load helpers

setup_file()
{
	export hostile=$BATS_TEST_DIRNAME/../independent/hostile.py
	# The address space that malloc sets apart for each thread is not memory in use.
	export MALLOC_ARENA_MAX=1
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
}

# within FILE COMMAND...: the command of fxt ends within its memory, and within 10 seconds
# of processor time where it takes a part of one.
within()
{
	local file=$1 status=0

	shift
	(
		ulimit -v $(((128 << 10) + 33 * ($(stat -c %s "$file") >> 10))) -t 10
		exec fxt "$@" "$file" >out 2>err
	) || status=$?
	[ $status -le 2 ] && ! grep -q 'out of memory' err || { echo "$file: fxt $*: $status" && cat err && return 1; }
}

# weighs MIB BYTES CALLS COMMAND...: the command of fxt takes at most so much memory: so many MiB, and so many bytes for each call.
weighs()
{
	python3 - $((($1 << 10) + $2 * $3 / 1024)) fxt "${@:4}" <<-'END'
		import resource, subprocess, sys
		status = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL).returncode
		peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
		print(*sys.argv[2:], "ended with", status, "and took", peak, "KiB of", sys.argv[1])
		sys.exit(status not in (0, 1) or peak > int(sys.argv[1]))
	END
}

# reads SHAPE BYTES COMMAND...: each command reads a trace of this shape and size within its bounds.
reads()
{
	python3 "$hostile" "$1" "$2" >"$1"
	for command in "${@:3}"; do
		within "$1" $command
	done
}

@test "providers by the hundred thousand, each with the highest of its indices: memory is bounded by the file's size" {
	reads far_strings 160000 info check report heap
	reads far_threads 1000000 info check report
	reads providers 2000000 info check report heap
}

@test "a provider announced over and over, strings from the highest down: time is bounded by the file's size" {
	reads announcements 8000000 info report
	reads downwards 1000000 info check report
}

@test "threads, processes and names by the hundred thousand: memory is bounded by the file's size" {
	reads calls_of_threads 16000000 report
	reads threads 1000000 info check report
	reads processes 1000000 info check report
	reads names 1000000 info check report
}

@test "a small compressed file of many equal calls: memory is bounded by the file's size, not by what it unpacks" {
	python3 "$hostile" equal_calls 120000000 >trace.fxt
	zstd -q trace.fxt
	[ "$(stat -c %s trace.fxt.zst)" -lt 20000 ]
	for command in last locks threads suggest heap symbolize\ -o\ named.fxt \
		export\ --to=chrome-json\ -o\ out.json info report; do
		within trace.fxt.zst $command
	done
	grep '^trace.fxt.zst: [0-9]* calls of 1 function in 1 thread' out
	weighs 32 0 0 cut --time=0s.. -o part.fxt trace.fxt.zst
}

@test "calls that only nest in each other: a command that remembers each of them takes the memory that the manual page says" {
	calls=200000
	python3 "$hostile" equal_calls $((40 * calls)) >trace.fxt
	for command in check tree tree\ --bottom-up flamegraph\ -o\ out html\ -o\ out replay sql\ select\(max\(depth\)\)from\(calls\) \
		export\ --to=folded\ -o\ out export\ --to=pprof\ -o\ out export\ --to=callgrind\ -o\ out \
		export\ --to=firefox\ -o\ out export\ --to=speedscope\ -o\ out; do
		weighs 32 500 $calls $command trace.fxt
	done
	weighs 32 500 $calls why '*' trace.fxt
	weighs 32 1200 $calls slow '*' trace.fxt
}

@test "thousands of paths of one library: it is opened once, and each keeps its path" {
	python3 "$hostile" spellings 1000000 "$FXT_BUILD/libfxtagent.so" >trace.fxt
	within trace.fxt symbolize -o named.fxt
	fxt dump named.fxt | grep -o 'module="[^"]*", build_id' | sort -u >paths
	[ "$(wc -l <paths)" -gt 3000 ]
}
