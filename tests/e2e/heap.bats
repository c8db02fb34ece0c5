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

# profile_of TRACE: the embedded profile's last two dumps must be what lived at the peak and at the end, path by path, by
# the object records; blocks of equal functions are one path.
profile_agrees()
{
	heapdecode profiles "$1" >profiles
	heapdecode blocks "$1" >blocks
	python3 - <<-'END'
		import collections
		blocks = [line.rstrip("\n").split("\t") for line in open("blocks")]
		blocks = [(b[3], int(b[1]), int(b[4]), int(b[5]) if b[5] else 1 << 63) for b in blocks]
		dumps = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
		for line in open("profiles"):
		    process, ns, path, size, count = line.rstrip("\n").split("\t")
		    dumps[int(ns)][path][0] += int(size)
		    dumps[int(ns)][path][1] += int(count)
		assert len(dumps) == 2, sorted(dumps)
		for ns, dump in dumps.items():
		    live = collections.defaultdict(lambda: [0, 0])
		    for path, size, start, end in blocks:
		        if start <= ns < end:
		            live[path][0] += size
		            live[path][1] += 1
		    dump = {path: value for path, value in dump.items() if value != [0, 0]}
		    assert dump == dict(live), (ns, len(dump), len(live))
		print([(len(d), sum(v[0] for v in d.values())) for d in dumps.values()])
	END
}

@test "the flame graph for the Perfetto UI: what lived at the peak and at the end, path by path" {
	build script -finstrument-functions
	traced --heap=objects -- ./script 50000
	profile_agrees trace.fxt
	cp trace.fxt again.fxt
	fxt symbolize again.fxt
	cmp trace.fxt again.fxt
	traced --heap=objects --no-perfetto-heap -- ./script 1000
	[ -z "$(heapdecode profiles trace.fxt)" ]
}

@test "the same of a program that is not instrumented" {
	build script
	traced --heap=objects -- ./script 50000
	profile_agrees trace.fxt
}

# 2048 samples a run have a standard deviation of 2.2 %; the mean of four, of 1.1 %.
@test "sampling: the estimate of a gigabyte of allocations is right within 5 %, in the mean of four runs" {
	build gigabyte
	for run in 1 2 3 4; do
		traced --heap=sampled:512K -- ./gigabyte
		[ "$(heapdecode blocks trace.fxt | wc -l)" -lt 4000 ]
		heapdecode sampled trace.fxt >>estimates
		diff <(tail -n 1 estimates) <(summary trace.fxt | cut -d' ' -f1,2)
	done
	awk -v real="$(cat traced.out)" '{ sum += $2 } END { error = sum / NR / real - 1
		exit !(NR == 4 && error < 0.05 && error > -0.05) }' estimates
}

# Without -finstrument-functions and with it; by libunwind alone, and by what is there.
@test "libraries come and go, exceptions, signals, forks and threads, while stacks are walked: no hang, no crash" {
	for flags in '' -finstrument-functions; do
		build storm $flags
		for stacks in unwind auto; do
			timeout $((${FXT_SOAK_SECONDS:-2} + 90)) fxtrun -o trace.fxt --heap=objects --heap-stacks=$stacks --buffering-mode=circular \
				--buffer-size=4 --no-perfetto-heap -- ./storm "${FXT_SOAK_SECONDS:-2}" >traced.out 2>traced.err
			grep -x survived traced.out
			grep -q 'still running' traced.err && return 1
			fxt check trace.fxt
		done
	done
}

# A library whose dlsym() allocates 64 KB whenever it is asked, and a constructor that allocates before ours.
@test "allocations before there is an allocator, and inside dlsym: served, kept, freed" {
	build early_program
	${CC:-cc} -O2 -fPIC -shared -DSHIM -o shim.so "$root/tests/programs/heap/early_program.c" -ldl
	LD_PRELOAD=$PWD/shim.so ./early_program >bare.out
	for heap in objects off; do
		LD_PRELOAD=$PWD/shim.so traced --heap=$heap -- ./early_program
		diff bare.out traced.out
	done
}

@test "an allocator inside the executable, a sanitizer: one notice, and no heap" {
	printf '%s\n' '#include <stdlib.h>' 'static char m[1 << 20]; static size_t n;' \
		'void *malloc(size_t s) { void *p = m + n; n += (s + 15) / 16 * 16; return p; }' \
		'void free(void *p) { (void)p; }' 'int main(void) { free(malloc(10)); return 0; }' >own.c
	${CC:-cc} -O1 -fno-builtin -o own own.c
	traced --heap=objects -- ./own
	grep -q "heap is not recorded: an allocator is linked into the executable" traced.err
	[ "$(heapdecode blocks trace.fxt | wc -l)" = 0 ]
}

# tests against heaptrack, where it is installed: it brings libstdc++ into the program, whose emergency pool of 72704
# bytes stays allocated; and counts a handful of allocations of its own start.
@test "heaptrack agrees on jq: allocations, peak and leaks" {
	command -v heaptrack >/dev/null && command -v jq >/dev/null || skip "heaptrack or jq is not installed"
	seq 1 3000 | sed 's/.*/{"a":[&,2,{"b":"&"}]}/' >input.json
	heaptrack -o theirs jq -c '.a[2].b' input.json >/dev/null 2>&1
	heaptrack_print --disable-builtin-suppressions --disable-embedded-suppressions -f theirs.* >theirs.txt 2>/dev/null
	traced --heap=objects -- jq -c '.a[2].b' input.json
	python3 - $(summary trace.fxt) <<-'END'
		import re, sys
		blocks, _, peak, _, leaked = map(float, sys.argv[1:])
		text = open("theirs.txt").read()
		def number(pattern):
		    value, unit = re.search(pattern + r": ([0-9.]+)([KMG]?)", text).groups()
		    return float(value) * {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}[unit]
		assert abs(number("calls to allocation functions") - blocks) < 10
		assert abs(number("peak heap memory consumption") - 72704 - peak) < 2000
		assert abs(number("total memory leaked") - leaked) < 1000 or \
		       abs(number("total memory leaked") - 72704 - leaked) < 1000
	END
}
