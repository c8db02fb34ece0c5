#!/usr/bin/env bats
# fxtrun --build: the build's own output and status, programs that are recorded, and counts
# of the compilations.

load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	unset FXT_CC FXT_CXX FXT_INSTRUMENT CC CXX MAKEFLAGS MAKELEVEL
	mkdir tmp
	export TMPDIR=$PWD/tmp
	cat >program.c <<-'END'
		int sell(int n);
		int main(void) { int n = 0; for (int i = 0; i < ROUNDS; i++) n = sell(n); return n != ROUNDS; }
	END
	echo '__attribute__((noinline)) int sell(int n) { return n + 1; }' >sell.c
	printf 'CC = gcc\nCFLAGS = -O1 -DROUNDS=25\nprogram: program.o sell.o\n' >Makefile
}

# counted FILE MADE OWN NONE: what fxtrun says there at the end.
counted()
{
	local s=s

	[ "$2" != 1 ] || s=
	grep '^fxtrun: ' "$1" | diff - <(echo "fxtrun: $2 compilation$s of C or C++ made recordable"
		echo "fxtrun: $(($3 + $4)) left as they were: $3 by options of the project, $4 by FXT_INSTRUMENT=none")
}

recorded()
{
	fxtrun -o trace.fxt "$1" && [ "$(calls_of trace.fxt sell)" = 25 ]
}

@test "a Makefile that names gcc: its options stay in force, the output is make's, and the compilations are counted" {
	make >bare.out 2>bare.err
	make -s clean >/dev/null 2>&1 || rm -f program ./*.o
	fxtrun --build make >out 2>err
	diff bare.out out
	grep -v '^fxtrun: ' err | diff bare.err -
	counted err 2 0 0
	recorded ./program
	fxtrun --build make 2>err
	grep -x 'fxtrun: 0 compilations of C or C++ made recordable' err
	grep '^fxtrun: nothing was compiled by cc, gcc, clang or \$CC: everything may be built already' err
	[ -z "$(ls tmp)" ]
}

@test "a hundred compilations at once are counted, each once" {
	for i in {1..100}; do
		echo "int f$i(void) { return $i; }" >f$i.c
	done
	printf 'all: %s\n' "$(echo f{1..100}.o)" >Makefile
	printf 'f7.o: CFLAGS = -finstrument-functions\n' >>Makefile
	fxtrun --build make -j8 2>err >/dev/null
	counted err 99 1 0
	rm ./*.o
	FXT_INSTRUMENT=none fxtrun --build make -j8 2>err >/dev/null
	counted err 0 1 99
}

@test "the user's CC is the compiler below, with ccache too, and counts once" {
	printf 'CFLAGS = -O1 -DROUNDS=25\nprogram: program.o sell.o\n' >Makefile
	CC='clang -g' fxtrun --build make >out 2>err
	counted err 2 0 0
	readelf -p .comment program | grep -q clang
	recorded ./program
	command -v ccache >/dev/null || return 0
	rm -f program ./*.o
	CCACHE_DIR=$PWD/cache CC='ccache gcc' fxtrun --build make >out 2>err
	counted err 2 0 0
	recorded ./program
}

@test "configure and cmake keep the compilers, so the later make needs no fxtrun" {
	cat >configure <<-'END'
		#!/bin/sh
		printf 'CC = %s\nCFLAGS = -O1 -DROUNDS=25\nprogram: program.o sell.o\n' "${CC:-gcc}" >Makefile
	END
	chmod +x configure
	fxtrun --build ./configure 2>err
	make
	recorded ./program
	command -v cmake >/dev/null || return 0
	printf 'cmake_minimum_required(VERSION 3.10)\nproject(p C CXX)\nadd_definitions(-DROUNDS=25)\nadd_executable(program program.c sell.c)\n' >CMakeLists.txt
	fxtrun --build cmake -B cmade >out 2>err
	fxtrun --build cmake --build cmade >out 2>err
	counted err 2 0 0
	recorded cmade/program
}

@test "the status is the build's; what cannot be run is named" {
	status=0
	fxtrun --build sh -c 'exit 7' 2>err || status=$?
	[ "$status" = 7 ]
	status=0
	fxtrun --build sh -c 'kill -TERM $$' 2>err || status=$?
	[ "$status" = 143 ]
	says 127 'fxtrun: no-such-command: No such file or directory' fxtrun --build no-such-command
	says 126 'fxtrun: ./sell.c: Permission denied' fxtrun --build ./sell.c
	says 125 'fxtrun: no command given; use: fxtrun --build make [arguments]' fxtrun --build
	[ -z "$(ls tmp)" ]
}
