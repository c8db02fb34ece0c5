#!/usr/bin/env bats
# fxt-cc and fxt-c++: each command does what the compiler does, and what it compiles has
# entries that fxtrun records.

load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	unset FXT_CC FXT_CXX FXT_INSTRUMENT
	mkdir links
	for name in gcc g++ clang clang++ gcc-12; do
		ln -s "$build/fxt-cc" "links/fxt-$name"
	done
	PATH=$PWD/links:$PATH
	prepared=-fpatchable-function-entry=5
	[ "$(uname -m)" = x86_64 ] || prepared=-finstrument-functions
	cat >a.c <<-'END'
		#include <stdio.h>
		int twice(int x);
		#ifndef N
		#define N 3
		#endif
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < N; i++)
				sum += twice(i);
			printf("%d\n", sum);
			return 0;
		}
	END
	echo '__attribute__((noinline)) int twice(int x) { __asm__ volatile(""); return x * 2; }' >b.c
	echo '#include <vector>
		__attribute__((noinline)) int kept(std::vector<int> &v, int x) { v.push_back(x); return v.back(); }
		int main() { std::vector<int> v; int n = 0; for (int i = 0; i < 10; i++) n += kept(v, i); return n != 45; }' >v.cc
	printf '.globl twice\ntwice:\tret\n' >s.s
	printf '#define NAME twice\n.globl NAME\nNAME:\tret\n' >t.S
}

# same COMPILER ARGUMENT...: the compiler and its wrapper end alike and print the same, each
# in a directory of its own with the same files. They are left in bare/ and wrapped/.
same()
{
	local bare=0 wrapped=0 compiler=$1

	shift
	rm -rf bare wrapped bare.* wrapped.*
	mkdir bare wrapped
	find . -maxdepth 1 -type f -exec cp -t bare {} +
	cp bare/* wrapped
	(cd bare && exec "$compiler" "$@") >bare.out 2>bare.err </dev/null || bare=$?
	(cd wrapped && exec "fxt-$compiler" "$@") >wrapped.out 2>wrapped.err </dev/null || wrapped=$?
	[ "$bare" = "$wrapped" ] || { echo "$*: status $wrapped, bare $bare" && cat wrapped.err && return 1; }
	normal bare.out | diff - <(normal wrapped.out)
	normal bare.err | diff - <(normal wrapped.err)
}

# Names of temporary files differ from run to run.
normal()
{
	sed -E 's,/tmp/cc[A-Za-z0-9]{6},/tmp/cc,g; s,(/tmp/[a-z]+)-[0-9a-f]{6}\.,\1.,g' "$1"
}

# kind_of FILE: what its functions were compiled with.
kind_of()
{
	local found=none

	! readelf -SW "$1" | grep -q __patchable_function_entries || found=prepared
	! readelf -sW "$1" | grep -q __cyg_profile_func_enter || found=hooks
	! readelf -SW "$1" | grep -q xray_instr_map || found=xray
	echo $found
}

usual_kind()
{
	[ "$(uname -m)" = x86_64 ] && echo prepared || echo hooks
}

@test "a program is recorded, and its calls are those that it counts" {
	for compiler in fxt-cc fxt-gcc fxt-clang; do
		for kind in '' prepared hooks; do
			[ "$kind" != prepared ] || [ "$(uname -m)" = x86_64 ] || continue
			FXT_INSTRUMENT=$kind $compiler -O2 -g -DN=100 a.c b.c -o program
			[ "$(kind_of program)" = "${kind:-$(usual_kind)}" ]
			same_as_bare "$PWD/program"
			[ "$(calls_of trace.fxt twice)" = 100 ]
		done
	done
}

@test "a C++ program is recorded without the inside of the standard library" {
	for compiler in fxt-c++ fxt-g++ fxt-clang++; do
		FXT_INSTRUMENT=hooks $compiler -O2 -g v.cc -o program
		same_as_bare "$PWD/program"
		[ "$(calls_of trace.fxt "kept(std::vector<int, std::allocator<int> >&, int)")" = 10 ]
		[ "$(calls_by_name trace.fxt | wc -l)" = 2 ]
	done
	fxt-c++ -O2 -g v.cc -o program
	same_as_bare "$PWD/program"
	[ "$(calls_of trace.fxt "kept(std::vector<int, std::allocator<int> >&, int)")" = 10 ]
}

@test "compiling, linking, preprocessing, dependencies, assembler: output and status are the compiler's" {
	for compiler in gcc clang; do
		same $compiler -c a.c b.c
		[ "$(kind_of wrapped/b.o) $(kind_of bare/b.o)" = "$(usual_kind) none" ]
		cp wrapped/*.o .
		same $compiler -Werror a.o b.o -o program
		wrapped/program
		same $compiler -Wall -Wextra -Werror -O2 -flto a.c b.c -o program
		[ "$(kind_of wrapped/program)" = "$(usual_kind)" ]
		wrapped/program
		same $compiler -shared -fPIC b.c -o libb.so
		[ "$(kind_of wrapped/libb.so)" = "$(usual_kind)" ]
		same $compiler -E a.c
		same $compiler -M a.c
		same $compiler -MM -MT x.o a.c
		same $compiler -MD -MF a.d -c a.c
		diff bare/a.d wrapped/a.d
		same $compiler -fsyntax-only -Werror a.c
		same $compiler -Werror -S b.c
		[ "$(usual_kind)" = hooks ] || grep __patchable_function_entries wrapped/b.s
		same $compiler -Werror -c s.s t.S
		cmp bare/s.o wrapped/s.o
		cmp bare/t.o wrapped/t.o
		same $compiler -Werror -x assembler -c s.s -x none b.c
		[ "$(kind_of wrapped/b.o) $(kind_of wrapped/s.o)" = "$(usual_kind) none" ]
		same $compiler -Werror -x c++ -c b.c
		[ "$(kind_of wrapped/b.o)" = "$(usual_kind)" ]
		same $compiler -x c -c - -o stdin.o
		same $compiler -x none -c b.c
		rm -f ./*.o
	done
}

@test "errors, warnings and questions are the compiler's" {
	echo 'int f(void) { int unused; return no_such; }' >wrong.c
	for compiler in gcc clang g++ clang++; do
		same $compiler
		same $compiler -Wall -c wrong.c
		[ -s bare.err ]
		same $compiler -c no-such.c
		same $compiler -no-such-option -c b.c
		same $compiler --version
		same $compiler --help
		same $compiler -v
		same $compiler -dumpmachine
		same $compiler -dumpversion
		same $compiler -print-search-dirs
		same $compiler -print-file-name=libc.so
		same $compiler @no-such-file
	done
	clang -cc1 -version >bare.out
	fxt-clang -cc1 -version | diff bare.out -
}

@test "-v and -### show the compiler's commands with the option" {
	for compiler in gcc clang; do
		for option in -v '-###'; do
			$compiler $prepared $option -c b.c 2>bare.err
			fxt-$compiler $option -c b.c 2>wrapped.err
			diff <(normal bare.err) <(normal wrapped.err)
			grep -q patchable-function-entry wrapped.err || [ "$(usual_kind)" = hooks ]
		done
	done
}

@test "response files are read as the compiler reads them" {
	printf '%s\n' -O2 -Wall -Werror -c 'b.c' -o "'b b.o'" >flags
	echo '-DA="x y" @flags' >outer
	for compiler in gcc clang; do
		same $compiler @outer
		[ "$(kind_of 'wrapped/b b.o') $(kind_of 'bare/b b.o')" = "$(usual_kind) none" ]
		cp 'wrapped/b b.o' .
		echo '"b b.o" a.c -o program' >link
		same $compiler @link
		wrapped/program
		echo '-finstrument-functions -c b.c' >chosen
		same $compiler @chosen
		cmp bare/b.o wrapped/b.o
	done
	# A file that names itself ends as it ends with the compiler.
	echo @itself >itself
	same clang @itself -c b.c
}

@test "the user's own choice of instrumentation wins" {
	for own in -finstrument-functions -fno-instrument-functions -fpatchable-function-entry=7,2 -fpatchable-function-entry=0; do
		same gcc -c b.c $own
		cmp bare/b.o wrapped/b.o
	done
	for own in -finstrument-functions -finstrument-functions-after-inlining -fpatchable-function-entry=7 -fxray-instrument; do
		same clang -c b.c $own
		cmp bare/b.o wrapped/b.o
	done
}

@test "FXT_INSTRUMENT chooses the kind of entries" {
	for compiler in gcc clang; do
		FXT_INSTRUMENT=none same $compiler -c b.c
		cmp bare/b.o wrapped/b.o
		FXT_INSTRUMENT=hooks same $compiler -Werror -c b.c
		[ "$(kind_of wrapped/b.o)" = hooks ]
		FXT_INSTRUMENT=prepared same $compiler -Werror -c b.c
		[ "$(kind_of wrapped/b.o)" = prepared ]
		FXT_INSTRUMENT= same $compiler -c b.c
		[ "$(kind_of wrapped/b.o)" = "$(usual_kind)" ]
	done
	FXT_INSTRUMENT=xray same clang -Werror -c b.c
	[ "$(kind_of wrapped/b.o)" = xray ]
	FXT_INSTRUMENT=xray says 2 'fxt-gcc: FXT_INSTRUMENT=xray: gcc has no XRay; set FXT_CC=clang and FXT_CXX=clang++' fxt-gcc -c b.c
	FXT_INSTRUMENT=all says 2 'fxt-cc: FXT_INSTRUMENT: must be prepared, hooks, xray or none' fxt-cc -c b.c
}

@test "FXT_CC and FXT_CXX name the compiler, the name of a link does, and so does a link before the compiler" {
	for compiler in gcc clang; do
		[ "$(FXT_CC=$compiler fxt-cc --version)" = "$($compiler --version)" ]
		[ "$(FXT_CC=$(command -v $compiler) fxt-cc --version)" = "$($compiler --version)" ]
		[ "$(FXT_CC=no-such fxt-$compiler --version)" = "$($compiler --version)" ]
	done
	[ "$(FXT_CXX=clang++ fxt-c++ --version)" = "$(clang++ --version)" ]
	[ "$(FXT_CC=clang fxt-c++ --version)" = "$(c++ --version)" ]
	[ "$(fxt-cc --version)" = "$(cc --version)" ]
	FXT_CC='clang -DTWICE=1 -O1' fxt-cc -E -dM b.c | grep -x '#define TWICE 1'
	mkdir 'with blank' before
	ln -s "$(command -v gcc)" 'with blank/my gcc'
	FXT_CC="$PWD/with blank/my gcc" fxt-cc -c b.c
	for name in gcc clang; do
		ln -s "$build/fxt-cc" before/$name
	done
	for compiler in gcc clang; do
		PATH=$PWD/before:$PATH $compiler -O2 a.c b.c -o program
		[ "$(kind_of program)" = "$(usual_kind)" ]
	done
}

@test "a missing compiler is named, with status 127" {
	FXT_CC=no-such says 127 'fxt-cc: no-such: no such compiler in $PATH; name another one by FXT_CC' fxt-cc -c b.c
	FXT_CXX=/no/such says 127 'fxt-c++: /no/such: no such compiler; name another one by FXT_CXX' fxt-c++ -c b.c
	ln -s "$build/fxt-cc" links/fxt-no-such
	says 127 'fxt-no-such: no-such: no such compiler in $PATH' fxt-no-such -c b.c
	FXT_CC=fxt-cc says 127 'fxt-cc: FXT_CC: names this program itself; it must name a compiler' fxt-cc -c b.c
	FXT_CC='ccache fxt-gcc' says 127 'fxt-cc: FXT_CC: names this program itself; it must name a compiler' fxt-cc -c b.c
	FXT_CC=$build/fxt-cc says 127 'fxt-cc: FXT_CC: names this program itself; it must name a compiler' fxt-cc -c b.c
	FXT_CC=' ' says 127 'fxt-cc: FXT_CC: names no compiler' fxt-cc -c b.c
	mkdir empty
	PATH=$PWD/empty says_alone
}

# says_alone: without any compiler in $PATH, the usual one is named.
says_alone()
{
	local status=0

	"$build/fxt-cc" -c b.c 2>said || status=$?
	PATH=/usr/bin:/bin
	[ "$status" = 127 ]
	grep -F ': cc: no such compiler in $PATH; name another one by FXT_CC' said
}

@test "a compiler that dies of a signal, or that fails, ends the wrapper alike" {
	printf '#!/bin/sh\nkill -SEGV $$\n' >gcc-dies
	printf '#!/bin/sh\nexit 77\n' >gcc-fails
	chmod +x gcc-dies gcc-fails
	status=0
	FXT_CC=$PWD/gcc-dies fxt-cc -c b.c || status=$?
	[ "$status" = 139 ]
	status=0
	FXT_CC=$PWD/gcc-fails fxt-cc -c b.c || status=$?
	[ "$status" = 77 ]
}

@test "ccache works on either side, and tells kinds of entries apart below fxt-cc" {
	command -v ccache >/dev/null || skip "no ccache"
	export CCACHE_DIR=$PWD/cache
	for round in 1 2; do
		ccache fxt-cc -c b.c -o $round.o
		[ "$(kind_of $round.o)" = "$(usual_kind)" ]
	done
	cmp 1.o 2.o
	[ "$(hits)" = 1 ]
	rm -rf cache
	for kind in prepared hooks none prepared hooks none; do
		FXT_CC='ccache gcc' FXT_INSTRUMENT=$kind fxt-cc -c b.c
		[ "$(kind_of b.o)" = $kind ]
	done
	[ "$(hits)" = 3 ]
}

hits()
{
	ccache --print-stats | awk '$1 ~ /^(direct|preprocessed)_cache_hit$/ { n += $2 } END { print n + 0 }'
}

@test "a cross compiler for aarch64 gets hooks, and so does clang's target" {
	echo 'int f(int x) { return x; }' >f.c
	if command -v aarch64-linux-gnu-gcc >/dev/null; then
		ln -s "$build/fxt-cc" links/fxt-aarch64-linux-gnu-gcc
		fxt-aarch64-linux-gnu-gcc -c f.c
		[ "$(kind_of f.o)" = hooks ]
		FXT_CC=aarch64-linux-gnu-gcc fxt-cc -c f.c
		[ "$(kind_of f.o)" = hooks ]
	fi
	fxt-clang --target=aarch64-linux-gnu -c f.c
	[ "$(kind_of f.o)" = hooks ]
	fxt-clang -target x86_64-linux-gnu -c f.c
	[ "$(kind_of f.o)" = prepared ]
}

@test "one start of the compiler is one exec: no process, no file but its own" {
	strace -f -o calls -e trace=process,openat fxt-gcc -c s.s
	# Everything before the compiler's exec.
	sed '/execve.*"\/.*gcc"/q' calls | sed '$d' >before
	fails grep -E 'fork|clone' before
	fails grep -vE 'execve|ld.so.cache|libc.so.6|openat.*(ENOENT)' before
}

@test "make CC=fxt-cc: the project's own CFLAGS stay in force" {
	mkdir project && cp a.c b.c project
	cat >project/Makefile <<-'END'
		CC = gcc
		CFLAGS = -O1 -DN=40 -Wall -Werror
		program: a.o b.o; $(CC) $(LDFLAGS) -o $@ $^
	END
	make -C project CC=fxt-cc
	[ "$(./project/program)" = 1560 ]
	same_as_bare "$PWD/project/program"
	[ "$(calls_of trace.fxt twice)" = 40 ]
	[ "$(calls_of trace.fxt main)" = 1 ]
}

@test "./configure with CC=fxt-cc" {
	command -v autoreconf >/dev/null && command -v automake >/dev/null || skip "no autotools"
	mkdir project && cp a.c b.c v.cc project && cd project
	cat >configure.ac <<-'END'
		AC_INIT([program], [1])
		AM_INIT_AUTOMAKE([foreign])
		AC_PROG_CC
		AC_PROG_CXX
		AC_CHECK_HEADERS([stdlib.h])
		AC_CHECK_FUNCS([printf no_such_function])
		AC_CONFIG_FILES([Makefile])
		AC_OUTPUT
	END
	cat >Makefile.am <<-'END'
		bin_PROGRAMS = program vectors
		program_SOURCES = a.c b.c
		vectors_SOURCES = v.cc
	END
	autoreconf -i >/dev/null 2>&1
	mkdir bare wrapped
	(cd bare && ../configure CC=gcc CXX=g++ >/dev/null)
	(cd wrapped && ../configure CC=fxt-gcc CXX=fxt-g++ CFLAGS='-O2 -g -DN=50' >/dev/null && make >/dev/null)
	# What configure found is the same.
	diff <(grep -E '^ac_cv_' bare/config.log | grep -vE 'CC|CXX|env_') <(grep -E '^ac_cv_' wrapped/config.log | grep -vE 'CC|CXX|env_')
	same_as_bare "$PWD/wrapped/program"
	[ "$(calls_of trace.fxt twice)" = 50 ]
	[ "$(kind_of wrapped/vectors)" = "$(usual_kind)" ]
}

@test "cmake with -DCMAKE_C_COMPILER=fxt-cc, and with CC=fxt-clang" {
	command -v cmake >/dev/null || skip "no cmake"
	mkdir project && cp a.c b.c v.cc project
	cat >project/CMakeLists.txt <<-'END'
		cmake_minimum_required(VERSION 3.10)
		project(program C CXX)
		add_library(twice SHARED b.c)
		add_executable(program a.c)
		target_compile_definitions(program PRIVATE N=60)
		target_link_libraries(program twice)
		add_executable(vectors v.cc)
	END
	cmake -S project -B one -DCMAKE_C_COMPILER=fxt-cc -DCMAKE_CXX_COMPILER=fxt-c++ -DCMAKE_BUILD_TYPE=Release >out
	cmake --build one >out
	same_as_bare "$PWD/one/program"
	[ "$(calls_of trace.fxt twice)" = 60 ]
	[ "$(kind_of one/vectors)" = "$(usual_kind)" ]
	CC=fxt-clang CXX=fxt-clang++ cmake -S project -B two >out
	grep -F 'The C compiler identification is Clang' out
	cmake --build two >out
	same_as_bare "$PWD/two/program"
	[ "$(calls_of trace.fxt twice)" = 60 ]
}

@test "libtool finds the language's tag and builds a library" {
	command -v libtoolize >/dev/null && command -v autoreconf >/dev/null || skip "no libtool"
	mkdir project && cp a.c b.c project && cd project
	cat >configure.ac <<-'END'
		AC_INIT([program], [1])
		AM_INIT_AUTOMAKE([foreign])
		AM_PROG_AR
		LT_INIT
		AC_PROG_CC
		AC_CONFIG_FILES([Makefile])
		AC_OUTPUT
	END
	cat >Makefile.am <<-'END'
		lib_LTLIBRARIES = libtwice.la
		libtwice_la_SOURCES = b.c
		bin_PROGRAMS = program
		program_SOURCES = a.c
		program_LDADD = libtwice.la
	END
	autoreconf -i >/dev/null 2>&1
	./configure CC=fxt-cc >/dev/null
	make >/dev/null
	[ "$(kind_of .libs/libtwice.so)" = "$(usual_kind)" ]
	[ "$(./program)" = 6 ]
}
