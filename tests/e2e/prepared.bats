#!/usr/bin/env bats
# Prepared entries: functions of programs that are built with -fpatchable-function-entry. The truth is what the program
# counted itself, its output without us, and its code as it sees it.

load helpers
load steps

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir sockets
	patched_programs -fpatchable-function-entry=5
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

@test "four threads call while entries are taken out and put back: functions that are never excluded are exact, gcc" {
	changes gcc 300 4
}

@test "the same with handlers, clang" {
	changes clang 300 4 signals
}

@test "the same in forked children, whose calls are theirs alone" {
	changes gcc 200 3 forks
}

@test "the same while a library is loaded and unloaded" {
	changes gcc 200 3 plugin "$BATS_FILE_TMPDIR/plugged.so"
}

@test "all of that at once, clang" {
	changes clang 200 2 signals forks plugin "$BATS_FILE_TMPDIR/plugged.so"
}

# prepared NAME SOURCE OPTION...: tests/programs/SOURCE with prepared entries, as ./NAME
prepared()
{
	local compiler=cc

	[[ $2 != *.cc ]] || compiler=c++
	[ -z "${by-}" ] || compiler=$by
	"$compiler" -g -w -D_GNU_SOURCE -fpatchable-function-entry=5 -pthread -o "$1" "$root/tests/programs/$2" "${@:3}"
}

# counts TRACE: NAME CALLS, a line a function, by the independent decoder
counts()
{
	calls_by_name "$1" | tr '\t' ' '
}

needs_x86_64()
{
	[ "$(uname -m)" = x86_64 ] || skip "not on this machine"
}

@test "every way to leave calls comes out as it does bare: exceptions, jumps, ends of threads, contexts, handlers" {
	needs_x86_64
	for by in g++ clang++; do
		for options in -O0 -O2 "-O2 -static-libgcc -static-libstdc++" "-O2 -fcf-protection=full"; do
			# shellcheck disable=SC2086
			prepared program prepared/leaving.cc $options
			./program >bare
			fxtrun --heap=off -o x.fxt ./program >traced
			if [[ $options == *static* ]]; then # an unwinder of its own lists our frames too
				sed -i 1d bare traced
			fi
			cmp bare traced
			fxt check x.fxt
		done
	done
}

@test "hooks and prepared entries tell of the same calls, where nothing is inlined" {
	needs_x86_64
	for by in g++ clang++; do
		prepared entries prepared/leaving.cc -O0
		"$by" -O0 -g -w -finstrument-functions -pthread -o hooks "$root/tests/programs/prepared/leaving.cc"
		for kind in entries hooks; do
			fxtrun --heap=off -o $kind.fxt ./$kind
			counts $kind.fxt | grep -v "^handle(int)\|^in_handler(int)" >$kind.counts
		done
		[ "$(wc -l <entries.counts)" -gt 20 ]
		diff entries.counts hooks.counts
	done
}

@test "hooks and prepared entries in one program: each file's calls by its own, and once where a file has both" {
	needs_x86_64
	for by in gcc clang; do
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
		"$by" -O2 -g -fpatchable-function-entry=5 -c one.c
		"$by" -O2 -g -finstrument-functions -c two.c
		"$by" -o program one.o two.o
		fxtrun --heap=off -o x.fxt ./program
		[ "$(counts x.fxt)" = "$(printf '%s\n' "inner 100" "main 1" "other 100" "outer 100")" ]
		"$by" -O2 -g -fpatchable-function-entry=5 -finstrument-functions -o program one.c two.c
		fxtrun --heap=off -o x.fxt ./program
		[ "$(counts x.fxt)" = "$(printf '%s\n' "inner 100" "main 1" "other 100" "outer 100")" ]
	done
}

@test "an unwinder finds the callers at every instruction of a recorded call" {
	needs_x86_64
	for by in gcc clang; do
		for options in -O0 -O2; do
			prepared program prepared/stepped.c $options
			fxtrun --heap=off -o x.fxt ./program >traced
			./program >bare
			[ "$(head -1 bare)" = "$(head -1 traced)" ]
			grep "^0 lost, " bare
			grep "^0 lost, " traced
			[ "$(sed -n 's/^0 lost, \(.*\) .*/\1/p' traced)" -gt 1000 ]
		done
	done
}

@test "arguments, results and kept values survive in all registers" {
	needs_x86_64
	for by in gcc clang; do
		for options in -O0 -O2 -O3; do
			prepared program prepared/registers.c $options
			./program >bare
			fxtrun --heap=off -o x.fxt ./program >traced
			cmp bare traced
			[ "$(counts x.fxt | grep -c with_many)" = 8 ]
		done
	done
}

@test "a library that is loaded later is recorded, also without an unwind table" {
	needs_x86_64
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
		cc -O2 -g -fPIC -shared -fpatchable-function-entry=5 $options -o library.so library.c
		fxtrun --heap=off -o x.fxt ./program
		[ "$(counts x.fxt)" = "$(printf '%s\n' "inner 10" "outer 10")" ]
	done
}

@test "every form of room at the entry that has five bytes is used, by its function's name" {
	needs_x86_64
	for by in gcc clang; do
		for room in 5 9 16 9,4; do
			for options in "-fcf-protection=none -no-pie" "-fcf-protection=full -pie"; do
				# shellcheck disable=SC2086
				prepared program prepared/told.c -O2 $options -fpatchable-function-entry=$room
				printf '\n' | fxtrun --heap=off -o x.fxt ./program >printed
				grep "10 leaf e9 kept e9" printed
				[ "$(counts x.fxt)" = "$(printf '%s\n' "kept 10" "leaf 10")" ]
			done
		done
	done
}

@test "too little room, and --no-patch: nothing of the program changes, and that is said" {
	needs_x86_64
	prepared program prepared/told.c -O2 -fpatchable-function-entry=3
	printf '\n' | fxtrun -o x.fxt ./program 2>errors >printed
	grep "10 leaf 90 kept 90" printed
	grep "^fxt: 2 prepared entries of the program are not recorded: less than 5 bytes" errors
	prepared program prepared/told.c -O2
	printf '\n' | fxtrun --no-patch -o x.fxt ./program 2>errors >printed
	grep "10 leaf 90 kept 90" printed
	grep "^fxt: prepared entries (-fpatchable-function-entry) are not recorded: --no-patch" errors
}

@test "entries lead to us only while their calls are recorded" {
	needs_x86_64
	prepared program prepared/told.c -O2
	timeout 300 python3 -c 'import sys, patched; patched.follow_filters(*sys.argv[1:])' \
		"$PWD/program" leaf kept e9 a9 3>/dev/null
}

@test "a filter that changes while the agent looks whether it has: entries of included functions are put back" {
	needs_x86_64
	command -v gdb >/dev/null || skip "gdb is not installed"
	prepared program prepared/told.c -O2
	cat >hold.gdb <<-'END'
		break fxt_decisions_follow_change
		continue
		set $changes = agent_engine.control->filter_changes
		shell touch held
		python
		import time
		while gdb.parse_and_eval("agent_engine.control->filter_changes == $changes"):
		    time.sleep(0.01)
		end
		delete
		detach
	END
	timeout 100 python3 - "$PWD/program" <<-'END'
		from control import *
		import sys
		import time
		session = Session(["--heap=off", "-o", "x.fxt", "--exclude=leaf"], sys.argv[1])
		deadline = time.monotonic() + 60
		while session.tell("")[2] != "a9":
		    assert time.monotonic() < deadline
		pid = session.client.call("GetProviders")["providers"][0]["pid"]
		debugger = subprocess.Popen(["gdb", "-q", "-batch", "-x", "hold.gdb", "-p", str(pid)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
		while not os.path.exists("held"):
		    assert debugger.poll() is None and time.monotonic() < deadline, debugger.stdout.read()
		    time.sleep(0.01)
		number = session.client.send("SetFilter", exclude=[])
		assert debugger.wait(60) == 0, debugger.stdout.read()
		assert session.client.reply(number) == {}
		assert session.tell("")[1:] == ["leaf", "e9", "kept", "e9"]
		assert session.end()[0] == 0
	END
}

@test "call paths of the heap go through recorded calls, from the shadow stack and by walks" {
	needs_x86_64
	cat >program.c <<-'END'
		#include <stdlib.h>
		__attribute__((noinline)) void *gets_it(int n) { void *p = malloc((size_t)n); __asm__ volatile(""); return p; }
		__attribute__((noinline)) void *passes_on(int n) { __asm__ volatile(""); return malloc((size_t)n); }
		__attribute__((noinline)) void works(void) { free(gets_it(100)); void *p = passes_on(50); __asm__ volatile(""); free(p); }
		int main(void) { works(); return 0; }
	END
	for by in gcc clang; do
		"$by" -O2 -g -fpatchable-function-entry=5 -o program program.c
		fxtrun --heap=objects --heap-stacks=unwind -o x.fxt ./program
		fxt heap x.fxt | tr -s ' \n' ' ' | grep "gets_it works main __libc_start"
		fxtrun --heap=objects --heap-stacks=shadow -o x.fxt ./program
		fxt heap x.fxt | tr -s ' \n' ' ' | grep "gets_it works main"
	done
}

@test "callgrind counts the same calls in an optimised program" {
	needs_x86_64
	command -v valgrind >/dev/null || skip "no valgrind"
	prepared program processes/../../../examples/recursion.c -O2
	fxtrun --heap=off -o x.fxt ./program >/dev/null
	valgrind --tool=callgrind --callgrind-out-file=out ./program >/dev/null 2>&1
	callgrind_annotate --inclusive=no --tree=calling out >annotated
	python3 - out <<-'END' >truth
		import collections, re, sys
		names, calls, name = {}, collections.Counter(), ""
		for line in open(sys.argv[1]):
		    if m := re.match(r"c?fn=\((\d+)\)(?: (.*))?", line):
		        names.setdefault(m[1], m[2])
		        name = names[m[1]]
		    elif m := re.match(r"calls=(\d+)", line):
		        calls[name.split("'")[0]] += int(m[1])
		for name, count in sorted(calls.items()):
		    print(name, count)
	END
	counts x.fxt | grep -v '^main ' >recorded
	[ -s recorded ]
	while read -r line; do grep -Fx "$line" truth; done <recorded
}

@test "a function that ends by dlsym() is left alone, and finds what it finds bare" {
	needs_x86_64
	cat >library.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		int getpid(void) { return -1; }
		void *next(const char *name) { __asm__ volatile(""); return dlsym(RTLD_NEXT, name); }
		int real_getpid(void) { int r = ((int (*)(void))next("getpid"))(); __asm__ volatile(""); return r; }
	END
	cat >program.c <<-'END'
		int getpid(void);
		int real_getpid(void);
		int main(void) { return real_getpid() == -1 || getpid() != -1; }
	END
	for by in gcc clang; do
		for options in "" -fno-plt -fcf-protection=full; do
			# shellcheck disable=SC2086
			"$by" -O2 -g -w -fPIC -fpatchable-function-entry=5 $options -shared -o liblibrary.so library.c
			"$by" -O2 -g -w -fpatchable-function-entry=5 -o program program.c -L. -llibrary -Wl,-rpath,.
			./program
			fxtrun --heap=off -o x.fxt ./program
			counts x.fxt | grep "^real_getpid 1$"
			[ -z "$(counts x.fxt | grep "^next ")" ]
		done
	done
}
