#!/usr/bin/env bats
# XRay sleds: functions of programs that clang built with -fxray-instrument. The truth is what the program counted itself,
# its output without us, and its code as it sees it.

load helpers
load steps

sleds="-fxray-instrument -fxray-instruction-threshold=1"

setup_file()
{
	local programs=$BATS_TEST_DIRNAME/../programs/filters

	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir sockets
	{
		echo "[never]"
		printf 'fun:%s\n' main first_byte caller behind_caller step memchr handle call_all settle fork_one load_one run
	} >never
	has_sleds || return 0
	# shellcheck disable=SC2086
	for way in O1 O2; do
		clang -$way -g -w $sleds -fxray-attr-list=never -fnoxray-link-deps -pthread -rdynamic -o $way \
			"$programs/patched.c" -ldl
	done
	# shellcheck disable=SC2086
	clang -O2 -g -fPIC -shared $sleds -fnoxray-link-deps -o plugged.so "$programs/plugged.c"
}

has_sleds()
{
	[ "$(uname -m)" = x86_64 ] && echo 'int main(void) { return 0; }' |
		clang -x c - -fxray-instrument -fnoxray-link-deps -o /dev/null 2>/dev/null
}

needs_sleds()
{
	[ "$(uname -m)" = x86_64 ] || skip "not on this machine"
	has_sleds || skip "clang is missing, or has no XRay"
}

# built NAME SOURCE OPTION...: tests/programs/SOURCE with sleds, as ./NAME. Functions without sleds are in the file never.
built()
{
	local compiler=clang

	[[ $2 != *.cc ]] || compiler=clang++
	# shellcheck disable=SC2086
	$compiler -g -w -D_GNU_SOURCE $sleds -fnoxray-link-deps -pthread -o "$1" "$root/tests/programs/$2" "${@:3}"
}

without_sleds()
{
	echo "-fxray-attr-list=$BATS_FILE_TMPDIR/never"
}

# counts TRACE: NAME CALLS, a line a function, by the independent decoder
counts()
{
	calls_by_name "$1" | tr '\t' ' '
}

# changes PROGRAM COUNT ARGUMENT...: record_under_changes() of patched.py.
changes()
{
	timeout 300 python3 - "$BATS_FILE_TMPDIR/$1" "${@:2}" <<-'END'
		import patched
		import sys
		patched.record_under_changes(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
	END
}

@test "four threads call while sleds are taken out and put back: functions that are never excluded are exact, and no call lacks its exit" {
	needs_sleds
	changes O2 300 4
}

@test "the same with handlers" {
	needs_sleds
	changes O1 300 4 signals
}

@test "the same in forked children, whose calls are theirs alone" {
	needs_sleds
	changes O2 200 3 forks
}

@test "the same while a library is loaded and unloaded" {
	needs_sleds
	changes O2 200 3 plugin "$BATS_FILE_TMPDIR/plugged.so"
}

@test "all of that at once" {
	needs_sleds
	changes O1 200 2 signals forks plugin "$BATS_FILE_TMPDIR/plugged.so"
}

@test "threads call while recording stops and starts: every call has its exit, and results are right" {
	needs_sleds
	timeout 300 python3 - "$BATS_FILE_TMPDIR/O2" <<-'END'
		from control import *
		import sys
		session = Session(["--heap=off", "-o", "x.fxt"], sys.argv[1], "4", "signals")
		for _ in range(100):
		    assert "provider_stats" in session.client.call("StopTracing")
		    assert session.client.call("StartTracing") == {}
		printed, errors = session.process.communicate(timeout=100)
		assert session.process.returncode == 0 and " 0 lost," in errors, errors
		made = {name: int(number) for name, number in map(str.split, printed.splitlines())}
		recorded = collections.Counter()
		for (_, name), number in calls("x.fxt").items():
		    recorded[name] += number
		for name in "kept", "kept_tail", "deep":
		    assert 0 < recorded[name] <= made[name], (name, recorded[name], made[name])
	END
	fxt check x.fxt
}

@test "every way to leave calls comes out as it does bare: exceptions, jumps, ends of threads, contexts, handlers" {
	needs_sleds
	for options in -O0 -O2 "-O2 -static-libgcc -static-libstdc++" "-O2 -fcf-protection=full" "-O2 -no-pie"; do
		# shellcheck disable=SC2086
		built program prepared/leaving.cc $options
		./program >bare
		fxtrun --heap=off -o x.fxt ./program >traced
		cmp bare traced
		fxt check x.fxt
	done
}

@test "hooks and sleds tell of the same calls, where nothing is inlined" {
	needs_sleds
	built sleds prepared/leaving.cc -O0
	clang++ -O0 -g -w -finstrument-functions -pthread -o hooks "$root/tests/programs/prepared/leaving.cc"
	for kind in sleds hooks; do
		fxtrun --heap=off -o $kind.fxt ./$kind
		counts $kind.fxt | grep -v "^handle(int)\|^in_handler(int)" >$kind.counts
	done
	[ "$(wc -l <sleds.counts)" -gt 20 ]
	diff sleds.counts hooks.counts
}

# Prints NAME COUNT of its functions: calls in four threads, recursion, exceptions, and tail calls, also conditional ones.
counted_program()
{
	cat >counted.cc <<-'END'
		#include <atomic>
		#include <cstdio>
		#include <thread>
		#include <vector>
		#define CALLED extern "C" __attribute__((noinline))
		enum { LEAF, TAIL, FORKED, DEEP, THROWS, CATCHES, FUNCTIONS };
		static const char *const names[] = {"leaf", "tail", "forked", "deep", "throws", "catches"};
		static std::atomic<long> made[FUNCTIONS];
		CALLED int leaf(int x) { made[LEAF]++; return x + 1; }
		CALLED int tail(int x) { made[TAIL]++; return leaf(x * 2); }
		CALLED int forked(int x) { made[FORKED]++; if (x < 5) return leaf(x); if (x == 7) return tail(x); return x; }
		CALLED int deep(int n) { made[DEEP]++; int r = n ? deep(n - 1) : 0; __asm__ volatile(""); return r + 1; }
		CALLED void throws(int x) { made[THROWS]++; if (x % 2) throw x; deep(3); }
		CALLED int catches(int x) { made[CATCHES]++; try { throws(x); } catch (int) { return leaf(x); } return 0; }
		static void work() { for (int i = 0; i < 300; i++) { tail(i); forked(i % 10); deep(i % 20); catches(i); } }
		int main()
		{
			std::vector<std::thread> threads;
			for (int i = 0; i < 4; i++) threads.emplace_back(work);
			for (auto &thread : threads) thread.join();
			for (int i = 0; i < FUNCTIONS; i++) printf("%s %ld\n", names[i], made[i].load());
		}
	END
	# shellcheck disable=SC2086
	clang++ -g -w $sleds -pthread -o "$1" counted.cc "${@:2}"
}

@test "the trace has as many calls as the program counted, with clang's runtime and without: threads, recursion, exceptions, tail calls" {
	needs_sleds
	for options in "-O2 -fnoxray-link-deps" "-Os -fnoxray-link-deps" "-O1 -fnoxray-link-deps -no-pie" "-O2"; do
		# shellcheck disable=SC2086
		counted_program counted $options 2>/dev/null || continue # no runtime is installed
		fxtrun --heap=off -o x.fxt ./counted | sort >made
		[ "$(wc -l <made)" = 6 ]
		counts x.fxt | grep -E "^(leaf|tail|forked|deep|throws|catches) " | diff - made
	done
}

@test "a function that calls its like in its last step ends before the other begins" {
	needs_sleds
	counted_program counted -O2 -fnoxray-link-deps
	fxtrun --heap=off -o x.fxt ./counted >/dev/null
	fxt dump x.fxt | grep -F 'name="tail"' >tails
	[ "$(wc -l <tails)" -gt 1000 ]
	[ "$(grep -c abandoned tails)" = 0 ]
	# Each caller with each of its callees
	fxt tree --csv --fold=0 x.fxt | awk -F, '$1 == "tree" { name[$8] = $7; if ($8) print name[$8 - 1], $7 }' >pairs
	grep '"deep" "deep"' pairs
	# The C++ library's exceptions may wait for each other in pthread_once().
	[ "$(grep -cE '^"(tail|throws)" "(leaf|tail|forked|deep|throws|catches)"' pairs)" = 0 ]
}

@test "arguments, results and kept values survive in all registers" {
	needs_sleds
	for options in -O0 -O2 -O3; do
		built program prepared/registers.c $options
		./program >bare
		fxtrun --heap=off -o x.fxt ./program >traced
		cmp bare traced
		[ "$(counts x.fxt | grep -c with_many)" = 8 ]
	done
}

@test "an unwinder finds the callers at every instruction of a recorded call" {
	needs_sleds
	for options in -O0 -O2; do
		built program prepared/stepped.c $options "$(without_sleds)"
		fxtrun --heap=off -o x.fxt ./program >traced
		./program >bare
		[ "$(head -1 bare)" = "$(head -1 traced)" ]
		grep "^0 lost, " traced
		[ "$(sed -n 's/^0 lost, \(.*\) .*/\1/p' traced)" -gt 1000 ]
	done
}

@test "hooks, prepared entries and sleds in one program: each file's calls by its own, and once where a file has both" {
	needs_sleds
	cat >one.c <<-'END'
		int other(int x);
		__attribute__((noinline)) int inner(int x) { __asm__ volatile(""); return x + 1; }
		__attribute__((noinline)) int outer(int x) { int r = other(x); __asm__ volatile(""); return r + 1; }
		int main(void) { int s = 0; for (int i = 0; i < 100; i++) s += outer(i); return s != 5150; }
	END
	cat >two.c <<-'END'
		int inner(int x);
		int other(int x) { int r = inner(x); __asm__ volatile(""); return r; }
	END
	for one in "$sleds" "$sleds -finstrument-functions"; do
		for two in -finstrument-functions -fpatchable-function-entry=5 "$sleds"; do
			# shellcheck disable=SC2086
			clang -O2 -g $one -c one.c
			# shellcheck disable=SC2086
			clang -O2 -g $two -c two.c
			clang -o program one.o two.o
			fxtrun --heap=off -o x.fxt ./program
			[ "$(counts x.fxt)" = "$(printf '%s\n' "inner 100" "main 1" "other 100" "outer 100")" ]
		done
	done
}

@test "a library that is loaded later is recorded, also without an unwind table" {
	needs_sleds
	cat >library.c <<-'END'
		__attribute__((noinline)) int inner(int x) { __asm__ volatile(""); return x + 1; }
		int outer(int x) { int r = inner(x); __asm__ volatile(""); return r + 1; }
	END
	cat >program.c <<-'END'
		#include <dlfcn.h>
		int main(void)
		{
			int (*outer)(int) = (int (*)(int))dlsym(dlopen("./library.so", RTLD_NOW), "outer"), sum = 0;
			for (int i = 0; i < 10; i++) sum += outer(i);
			return sum != 65;
		}
	END
	cc -o program program.c -ldl
	for options in "" "-fno-asynchronous-unwind-tables -Wl,--no-eh-frame-hdr"; do
		# shellcheck disable=SC2086
		clang -O2 -g -fPIC -shared $sleds -fnoxray-link-deps $options -o library.so library.c
		fxtrun --heap=off -o x.fxt ./program
		[ "$(counts x.fxt)" = "$(printf '%s\n' "inner 10" "outer 10")" ]
	done
}

@test "sleds lead to us only while their calls are recorded" {
	needs_sleds
	built program prepared/told.c -O2 "$(without_sleds)"
	timeout 300 python3 -c 'import sys, patched; patched.follow_filters(*sys.argv[1:])' \
		"$PWD/program" leaf kept e8 eb 3>/dev/null
}

@test "no exits, sleds of clang's own runtime, and --no-patch: nothing of the program changes, and that is said" {
	needs_sleds
	built program prepared/told.c -O2 "$(without_sleds)"
	printf '\n' | fxtrun --no-patch -o x.fxt ./program 2>errors >printed
	grep "10 leaf eb kept eb" printed
	grep "^fxt: XRay sleds (-fxray-instrument) are not recorded: --no-patch" errors
	printf '\n' | XRAY_OPTIONS=patch_premain=true fxtrun -o x.fxt ./program 2>errors >printed
	grep "10 leaf eb kept eb" printed
	grep "^fxt: XRay sleds (-fxray-instrument) are not recorded: XRAY_OPTIONS" errors
	built program prepared/told.c -O2 "$(without_sleds)" -fxray-instrumentation-bundle=function-entry
	printf '\n' | fxtrun -o x.fxt ./program 2>errors >printed
	grep "10 leaf eb kept eb" printed
	grep "^fxt: XRay sleds (-fxray-instrument) of the program are not recorded: no function has one at its end" errors
}

@test "call paths of the heap go through recorded calls, from the shadow stack and by walks" {
	needs_sleds
	cat >program.c <<-'END'
		#include <stdlib.h>
		__attribute__((noinline)) void *gets_it(int n) { void *p = malloc((size_t)n); __asm__ volatile(""); return p; }
		__attribute__((noinline)) void *passes_on(int n) { __asm__ volatile(""); return malloc((size_t)n); }
		__attribute__((noinline)) void works(void) { free(gets_it(100)); void *p = passes_on(50); __asm__ volatile(""); free(p); }
		int main(void) { works(); return 0; }
	END
	# shellcheck disable=SC2086
	clang -O2 -g $sleds -fnoxray-link-deps -o program program.c
	fxtrun --heap=objects --heap-stacks=unwind -o x.fxt ./program
	fxt heap x.fxt | tr -s ' \n' ' ' | grep "gets_it works main __libc_start"
	fxtrun --heap=objects --heap-stacks=shadow -o x.fxt ./program
	fxt heap x.fxt | tr -s ' \n' ' ' | grep "gets_it works main"
}
