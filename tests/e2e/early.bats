#!/usr/bin/env bats
# Code that runs before main(): constructors of libraries, .preinit_array, resolvers of
# indirect functions. The truth is in counters compiled into the libraries, and in those of
# an allocator that comes after the agent's.

load helpers
load heap

# library_built OPTION...: ./liblibrary.so and ./program, which needs it.
library_built()
{
	local source=$root/tests/programs/early

	${CC:-cc} -O2 -g -D_GNU_SOURCE -finstrument-functions -pthread -fPIC -shared -o liblibrary.so "$source/library.c" "$@"
	${CC:-cc} -O2 -g -D_GNU_SOURCE -finstrument-functions -o program "$source/program.c" -L. -llibrary -Wl,-rpath,"$PWD"
}

# calls_counted TRACE OUTPUT: the calls in the trace are those that the library counted.
calls_counted()
{
	calls_by_name "$1" | grep '^early_' | diff <(grep '^early_' "$2" | sort) -
}

# heap_counted TRACE OUTPUT: the same for the blocks, which have 50,000 bytes and more.
heap_counted()
{
	heapdecode blocks "$1" | awk -F'\t' '$2 >= 50000 && $2 < 50100 { n++; bytes += $2; kept += $6 == "" }
		END { print n + 0, bytes + 0, kept + 0 }' | diff <(echo "$(grep '^100 ' "$2") 50") -
}

@test "a library's constructor: every call and every block is recorded, by fxtrun and by LD_PRELOAD alone" {
	library_built
	for heap in auto objects off; do
		for bind in '' 1; do
			echo "# --heap=$heap, LD_BIND_NOW=$bind"
			export LD_BIND_NOW=$bind
			options=--heap=$heap
			same_as_bare "$PWD/program"
			grep ' 0 lost' traced.err
			fxt check trace.fxt
			calls_counted trace.fxt traced.out
			[ $heap = off ] || heap_counted trace.fxt traced.out
			rm -f alone.fxt
			FXT_HEAP=$heap FXT_OUTPUT=$PWD/alone.fxt LD_PRELOAD=$build/libfxtagent.so ./program >alone.out
			fxt check alone.fxt
			calls_counted alone.fxt alone.out
			[ $heap = off ] || heap_counted alone.fxt alone.out
		done
	done
}

@test "constructors that fork, create threads, open a plugin, change or clear the environment, or exit" {
	library_built
	${CC:-cc} -O2 -g -finstrument-functions -fPIC -shared -o opened.so -x c - <<<'void opened(void) { }
		__attribute__((constructor, no_instrument_function)) static void open_it(void) { opened(); opened(); }'
	for how in fork thread open setenv clearenv exit 'fork thread open setenv exit' 'thread clearenv fork'; do
		echo "# $how"
		export EARLY=$how
		same_as_bare "$PWD/program"
		grep ' 0 lost' traced.err
		fxt check trace.fxt
		calls_counted trace.fxt traced.out
		heap_counted trace.fxt traced.out
		[[ $how != *open* ]] || [ "$(calls_of trace.fxt opened)" = 2 ]
	done
}

@test "another library has the first place: the agent begins with the first call or the first block" {
	library_built
	for does in 'first_call(); first_call();' 'block = malloc(12345); first_call(); first_call();'; do
		${CC:-cc} -O2 -g -finstrument-functions -fPIC -shared -Wl,-z,initfirst -o first.so -x c - <<-END
			#include <stdlib.h>
			static void *volatile block;
			void first_call(void) { __asm__ volatile(""); }
			__attribute__((constructor, no_instrument_function)) static void construct(void) { $does }
		END
		export LD_PRELOAD=$PWD/first.so
		same_as_bare "$PWD/program"
		grep ' 0 lost' traced.err
		calls_counted trace.fxt traced.out
		heap_counted trace.fxt traced.out
		[ "$(calls_of trace.fxt first_call)" = 2 ]
		[[ $does != *12345* ]] || [ "$(heapdecode blocks trace.fxt | cut -f 2 | grep -c '^12345$')" = 1 ]
		FXT_OUTPUT=$PWD/alone.fxt LD_PRELOAD=$build/libfxtagent.so:$PWD/first.so ./program >alone.out
		calls_counted alone.fxt alone.out
		[ "$(calls_of alone.fxt first_call)" = 2 ]
		unset LD_PRELOAD
		rm alone.fxt
	done
}

@test "every block of a C++ program is recorded, those of the C++ library's constructors too, with an allocator that comes later" {
	${CC:-cc} -O2 -D_GNU_SOURCE -fPIC -shared -o counter.so "$root/tests/programs/early/counter.c"
	cat >blocks.cc <<-'END'
		#include <string>
		#include <vector>
		static std::vector<std::string> table(100, std::string(1000, 'x'));
		int main() { table.push_back("y"); return (int)table.size() - 101; }
	END
	${CXX:-c++} -O2 -g -finstrument-functions -o blocks blocks.cc
	mkdir counted
	export COUNTED=$PWD/counted LD_PRELOAD=$PWD/counter.so
	for heap in auto objects; do
		fxtrun --heap=$heap --heap-stacks=shadow -o trace.fxt ./blocks
		heapdecode blocks trace.fxt | cut -f 2 | sort -n | diff <(sort -n counted/blocks) -
		[ "$(grep -c '^1001$' counted/blocks)" -gt 100 ]
	done
}

@test "calls of resolvers, while the loader relocates, are counted as lost; those of .preinit_array are recorded" {
	${CC:-cc} -O2 -g -finstrument-functions -o program "$root/tests/programs/faults/early.c"
	for bind in '' 1; do
		LD_BIND_NOW=$bind fxtrun -o trace.fxt ./program 2>said
		grep ', 2 lost' said
		[ "$(calls_of trace.fxt before_all)" = 1 ]
		[ "$(calls_of trace.fxt too_early)" = 1 ]
		[ "$(calls_of trace.fxt resolve)" = 0 ]
	done
	# A library that is relocated before the agent is.
	library_built -DRESOLVES -fno-plt
	for bind in '' 1; do
		LD_BIND_NOW=$bind fxtrun -o trace.fxt ./program >out 2>said
		[ "$(grep -P '^early_step\t' out)" = $'early_step\t1002' ]
		grep ', 2 lost' said
		[ "$(calls_of trace.fxt early_step)" = 1000 ]
		heap_counted trace.fxt out
	done
}
