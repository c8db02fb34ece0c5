#!/usr/bin/env bats
# doc/manual/build-systems.md is right, and the files that make install leaves for CMake and
# pkg-config give a program that is recorded.

load helpers

setup_file()
{
	export prefix=$BATS_FILE_TMPDIR/prefix out=$BATS_FILE_TMPDIR/out
	mkdir "$out"
	for file in fxt fxtrun fxtctl fxt-cc fxt-c++ libfxtagent.so flags obj pic; do
		ln -s "$build/$file" "$out/$file"
	done
	for archive in "$build"/*.a; do
		ln -s "$archive" "$out/${archive##*/}"
	done
	env -u MAKEFLAGS -u MAKELEVEL -u DESTDIR make -C "$root" O="$out" PREFIX="$prefix" install >/dev/null
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	unset FXT_CC FXT_CXX FXT_INSTRUMENT
	PATH=$prefix/bin:$PATH
	cat >program.c <<-'END'
		int sell(int n);
		int main(void) { int n = 0; for (int i = 0; i < 25; i++) n = sell(n); return n != 25; }
	END
	echo '__attribute__((noinline)) int sell(int n) { return n + 1; }' >sell.c
}

# block WORDS: the commands of the code block of the page that has these words.
block()
{
	awk -v words="$1" '
		/^    / { block = block substr($0, 5) "\n"; next }
		{ if (index(block, words)) printf "%s", block; block = "" }
		END { if (index(block, words)) printf "%s", block }' "$root/doc/manual/build-systems.md"
}

recorded()
{
	fxtrun -o trace.fxt "$1"
	[ "$(calls_of trace.fxt sell)" = 25 ]
}

entries_of()
{
	readelf -SW "$1" | grep -qE '__patchable_function_entries|xray_instr_map' || readelf -sW "$1" | grep -q __cyg_profile_func_enter
}

@test "make, with a Makefile that leaves the compiler open, and one that does not" {
	block 'make -B CC' >commands
	printf 'CC = gcc\nCFLAGS = -O1\nprogram: program.o sell.o\n' >Makefile
	sh -e commands
	recorded ./program
	block 'mkdir compilers' >commands
	printf 'program: program.c sell.c; gcc -O2 -o $@ $^\n' >Makefile
	sh -e commands
	recorded ./program
}

@test "CMake: the compiler, and fxt_instrument() for a target" {
	command -v cmake >/dev/null || skip "no cmake"
	block 'cmake -B' >commands
	cat >CMakeLists.txt <<-'END'
		cmake_minimum_required(VERSION 3.15)
		project(shop C CXX)
		add_executable(program program.c sell.c)
	END
	sh -e commands >said
	recorded traced/program
	cat >>CMakeLists.txt <<-'END'
		add_executable(bare program.c sell.c)
		find_package(fxt 0.1 REQUIRED)
		fxt_instrument(program)
		add_custom_target(record COMMAND fxt::fxtrun -o made.fxt $<TARGET_FILE:program>)
	END
	for compiler in gcc clang; do
		for kind in '' prepared hooks xray none; do
			[ "$compiler:$kind" != gcc:xray ] || continue
			rm -rf some
			CC=$compiler CXX=${compiler/gcc/g}++ cmake -B some -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release -DFXT_INSTRUMENT=$kind >said
			cmake --build some >said
			fails entries_of some/CMakeFiles/bare.dir/sell.c.o
			# The option is that of fxt-cc.
			FXT_CC=$compiler FXT_INSTRUMENT=$kind fxt-cc -O3 -DNDEBUG -c sell.c -o sell.o
			cmp sell.o some/CMakeFiles/program.dir/sell.c.o
			case $kind in
			none) fails entries_of sell.o ;;
			xray) entries_of sell.o ;;
			*) recorded some/program ;;
			esac
		done
	done
	cmake -B some -DCMAKE_PREFIX_PATH="$prefix" -DFXT_INSTRUMENT=prepared >said
	cmake --build some --target record >said
	[ "$(calls_of some/made.fxt sell)" = 25 ]
	fails cmake -B some -DFXT_INSTRUMENT=all >said 2>&1
	tr -s '\n ' ' ' <said | grep -F 'FXT_INSTRUMENT=all: must be prepared, hooks, xray or none'
}

@test "pkg-config: the option and the programs" {
	command -v pkg-config >/dev/null || skip "no pkg-config"
	export PKG_CONFIG_PATH=$prefix/share/pkgconfig
	sh -ec "$(block 'pkg-config --cflags' | sed 's/prog\.c -o prog/program.c sell.c -o program/')"
	recorded ./program
	"$(pkg-config --variable=fxt_cc fxt)" -O2 program.c sell.c -o other
	recorded ./other
	[ "$("$(pkg-config --variable=fxtrun fxt)" --version)" = "fxtrun $(pkg-config --modversion fxt)" ]
}

@test "ccache below fxt-cc" {
	command -v ccache >/dev/null || skip "no ccache"
	export CCACHE_DIR=$PWD/cache
	printf 'program: program.o sell.o\n' >Makefile
	sh -ec "$(block "FXT_CC='ccache")"
	recorded ./program
}

@test "Meson" {
	command -v meson >/dev/null || skip "no meson"
	printf "project('shop', 'c')\nexecutable('program', 'program.c', 'sell.c')\n" >meson.build
	sh -ec "$(block 'meson setup')"
	recorded traced/program
}
