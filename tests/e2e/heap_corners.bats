#!/usr/bin/env bats
# The heap where it is awkward: other allocators, C++ operators, stacks that are short or
# cannot be walked, tools that replace the allocator themselves.

load helpers
load heap

# ends TRACE LOW HIGH: "size freed" or "size kept" of every block between these sizes,
# sorted.
ends()
{
	heapdecode blocks "$1" | awk -F'\t' -v low="$2" -v high="$3" '$2 > low && $2 < high { print $2, $6 == "" ? "kept" : "freed" }' | sort -n
}

# entry_points LIBRARY [LEFT OUT]...: with that allocator preloaded, every block of every
# entry point is recorded once.
entry_points()
{
	local library=$1

	shift
	build entries -std=c++17 -fsized-deallocation -w
	[ -z "$library" ] || has_library "$library" || skip "$library is not installed"
	LD_PRELOAD=$library ./entries "$@" >bare.out
	LD_PRELOAD=$library traced --heap=objects -- ./entries "$@"
	[ "$(wc -l <traced.out)" -gt 20 ]
	diff traced.out <(ends trace.fxt 64000 70000)
}

@test "every entry point and operator, glibc's allocator" {
	entry_points ''
	diff <(summary trace.fxt) <(heapdecode peak trace.fxt)
}

# jemalloc has no pvalloc(): the blocks of glibc's cannot be freed.
@test "every entry point and operator, jemalloc" {
	entry_points libjemalloc.so.2 pvalloc
}

# Debian's mimalloc ends the program where operator new should throw.
@test "every entry point and operator, mimalloc" {
	entry_points libmimalloc.so bad_alloc
}

@test "every entry point and operator, tcmalloc" {
	entry_points libtcmalloc_minimal.so.4
}

# tcmalloc's debugging library tells blocks of malloc() from those of new, and ends the
# program when they are mixed up.
@test "an allocator that tells malloc from new" {
	entry_points libtcmalloc_minimal_debug.so.4
}

# The stack is used up at another place for every size of the environment.
@test "assembly without unwind tables, ucontext, the smallest signal stack, a stack that is used up" {
	for flags in '' -finstrument-functions; do
		build corners -w -O1 $flags
		for padding in 0 1008; do
			export PADDING=$(head -c $padding /dev/zero | tr '\0' x)
			./corners >bare.out
			for stacks in unwind auto; do
				timeout 60 fxtrun --heap=objects --heap-stacks=$stacks --no-perfetto-heap -o trace.fxt ./corners >traced.out
				diff bare.out traced.out
				fxt check trace.fxt
				diff <(printf '50001 freed\n50002 freed\n50002 freed\n50003 freed\n') <(ends trace.fxt 50000 50004)
			done
		done
	done
}

# Such a library calls libc's own allocator, past all preloaded ones. A block that the host
# allocated and it frees seems to stay live, until another block is known at its address; a
# block that it allocated and the host frees is freed without a block.
@test "a library opened with RTLD_DEEPBIND frees blocks of its host, and the other way round" {
	build deepbind -w
	build deepbind -w -DPLUGIN -fPIC -shared -o plugin.so
	./deepbind ./plugin.so >bare.out
	for heap in objects sampled:64 counters; do
		traced --heap=$heap -- ./deepbind ./plugin.so
		diff bare.out traced.out
	done
	traced --heap=objects -- ./deepbind ./plugin.so
	[ "$(ends trace.fxt 60000 60002 | wc -l)" = 1000 ]
	[ "$(fxt heap --json trace.fxt | grep -Eo '"(unknown_)?frees": [0-9]+' | awk '{ n += $2 } END { print n }')" -ge 1000 ]
}

# libc's checking allocator has malloc() in no default version.
@test "MALLOC_CHECK_, mcheck and mtrace: programs abort as without fxt, and libc logs the same allocations" {
	build checked -w -O0
	build checked -w -O0 -lmcheck && mv checked mchecked && build checked -w -O0
	ls /lib/*/libc_malloc_debug.so.0 /lib64/libc_malloc_debug.so.0 2>/dev/null | grep -q . || skip "libc has no libc_malloc_debug.so.0"
	export LD_PRELOAD=libc_malloc_debug.so.0
	for program in "env MALLOC_CHECK_=3 ./checked" ./mchecked; do
		for heap in off objects counters; do
			run $program
			bare=$status
			[ "$bare" = 134 ]
			run timeout 60 fxtrun --heap=$heap -o trace.fxt $program
			[ "$status" = "$bare" ]
			[[ "$output" != *'not noticed'* ]]
		done
	done
	# Addresses and callers are others; operations and sizes are the same.
	operations()
	{
		grep -oE ' [-+<>] 0x[0-9a-f]+( 0x[0-9a-f]+)?$' "$1" | awk '{ print $1, $3 }'
	}
	MALLOC_TRACE=bare.mtrace ./checked mtrace
	timeout 60 fxtrun --heap=objects -o trace.fxt env MALLOC_TRACE=traced.mtrace ./checked mtrace
	[ "$(operations bare.mtrace | wc -l)" -ge 8 ]
	diff <(operations bare.mtrace) <(operations traced.mtrace)
}

@test "a preloaded library that passes allocations on sees as many calls of each function as without fxt, and each block is recorded once" {
	build counted -w -DLIBRARY -fPIC -shared -o counted.so -ldl
	build counted -w
	export LD_PRELOAD=$PWD/counted.so
	./counted >bare.out
	for heap in objects off; do
		traced --heap=$heap -- ./counted
		diff bare.out traced.out
	done
	traced --heap=objects -- ./counted
	[ "$(ends trace.fxt 59999 62000)" = "$(printf '%s freed\n' 60000 60600 61200)" ]
	[ "$(ends trace.fxt 69999 70002)" = "$(printf '%s freed\n' 70000 70000 70001 70001)" ]
}

# path_of_dive DEPTH: "innermost: N, outermost: N, left out: N" of the path of the block,
# and what it begins and ends with.
path_of_dive()
{
	traced --heap=objects -- ./deep "$1" >/dev/null
	fxt heap --folded --cost=allocated trace.fxt | grep dive | sed 's/ [0-9]*$//' | awk -F';' '{
		for (i = 1; i <= NF; i++) if ($i == "(functions left out)") { at = i; left_out++ }
		print NF, at - 1, left_out, $1 == "_start" || $1 == "main", $NF }'
}

@test "a call path too deep to be shown has its innermost and its outermost functions, and says that others are missing" {
	build deep -w
	[ "$(path_of_dive 100)" = "$((100 + 5)) -1  1 allocate" ]
	[ "$(path_of_dive 5000)" = '256 63 1 1 allocate' ]
	# Beyond the length of a walk the outermost ones are missing too.
	[ "$(path_of_dive 100000)" = '256 63 2 0 allocate' ]
	build deep -w -finstrument-functions
	[ "$(path_of_dive 4000)" = '4002 -1  1 allocate' ]
	[ "$(path_of_dive 10000)" = '4096 63 1 1 allocate' ]
	fxt check trace.fxt
}

@test "other entry points of jemalloc, mimalloc and tcmalloc are recorded; a program without these libraries finds none" {
	build extensions -w
	for library in '' libjemalloc.so.2 libmimalloc.so libtcmalloc_minimal.so.4; do
		[ -z "$library" ] || has_library "$library" || continue
		LD_PRELOAD=$library ./extensions >bare.out
		LD_PRELOAD=$library traced --heap=objects -- ./extensions
		diff bare.out traced.out
		[ "$(cat bare.out)" = "$([ -z "$library" ] && echo 0 || echo 3) found" ]
		ends trace.fxt 60999 63001 | sort | uniq -c | awk '{ print $1, $2, $3 }' >seen
		if [ -n "$library" ]; then
			diff <(printf '1000 %s freed\n' 61000 62000 63000) seen
			fxt heap --json trace.fxt | jq -e '[.processes[].unknown_frees] | add == 0' >json
		fi
	done
}

# unrecorded REASON PROGRAM: behaves as without fxt, with one notice that gives the reason,
# and no block.
unrecorded()
{
	local status=0

	timeout 100 fxtrun --heap=objects -o trace.fxt "$2" >traced.out 2>traced.err || status=$?
	[ "$status" = 3 ]
	[ "$(cat traced.out)" = fine ]
	[ "$(grep -c '^fxt: ' traced.err)" = 1 ]
	grep -x "fxt: the program's heap is not recorded: .*$1.*" traced.err
	[ -z "$(heapdecode blocks trace.fxt)" ]
}

@test "programs with sanitizers run, the heap is the sanitizer's" {
	printf '%s\n' '#include <stdio.h>' '#include <stdlib.h>' \
		'int main(void) { void *volatile p = malloc(100); free(p); puts("fine"); return 3; }' >fine.c
	for sanitizer in address thread leak; do
		${CC:-cc} -w -g -fsanitize=$sanitizer -o fine fine.c
		unrecorded 'built with a sanitizer' ./fine
	done
	# It finds what it is there to find, in the operators of C++ too.
	printf '%s\n' 'int main() { char *volatile p = new char[10]; delete p; }' >mixed.cc
	${CXX:-c++} -w -g -fsanitize=address -o mixed mixed.cc
	run timeout 60 fxtrun --heap=objects -o trace.fxt ./mixed
	[ "$status" = 1 ]
	[[ "$output" == *'alloc-dealloc-mismatch (operator new [] vs operator delete)'* ]]
}

@test "valgrind replaces the allocator" {
	command -v valgrind >/dev/null || skip "valgrind is not installed"
	build script -w
	timeout 200 fxtrun --heap=objects -o trace.fxt valgrind -q --error-exitcode=9 ./script 1000 >traced.out 2>traced.err
	[ "$(wc -l <traced.out)" = 13 ]
	grep -x "fxt: the program's heap is not recorded: it runs under valgrind, which replaces the allocator" traced.err
}

@test "blocks that the C library keeps are no leaks, blocks that it hands out are: valgrind agrees" {
	command -v valgrind >/dev/null || skip "valgrind is not installed"
	export TZ=Europe/Berlin
	for flags in '' -finstrument-functions; do
		build keeps -w $flags
		timeout 100 valgrind --run-libc-freeres=no --leak-check=full --show-leak-kinds=all ./keeps >said 2>&1
		# valgrind cannot follow the loader's pointers into the middle of its blocks: those may be lost, it says.
		tr -d , <said | awk '/definitely lost:/ { lost = $4 " " $7 } /(possibly lost|still reachable):/ { kept += $7 }
			END { print lost, kept }' >expected
		traced --heap=objects -- ./keeps
		fxt heap --json trace.fxt | jq -r '.processes[] | "\(.leaked.bytes) \(.leaked.blocks) \(.kept.blocks)"' |
			diff expected -
		[ "$(cut -d ' ' -f 2 expected)" = 7 ]
		fxt heap trace.fxt | grep -E '^kept +[0-9]+ bytes +[0-9]+ blocks, by the C library$'
		fxt heap --cost=kept -n 100 trace.fxt | grep -qx '.* _IO_file_doallocate'
		[ "$(fxt sql --csv "SELECT count(*) FROM objects WHERE fate = 'kept'" trace.fxt | tail -n 1)" = \
			"rows,$(cut -d ' ' -f 3 expected)" ]
	done
}

@test "what the C++ library keeps for itself is no leak of the program: valgrind agrees" {
	command -v valgrind >/dev/null || skip "valgrind is not installed"
	printf '%s\n' '#include <string>' '#include <stdlib.h>' \
		'int main() { std::string text(100, 0); static void *volatile leak; leak = malloc(1234); leak = 0; return (int)text.size() - 100; }' >leaks.cc
	for flags in '' -static-libstdc++; do
		# shellcheck disable=SC2086
		g++ -O0 -g -w $flags -finstrument-functions -o leaks leaks.cc
		timeout 100 valgrind --run-libc-freeres=no --run-cxx-freeres=no --leak-check=full --show-leak-kinds=all ./leaks >said 2>&1
		tr -d , <said | awk '/definitely lost:/ { lost = $4 " " $7 } /still reachable:/ { kept = $4 " " $7 }
			END { print lost, kept }' >expected
		traced --heap=objects -- ./leaks
		fxt heap --json trace.fxt | jq -r '.processes[] | "\(.leaked.bytes) \(.leaked.blocks) \(.kept.bytes) \(.kept.blocks)"' |
			diff expected -
		grep -x '1234 1 7[0-9]* 1' expected
		fxt heap trace.fxt | grep -E '^kept +7[0-9]+ bytes +1 block, by the C library$'
	done
}

@test "libraries that come and go at one address: paths name those that were there" {
	for flags in '' -finstrument-functions; do
		build alternate -w -ldl
		build alternate -w $flags -fPIC -shared -DNAME=red -DBYTES=7001 -o red.so
		build alternate -w $flags -fPIC -shared -DNAME=green -DBYTES=7002 -o green.so
		traced --heap=objects -- ./alternate ./red.so ./green.so
		[ "$(cat traced.out)" = 1 ]
		heapdecode blocks trace.fxt | awk -F'\t' '$2 == 7001 || $2 == 7002 { sub(/.*allocate;/, "", $4); print $2, $3, $4 }' |
			sort | uniq -c | sed 's/^ *//' >found
		diff found <(printf '10 7001 red red\n10 7002 green green\n')
	done
}

@test "a forked child frees its parent's blocks: they are said to be of the process that forked it" {
	cat >frees.c <<-'END'
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static void *volatile blocks[7];
		int main(void)
		{
			for (int i = 0; i < 7; i++)
				blocks[i] = malloc(100);
			if (fork() == 0) {
				for (int i = 0; i < 7; i++)
					free(blocks[i]);
				_exit(0);
			}
			wait(NULL);
			return 0;
		}
	END
	cc -finstrument-functions -O0 -o frees frees.c
	fxtrun --heap=objects -o trace.fxt ./frees
	fxt heap trace.fxt | grep -x '7 frees of blocks from before the recording, or of the process that forked it'
}

@test "threads that come and go: nothing is freed that was not allocated, and the counters never fall below nothing" {
	build threads -pthread
	for stacks in auto unwind; do
		fxtrun --heap=objects --heap-stacks=$stacks -o trace.fxt ./threads
		fxt check trace.fxt
		fxt heap trace.fxt | grep -c 'of blocks from before the recording' | grep -x 0
		fxt dump trace.fxt | grep -o 'live [a-z]*=int64:-*[0-9]*' >counters
		[ -s counters ]
		[ "$(grep -c ':-' counters)" = 0 ]
	done
}

@test "blocks from before the recording and from before a fork: the counters are what lives, and never below nothing" {
	for heap in objects sampled:4096 counters auto; do
		build late $([ $heap = auto ] && echo -finstrument-functions)
		timeout 100 fxtrun -o trace.fxt --session=late --start=paused --heap=$heap -- ./late 'fxtctl --session=late start >&2' \
			'fxtctl --session=late stop >&2' >own
		fxt check trace.fxt
		heapdecode live trace.fxt >live
		# The first three ended while nothing was recorded; the shells have heaps of
		# their own.
		tail -n +4 own | sort >expected
		awk 'NR == FNR { own[$1]; next } $1 in own { print $1, $2, $3 }' expected live | sort | diff expected -
		[ "$(awk '$4 < 0 || $5 < 0' live)" = "" ]
	done
}

@test "several threads fork at once: each child begins with what lived when it was forked" {
	cc -O2 -g -fPIC -shared -pthread -o forks.so "$root/tests/programs/heap/forks.c"
	echo 'int run(void); int main(void) { return run(); }' | cc -o forks -xc - -xnone ./forks.so
	for heap in objects counters; do
		fxtrun -o trace.fxt --heap=$heap ./forks >pids
		fxt check trace.fxt
		heapdecode live trace.fxt | awk 'NR == FNR { children[$1]; next } $1 in children { print $2, $3 }' pids - >live
		[ "$(wc -l <live)" = 2 ]
		[ "$(sort -u live | wc -l)" = 1 ] || { cat live && false; }
		awk '$1 < 12345 || $1 > 900000 { exit 1 }' live
	done
}

@test "without the category nothing is counted; a start that adds it records the heap without counters of live bytes" {
	build late
	for heap in objects counters; do
		timeout 100 fxtrun -o trace.fxt --session=late --start=paused --categories=function --heap=$heap -- ./late \
			'fxtctl --session=late start --categories=heap >&2' 'fxtctl --session=late stop >&2' >own
		fxt check trace.fxt
		heapdecode live trace.fxt >live # of the shells, which began later
		[ -s live ]
		[ -z "$(awk 'NR == FNR { own[$1]; next } $1 in own' own live)" ]
		# The first run freed 200 of the earlier blocks, and the second at least
		# 400.
		[ $heap = counters ] || fxt heap --json trace.fxt | jq -e '[.processes[].unknown_frees] | add >= 600'
	done
}
