#!/usr/bin/env bats
# The heap on the timeline: what the trace says of every block is what the program itself and independent decoders know.

load helpers

heapdecode()
{
	python3 "$root/tests/independent/heapdecode.py" "$@"
}

# build NAME FLAG...: compiles tests/programs/heap/NAME.c or .cc into the test's directory.
build()
{
	local source=$(echo "$root/tests/programs/heap/$1".c*)
	local compiler=${CC:-cc}

	[ "${source##*.}" = cc ] && compiler=${CXX:-c++}
	$compiler -O2 -g -o "$1" "$source" -pthread "${@:2}"
}

# traced OPTION... -- PROGRAM ARGUMENT...: as bare, nothing lost.
traced()
{
	timeout 250 fxtrun -o trace.fxt "$@" >traced.out 2>traced.err </dev/null || return 1
	grep -q ' 0 lost' traced.err && fxt check trace.fxt
}

# summary TRACE: as heapdecode.py peak, from fxt heap.
summary()
{
	fxt heap --json "$1" | python3 -c 'import json, sys
p, = json.load(sys.stdin)["processes"]
print(*(p[k][s] for k, s in (("allocated", "blocks"), ("allocated", "bytes"), ("peak", "bytes"), ("leaked", "blocks"),
                             ("leaked", "bytes"))))'
}

@test "a million operations in four threads: the program's own books, exactly" {
	build script -finstrument-functions
	traced --heap=objects -- ./script 1000000
	heapdecode books trace.fxt allocate small operate | diff traced.out -
	diff <(heapdecode peak trace.fxt) <(summary trace.fxt)
	heapdecode counters trace.fxt
}

@test "the same without -finstrument-functions: call paths by libunwind" {
	build script
	traced --heap=objects -- ./script 200000
	# gcc inlines small() and operate(): every block is allocated below work().
	heapdecode blocks trace.fxt | awk -F'\t' '$2 < 1000000 && $4 ~ /(^|;)work(;|$)/ { n++; b += $2 } END { print "allocated", n, b }' |
		diff <(head -n 1 traced.out) -
	diff <(heapdecode peak trace.fxt) <(summary trace.fxt)
}

@test "no heap is recorded unless asked for, and the trace says so" {
	build script -finstrument-functions
	traced ./script 1000
	[ "$(fxt heap trace.fxt | tail -n 1)" = 'No heap was recorded: fxtrun --heap=objects records it.' ]
}
