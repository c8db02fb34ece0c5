#!/usr/bin/env bats
# Functions have their names in the trace from the moment it is written: nothing is
# rewritten at the end, what is killed is named, and files are read as they were when the
# program had them.

load helpers

setup_file()
{
	cc -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/counted" "$BATS_TEST_DIRNAME/../programs/launcher/counted.c"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	counted=$BATS_FILE_TMPDIR/counted
}

# built COMPILER ARGUMENT...: a program to be traced, from a source on standard input.
built()
{
	"$@" -finstrument-functions -g
}

named()
{
	[ "$(decode calls "$1" | cut -f3 | sort -u)" = "$2" ]
}

@test "the file that is written while the program runs is the finished one" {
	for mode in streaming circular oneshot; do
		touch trace.fxt && before=$(stat -c %i trace.fxt)
		fxtrun --buffering-mode="$mode" "$counted" 200000
		[ "$(stat -c %i trace.fxt)" = "$before" ]
		named trace.fxt $'leaf\nmain'
		rm trace.fxt
	done
}

@test "source positions are in a trace that was named while it was written" {
	fxtrun "$counted" 10
	fxt dump trace.fxt | grep 'userspace-object .* name="leaf" {file=".*/counted.c", line=uint32:[1-9]'
	fxt dump trace.fxt | grep 'userspace-object .* name="main" {file=".*/counted.c", line=uint32:[1-9]'
}

@test "after fxtrun was killed the calls that were saved have their names" {
	fxtrun --buffer-size=1M "$counted" 1000000 wait >out 3>&- &
	tracer=$!
	program=$(await '^ready' out | cut -d' ' -f2)
	# A record written before its name was known is filled in as soon as it is.
	timeout 60 sh -c 'until grep -qa leaf trace.fxt; do :; done'
	# The job first: it would finish the trace of a recorder that is killed alone.
	kill -9 "$tracer" $(recorder_of "$tracer")
	wait "$tracer" || true
	kill "$program"
	named trace.fxt leaf
	[ "$(calls_of trace.fxt leaf)" -gt 900000 ]
}

@test "a program and a library that are unlinked while they run have their names" {
	built cc -shared -fPIC -o libgone.so -x c - <<-'END'
		void in_library(void) {}
	END
	built cc -o gone -x c - -x none ./libgone.so -Wl,-rpath,"$PWD" <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		void in_library(void);
		void late(void) { in_library(); }
		int main(void)
		{
			char line[8];
			puts("up");
			fflush(stdout);
			if (fgets(line, sizeof line, stdin))
				late();
			return 0;
		}
	END
	mkfifo go
	fxtrun ./gone <go >out 3>&- &
	tracer=$!
	exec 9>go
	await '^up' out
	# The names of its modules are read as soon as they are registered; the main
	# function is.
	await_modules
	rm gone libgone.so
	echo on >&9
	exec 9>&-
	wait "$tracer"
	named trace.fxt $'in_library\nlate\nmain'
}

# The namer has the files open once it has looked at the registrations, which it does at
# least every 64 ms.
await_modules()
{
	timeout 60 sh -c "until grep -q libgone /proc/$(recorder_of "$tracer" | tr -d ' ')/maps; do :; done"
}

# functions TRACE: their names and source positions, as the trace has them.
functions()
{
	fxt dump "$1" | sed -n 's/.*userspace-object .* name=\("[^"]*"\) {\(file=.* line=[^,]*\),.*/\1 \2/p' | sort
}

@test "a raw trace has no names, and the same ones once it is symbolized" {
	fxtrun --raw -o raw.fxt "$counted" 1000
	[ -z "$(functions raw.fxt)" ]
	[ "$(fxt dump raw.fxt | grep -c 'string .*{{{pc:')" = 2 ]
	fxt symbolize -o later.fxt raw.fxt
	fxtrun -o at_once.fxt "$counted" 1000
	[ "$(functions at_once.fxt | wc -l)" = 2 ]
	diff <(functions later.fxt) <(functions at_once.fxt)
	diff <(calls_by_name later.fxt) <(calls_by_name at_once.fxt)
	[ "$(calls_of later.fxt leaf)" = 1000 ]
}

@test "a trace without names is read with them, by every command, and stays as it is" {
	fxtrun --raw --heap=objects -o raw.fxt "$counted" 1000
	cp raw.fxt before.fxt
	fxt dump raw.fxt | grep -c '{{{pc:'
	for command in report tree last replay heap locks threads 'sql select\ name\ from\ functions'; do
		eval "fxt $command raw.fxt" >said 2>&1
		fails grep '{{{' said
	done
	for command in flamegraph html 'export --to=folded' 'export --to=chrome-json' 'export --to=speedscope'; do
		fxt $command -o drawn raw.fxt
		fails grep '{{{' drawn
	done
	fxt report raw.fxt | grep -E ' main$'
	fxt report - <raw.fxt | grep -E ' main$'
	fxt cut --function=leaf -o named.fxt raw.fxt
	[ "$(calls_of named.fxt leaf)" = 1000 ]
	says 2 "fxt: raw.fxt: cannot be written: it is the trace itself; choose another file" fxt html -o raw.fxt raw.fxt
	cmp raw.fxt before.fxt
}

@test "functions of a stripped program appear by module, and a note says what to do" {
	cp "$counted" stripped
	strip stripped
	fxtrun ./stripped 1000
	fxt report >report
	grep -E '^2 functions of stripped have no name: its symbols were stripped' report
	[ "$(grep -cE ' stripped\+0x[0-9a-f]+$' report)" = 2 ]
	# Nobody can do much about the C library. Its loader is called ld-linux-x86-64.so.2.
	mv stripped ld-linux
	fxtrun ./ld-linux 1000
	fxt report >report
	fails grep 'no name' report
	[ "$(grep -cE ' ld-linux\+0x[0-9a-f]+$' report)" = 2 ]
}

# plugin_in_a_memfd LINKER_OPTION: ./host loads plug.so from a memfd, as descriptor 100,
# calls it, says "up" and waits for a line; `./host close` closes the descriptor right after
# dlopen(). decoy.so is like plug.so, with other names.
plugin_in_a_memfd()
{
	cat >plug.c <<-'END'
		__attribute__((noinline)) int plug_inner(int x) { return x + 1; }
		int plug(int x) { return plug_inner(x) * 2; }
	END
	built cc -O1 -shared -fPIC "$1" -o plug.so plug.c
	sed 's/plug_inner/wrong_inner/; s/plug(/wrong(/; s/plug_inner/wrong_inner/' plug.c >decoy.c
	built cc -O1 -shared -fPIC "$1" -o decoy.so decoy.c
	cat >host.c <<-'END'
		#include <dlfcn.h>
		#include <fcntl.h>
		#include <stdio.h>
		#include <sys/mman.h>
		#include <unistd.h>
		int main(int count, char **arguments)
		{
			char data[65536], line[8];
			int made = memfd_create("plugin", 0), in = open("plug.so", O_RDONLY);
			int (*plug)(int);
			for (ssize_t n; (n = read(in, data, sizeof data)) > 0;)
				if (write(made, data, n) != n)
					return 1;
			if (dup2(made, 100) < 0)
				return 1;
			close(made);
			plug = (int (*)(int))dlsym(dlopen("/proc/self/fd/100", RTLD_NOW), "plug");
			if (count > 1)
				close(100);
			if (plug(20) != 42)
				return 1;
			puts("up");
			fflush(stdout);
			return !fgets(line, sizeof line, stdin);
		}
	END
	built cc -O1 -D_GNU_SOURCE -o host host.c
}

# recorded_once PATTERN COMMAND...: under fxtrun, which has seen the plugin's file when
# PATTERN is in its mappings.
recorded_once()
{
	local pattern=$1

	shift
	rm -f go out
	mkfifo go
	fxtrun "$@" <go >out 3>&- 100<decoy.so &
	tracer=$!
	exec 9>go
	await '^up' out
	timeout 60 sh -c "until grep -q '$pattern' /proc/$(recorder_of "$tracer" | tr -d ' ')/maps; do :; done"
	echo on >&9
	exec 9>&-
	wait "$tracer"
}

nameless_plugin()
{
	fxt report "$1" 100<decoy.so >report
	fails grep wrong report
	[ "$(grep -cE ' /proc/self/fd/100\+0x[0-9a-f]+$' report)" = 2 ]
	grep -E '^2 functions of /proc/self/fd/100 have no name: it was loaded from a memfd or another descriptor, which' report
}

@test "a plugin that is loaded from a memfd has its names while its descriptor is open" {
	plugin_in_a_memfd -Wl,--build-id
	recorded_once memfd:plugin ./host
	named trace.fxt $'main\nplug\nplug_inner'
	functions trace.fxt | grep '"plug" file=".*/plug.c"'
}

@test "a plugin whose memfd is closed at once has its names if the kernel allows that; otherwise a note says why not" {
	plugin_in_a_memfd -Wl,--build-id
	maps=(/proc/$$/map_files/*)
	if head -c 1 "${maps[0]}" >first; then
		recorded_once memfd:plugin ./host close
		named trace.fxt $'main\nplug\nplug_inner'
	else
		recorded_once . ./host close
		nameless_plugin trace.fxt
	fi
}

@test "a plugin from a memfd without a build ID never has the names of a file that the reader has open" {
	plugin_in_a_memfd -Wl,--build-id=none
	recorded_once . ./host
	nameless_plugin trace.fxt
}

@test "a plugin from a memfd in a trace without fxtrun: by address, and a note says why" {
	for option in --build-id --build-id=none; do
		plugin_in_a_memfd "-Wl,$option"
		LD_PRELOAD=$build/libfxtagent.so FXT_OUTPUT=$PWD/alone.fxt ./host <<<on
		nameless_plugin alone.fxt
		rm alone.fxt
	done
}

# in_latin_1: a program, a library and a plugin in a directory; all their names are not
# UTF-8. The program calls the library, and the plugin it is given.
in_latin_1()
{
	e=$(printf '\xe9')
	mkdir -p "caf$e"
	built cc -shared -fPIC -o "caf$e/libl$e.so" -x c - <<<'void in_library(void) {}'
	built cc -shared -fPIC -o "caf$e/plug$e.so" -x c - <<<'void in_plugin(void) {}'
	built cc -o "caf$e/main$e" -x c - -x none "$PWD/caf$e/libl$e.so" <<-'END'
		#include <dlfcn.h>
		void in_library(void);
		int main(int count, char **arguments)
		{
			in_library();
			((void (*)(void))dlsym(dlopen(arguments[count - 1], RTLD_NOW), "in_plugin"))();
		}
	END
}

@test "a program, a library, a plugin and a command line that are not UTF-8: the trace is valid, and functions have names" {
	in_latin_1
	fxtrun "caf$e/main$e" "argument$e" "caf$e/plug$e.so"
	fxt check trace.fxt
	decode check trace.fxt
	named trace.fxt $'in_library\nin_plugin\nmain'
	fxt sql 'select module from modules' | grep -F '/caf\xe9/plug\xe9.so'
	grep -aF 'argument\xe9' trace.fxt
}

@test "paths that are not UTF-8 in a trace without fxtrun: it is valid, and functions have names" {
	in_latin_1
	LD_PRELOAD=$build/libfxtagent.so FXT_OUTPUT=$PWD/alone.fxt "caf$e/main$e" "caf$e/plug$e.so"
	fxt check alone.fxt
	decode check alone.fxt
	fxt symbolize -o trace.fxt alone.fxt
	fxt check trace.fxt
	named trace.fxt $'in_library\nin_plugin\nmain'
}

@test "a path that contains what looks like an escape is read as it is written" {
	in_latin_1
	mv "caf$e/plug$e.so" 'caf\xe9.so'
	fxtrun -o trace.fxt "caf$e/main$e" './caf\xe9.so'
	named trace.fxt $'in_library\nin_plugin\nmain'
	LD_PRELOAD=$build/libfxtagent.so FXT_OUTPUT=$PWD/alone.fxt "caf$e/main$e" './caf\xe9.so'
	fxt symbolize -o later.fxt alone.fxt
	named later.fxt $'in_library\nin_plugin\nmain'
}

@test "room that was left for a name is no part of a record, and goes when the trace is rewritten" {
	compiled launcher/counted.c
	fxtrun --no-sched -o whole.fxt ./program 100 >out
	# Behind each section, and each provider that is described, a hundred times: what comes is of that provider.
	python3 - whole.fxt roomy.fxt <<-'END'
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		words = struct.unpack("<%dQ" % (len(data) // 8), data)
		out, at = [], 0
		while at < len(words):
		    header = words[at]
		    size = header >> 4 & 0xfff if header & 15 != 15 else header >> 4 & 0xffffffff
		    out += words[at:at + size]
		    if header & 15 == 0 and header >> 16 & 15 in (1, 2):
		        out += [0x20010 | (header >> 20 & 0xffffffff) << 20] * 100
		    at += size
		open(sys.argv[2], "wb").write(struct.pack("<%dQ" % len(out), *out))
	END
	sound roomy.fxt
	[ "$(stat -c %s roomy.fxt)" -ge $(($(stat -c %s whole.fxt) + 800)) ]
	fxt symbolize -o rewritten.fxt roomy.fxt
	cmp rewritten.fxt <(fxt symbolize -o whole2.fxt whole.fxt && cat whole2.fxt)
	sound rewritten.fxt
}
