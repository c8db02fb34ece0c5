#!/usr/bin/env bats
# Arguments and return values of calls (fxtrun --args, --returns). The truth is what the program prints of each call.

load helpers

sources=$BATS_TEST_DIRNAME/../programs/call_arguments

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	[ "$(uname -m)" = x86_64 ] || skip "not on this machine"
	needs_copies
}

# with BY SOURCE OPTION...: compiles tests/programs/call_arguments/SOURCE as ./program
with()
{
	local by=$1 source=$2

	shift 2
	"$by" -g -w -D_GNU_SOURCE -pthread "$@" -o program "$sources/$source"
}

# recorded OPTION...: runs ./program, what it prints goes to `truth`
recorded()
{
	fxtrun --heap=off -o x.fxt "$@" ./program 3>truth 2>errors
	grep " 0 lost," errors
	fxt check x.fxt
}

# arguments [TRACE]: each call with its arguments, as fxt dump prints them
arguments()
{
	fxt dump "${1:-x.fxt}" | sed -n 's/.*duration-complete .* category="function" name=//p'
}

entries=-fpatchable-function-entry=5
chosen='add,narrow,greet,mix,halve,paint,many,spread,make,give,nothing'
places=locate:s.x,locate:s.y,locate:s.id,locate:s.is_set,locate:s.weight,locate:n.kind,locate:n.color
members=$places,'locate:n.request->path,locate:p.second,locate:last.first,handle:r->path,handle:r->inner.name,handle:r->inner.weight,handle:r->color,handle:r->next->id'

@test "arguments and results are those that the program prints: each type, from either compiler, with and without optimization" {
	for by in gcc clang; do
		for level in -O0 -O2; do
			with $by values.c $level $entries
			recorded --args="$chosen,$members" --returns="$chosen,handle,locate"
			diff truth <(arguments | grep -v -e '^"main"' -e '^"say"')
		done
	done
}

@test "arguments are those that gdb sees at each function's first instruction" {
	local by

	command -v gdb >/dev/null && gdb -nx -batch -ex "python 1" >python 2>&1 && [ ! -s python ] || skip "no gdb with Python"
	for by in gcc clang; do
		with $by values.c -O2
		PERCENT=100 "$root/tests/arguments-gdb" "$build" ./program 3>truth >compared
		grep -E "^program: 1[0-9] functions, [23][0-9] values known to gdb: [0-9]+ equal" compared
	done
}

@test "arguments of a program as it is: --patch" {
	with gcc values.c -O1
	recorded --patch --args="$chosen,$members" --returns="$chosen,handle,locate"
	diff truth <(arguments | grep -v -e '^"main"' -e '^"say"' -e '^"_')
}

@test "threads, handlers, forked children, jumps and recursion: each call has its own arguments" {
	for by in gcc clang; do
		with $by life.c -O2 $entries
		recorded --args='count,deep,leave,last,first,handled' --returns='count,deep,last,first'
		diff <(sort truth) <(arguments | grep -e '^"count"' -e '^"deep"' -e '^"leave"' -e '^"last"' -e '^"handled"' | sort)
		# A tail call's result is its callee's, which returns later.
		diff <(printf '"first" {value=int32:%d, return="?"}\n' 0 1 2 3) <(arguments | grep '^"first"' | sort)
	done
}

@test "arguments with filters: short calls are left out, the others have theirs" {
	with gcc life.c -O2 $entries
	recorded --min-duration=1ns --args='count,deep' --returns='count,deep'
	diff <(grep -e '^"count"' -e '^"deep"' truth | sort) <(arguments | grep -e '^"count"' -e '^"deep"' | sort)
	recorded --exclude=deep --args='count,deep' --returns='count,deep'
	diff <(grep '^"count"' truth | sort) <(arguments | grep '^"count"' | sort)
	[ "$(arguments | grep -c '^"deep"')" = 0 ]
	recorded --only=deep --depth=2 --args='deep'
	[ "$(arguments | grep -c '^"deep" {left=')" -gt 0 ]
}

@test "texts of hostile length and address do no harm, and are cut or \"?\"" {
	with gcc hostile.c -O1 $entries
	recorded --args='text,list:n->next->text,list:n->text'
	x=$(printf '%120s' '' | tr ' ' x)
	y=$(printf '%119s' '' | tr ' ' y)
	cat >expected <<-EOF
		"text" {s="$x..."}
		"text" {s="?"}
		"text" {s="?"}
		"text" {s="?"}
		"text" {s="?"}
		"text" {s="?"}
		"text" {s="a\\\\xffb\\\\xc0\\\\x80c\\"\\\\\\n"}
		"text" {s="$y..."}
		"list" {n->next->text="?", n->text="?"}
		"list" {n->next->text="?", n->text="$y..."}
		"list" {n->next->text="?", n->text="?"}
	EOF
	diff expected <(arguments | grep -v '^"main"')
	fxt report --where 'n->next->text=?' x.fxt >report
	grep -E '^ +3 .* list$' report
}

@test "C++: methods, references, std::string, exceptions" {
	for by in g++ clang++; do
		with $by objects.cc -O1 -std=c++17 $entries
		recorded --args='shop::*,*shop::add*' --returns='shop::*,*shop::add*'
		diff truth <(arguments | grep -e '^"shop::' -e ' shop::' | sed 's/\[abi:cxx11\]//')
	done
}

@test "by hand, as for uftrace, of a stripped program; the C library's functions need no debug information" {
	with gcc values.c -O1
	strip -g program
	recorded --patch --args='add@arg1/i32,arg2/i64,retval/i32;mix@fparg1/64,arg1/i32;give@arg1/x'
	diff <(sed -n 's/^"add" {a=\(.*\), b=\(.*\), return=\(.*\)}/"add" {arg1=\1, arg2=\2, retval=\3}/p' truth) <(arguments | grep '^"add"')
	diff <(sed -n 's/^"mix" {x=\(.*\), y.*, z=\(int32:3\).*/"mix" {fparg1=\1, arg1=\2}/p' truth) <(arguments | grep '^"mix"')
	diff <(sed -n 's/^"give" {p=\(.*\), return.*/"give" {arg1=\1}/p' truth) <(arguments | grep '^"give"')

	recorded --library-calls --args='mmap*,write,memcpy' --returns='mmap*,write'
	arguments | grep '"mmap[64]*" {address=pointer:0x0, length=uint64:8192, protection=int32:3, flags=int32:34, fd=int32:-1, offset=int64:0, return=pointer:0x'
	[ "$(arguments | grep -c '"write" {fd=int32:3, buffer=pointer:0x')" = "$(grep -c "" truth)" ]
}

@test "a value that --args and --returns cannot take is told" {
	for list in '' 'f,,g' 'f@' 'f@arg0' 'f@arg1/z' 'f@arg1/i12' 'f@fparg9' 'f@fparg1/8' 'f:'; do
		run fxtrun --args="$list" true
		[ "$status" = 125 ]
		[[ $output = "fxtrun: --args"* ]]
	done
	run fxtrun --returns='f:p->x' true
	[ "$status" = 125 ]
	[[ $output = "fxtrun: --returns"* ]]
}

@test "a local function whose result no caller uses: its result is right, or \"?\"" {
	local by

	cat >unused.c <<-'END'
		static volatile int kept;
		static __attribute__((noinline)) int unused(int a)
		{
			int product = a * 7;

			kept += product;
			kept %= 11;
			return product;
		}
		int main(void)
		{
			for (int i = 0; i < 100; i++)
				unused(5);
			return 0;
		}
	END
	for by in gcc clang; do
		$by -g -O2 $entries -o program unused.c
		recorded --returns='unused*'
		[ "$(arguments | grep -c '^"unused')" = 100 ]
		arguments | grep '^"unused' | fails grep -v -e 'return="?"' -e 'return=int32:35}'
	done
}

@test "by hand, arguments that a function does not have: the end of a small stack does no harm" {
	cat >small.c <<-'END'
		#include <sys/mman.h>
		#include <ucontext.h>
		static ucontext_t here, there;
		__attribute__((noinline)) void first(void)
		{
			__asm__ volatile("");
		}
		static void run(void)
		{
			first();
		}
		int main(void)
		{
			char *stack = mmap(0, 1 << 17, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			mprotect(stack + (1 << 16), 1 << 16, PROT_NONE);
			getcontext(&there);
			there.uc_stack.ss_sp = stack;
			there.uc_stack.ss_size = 1 << 16;
			there.uc_link = &here;
			makecontext(&there, run, 0);
			swapcontext(&here, &there);
			return 0;
		}
	END
	gcc -g -O1 $entries -o program small.c
	recorded --args='first@arg1/x64,arg70/x64'
	arguments | grep '^"first" {arg1=pointer:0x[0-9a-f]*, arg70="?"}'
}

@test "a pattern without a match is named at the end, with the name that it may mean" {
	with gcc values.c -O1 $entries
	recorded --args='gret,add,zzzzzzzzzz*' --returns=nothin
	grep -qx 'fxtrun: --args=gret matches no function of the programs; is it greet?' errors
	grep -qx 'fxtrun: --args=zzzzzzzzzz\* matches no function of the programs' errors
	grep -qx 'fxtrun: --returns=nothin matches no function of the programs; is it nothing?' errors
	[ "$(grep -c 'matches no' errors)" = 3 ]
	recorded --patch='program,zzzz*.so' --args=add
	[ "$(grep 'matches no' errors)" = 'fxtrun: --patch=zzzz*.so matches no module of the programs' ]
	# The types are known from debug information alone.
	strip --strip-debug program
	recorded --args=add
	[ "$(grep -c 'fxtrun: --args=add: no debug information has the types' errors)" = 1 ]
}

@test "arguments of functions that have no room for it are not recorded, and fxtrun says so" {
	with gcc values.c -O1 -finstrument-functions
	recorded --args=add,gret --returns=nothing
	[ "$(arguments | grep -c '^"add"$')" = 2 ]
	diff <(grep -e '--args' -e '--returns' errors) - <<-'END'
		fxtrun: --args=add: nothing is recorded of these functions' arguments: they need prepared entries (-fpatchable-function-entry=5) or --patch, and those of libraries --library-calls
		fxtrun: --args=gret matches no function of the programs; is it greet?
		fxtrun: --returns=nothing: nothing is recorded of these functions' arguments: they need prepared entries (-fpatchable-function-entry=5) or --patch, and those of libraries --library-calls
	END
	with gcc values.c -O1 $entries
	recorded --args=add
	fails grep 'nothing is recorded' errors
}
