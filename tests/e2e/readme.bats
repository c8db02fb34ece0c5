#!/usr/bin/env bats
# README.md and doc/manual/recording.md are right: their commands, word for word, on a fresh
# clone. `make test`, which runs this, is not tested; manual.bats runs the commands whose
# output is shown.

load helpers

setup_file()
{
	git -C "$BATS_TEST_DIRNAME" rev-parse >/dev/null 2>&1 || skip "this is no git checkout"
	mkdir "$BATS_FILE_TMPDIR/sockets"
	git -C "$BATS_FILE_TMPDIR" clone --quiet "$BATS_TEST_DIRNAME/../.." clone
	cat >"$BATS_FILE_TMPDIR/clone/prog.c" <<-'END'
		#include <stdio.h>
		static void show(const char *argument);
		int main(int argc, char **argv)
		{
			for (int i = 1; i < argc; i++)
				show(argv[i]);
			return 0;
		}
		static void __attribute__((noinline)) show(const char *argument) { puts(argument); }
	END
	# Serves ten requests, and as many again when its input has ended. Each leaves 1000
	# bytes behind.
	cat >"$BATS_FILE_TMPDIR/clone/server.c" <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		void *volatile answer;
		static void serve(void) { answer = malloc(1000); }
		static void serve_ten(void) { for (int i = 0; i < 10; i++) serve(); }
		int main(void)
		{
			serve_ten();
			puts("ready");
			fflush(stdout);
			while (getchar() != EOF) { }
			serve_ten();
			return 0;
		}
	END
	gcc -g -finstrument-functions -o "$BATS_FILE_TMPDIR/clone/server" "$BATS_FILE_TMPDIR/clone/server.c"
}

setup()
{
	cd "$BATS_FILE_TMPDIR/clone" || return 1
	# Some commands are those of an installed fxt. An option of the make that runs this
	# is none of a new user's.
	export PATH=$PWD/build:$PATH XDG_RUNTIME_DIR=$BATS_FILE_TMPDIR/sockets MAKEFLAGS=-j$(nproc)
}

# blocks: the code blocks of the two pages, without those that show what is printed, each
# command behind the number of its block.
blocks()
{
	awk '
		/^    / && !in_block { in_block = 1; shows = /^    \$/; number++ }
		/^[^ ]/ || (/^$/ && !shows) { in_block = 0 }
		in_block && !shows { print number "\t" substr($0, 5) }' README.md doc/manual/recording.md |
		grep -v '\smake test '
}

# block WORDS: the commands of the first of these blocks that has these words.
block()
{
	local number

	number=$(blocks | grep -m 1 -F -e "$1" | cut -f 1)
	blocks | sed -n "s/^$number\t//p"
}

# said FILE PATTERN...: each line of what fxtrun says there matches the pattern of its
# number, and there are no more. Whether the kernel allows context switches is another
# matter.
said()
{
	local line number=0 file=$1

	shift
	sed -i '/^fxtrun: no context switches in the trace: /d' "$file"
	cat "$file"
	[ "$(wc -l <"$file")" = $# ]
	while read -r line; do
		[[ $line =~ ^$1$ ]] || { echo "not expected: $line" && return 1; }
		shift
	done <"$file"
}

# What fxtrun says of a trace in which nothing is missing: recorded EVENTS [FILE]
recorded()
{
	echo "fxtrun: $1 events?, 1 thread, 1 process, 0 lost, [0-9.]+ [kM]B: ${2:-trace.fxt}( \(the previous one is [a-z./]*trace.fxt.old\))?"
}

@test "Your own program" {
	block '--its-own arguments' >commands
	[ "$(wc -l <commands)" = 4 ]
	sh -e commands >out 2>err
	grep '^fxtrun: ' err >told
	said told "$(recorded '[0-9]+')"
	# The compiler's lines, what the program prints, and the report.
	sed -i '/^  [A-Z]\{2,4\}	/d; /is up to date\|Nothing to be done/d; /^make/d' out
	only out --its-own arguments 'trace.fxt: [0-9]+ calls of [0-9]+ functions in 1 thread, [0-9.]+ [mun]?s' \
		'calls +total +self .* function' ' +1 .* main' ' +2 .* show'
	[ "$(calls_of trace.fxt show)" = 2 ]
	[ -x build/fxtctl ]
}

@test "make without a compiler, or without headers, names make deps" {
	fails make O=bare CC=no-such-compiler 2>said
	grep -x 'make: no compiler no-such-compiler; make deps installs gcc' said
	# deps.sh looks for the header of a package that is not there.
	sed 's/<jansson.h>  /<no-such.h>  /' tools/deps.sh >deps.sh
	sh deps.sh --name build 2>said
	grep -x 'make: these packages seem to be missing, and make deps installs them: libjansson-dev ' said
	sh tools/deps.sh --name build 2>said
	[ ! -s said ]
	rm -rf bare deps.sh
}

@test "make demo" {
	block 'make demo' >commands
	[ "$(wc -l <commands)" = 1 ]
	sh -ex commands >out
	grep -E ' main$' out
	grep -F "$PWD/build/demo.fxt" out
	sound build/demo.fxt
}

@test "a flight recorder" {
	block 'fxtctl --session' >commands
	[ "$(wc -l <commands)" = 2 ]
	rm -f input && mkfifo input
	sh -ec "$(head -n 1 commands)" <input >out 3>&- &
	exec 8>input
	await ready out
	sh -ec "$(tail -n 1 commands)"
	exec 8>&-
	wait $!
	[ "$(calls_of last.fxt serve)" = 10 ]
	[ "$(calls_of trace.fxt serve)" = 20 ]
}

@test "calls that raise a trigger" {
	block "--trigger='serve" >commands
	[ "$(wc -l <commands)" = 1 ]
	sh -ec "$(cat commands)" </dev/null 2>err
	said err "$(recorded '[0-9]+')"
	[ "$(calls_of trace.fxt serve)" = 20 ]
	# None took that long. With a shorter time each call does.
	fails ls trace-1.fxt
	rm -f input && mkfifo input
	sh -ec "$(sed 's/5ms/0ns/' commands)" <input 2>said 3>&- &
	exec 8>input
	await '^fxtrun: snapshot: ' said
	exec 8>&-
	wait $!
}

@test "a server that is recorded whenever somebody asks" {
	block 'fxtctl record' >commands
	[ "$(wc -l <commands)" = 3 ]
	rm -f input && mkfifo input
	sh -ec "$(head -n 1 commands)" <input >out 3>&- &
	server=$!
	exec 8>input
	await ready out
	sh -ec "$(sed -n '2s/5s/0.1s/p' commands)" 8>&-
	fxt check a.fxt
	sh -ec "$(tail -n 1 commands)" 8>&- 3>&- &
	until fxtctl list | grep -q STARTED; do :; done
	exec 8>&-
	wait $! $server
	# Recorded or not, the report has them all.
	[ "$(calls_of a.fxt serve)" = 0 ]
	reported_calls b.fxt | grep -x "$(printf 'serve\t10')"
}

@test "the heap" {
	block 'fxt heap' >commands
	[ "$(wc -l <commands)" = 2 ]
	sh -e commands >out 2>err </dev/null
	said err "$(recorded '[0-9]+')"
	only out ready 'trace.fxt: 22 blocks of 1 process' 'process [0-9]+ "server"' 'allocated +[0-9]+ bytes +22 blocks' \
		'freed +0 blocks' 'temporary +0 bytes +0 blocks' 'peak +[0-9]+ bytes +22 blocks, after [0-9.]+ [mun]?s' \
		'leaked +20000 bytes +20 blocks' 'kept +[0-9]+ bytes +2 blocks, by the C library' \
		' +bytes +blocks    leaked: call path' ' +20000 100.0% +20    serve' ' +serve_ten' ' +main'
}

@test "excluded functions" {
	block '--exclude' >commands
	[ "$(wc -l <commands)" = 2 ]
	# The server is C and links no zlib: its patterns match nothing, and that is told.
	sh -ec "$(head -n 1 commands)" </dev/null 2>err
	said err "$(recorded '[0-9]+')" 'fxtrun: --exclude=std::\* matches no function that was called' \
		'fxtrun: --exclude=file:\*/zlib/\* matches no function that was called' \
		'fxtrun: --exclude=module:libfoo\* matches no function that was called'
	[ "$(calls_of trace.fxt main) $(calls_of trace.fxt serve)" = '1 20' ]
	sh -ec "$(tail -n 1 commands)" </dev/null 2>err
	said err "$(recorded '[0-9]+')"
	[ "$(calls_of trace.fxt main) $(calls_of trace.fxt serve)" = '0 20' ]
}

@test "calls that take long" {
	block 'fxtrun --min-duration' >commands
	[ "$(wc -l <commands)" = 2 ]
	while read -r command; do
		sh -ec "$command" </dev/null 2>err
		said err "fxtrun: [0-9]+ events?, 1 thread, 1 process, 0 lost, [0-9.]+ kB: trace.fxt( \\([0-9]+ calls? elided, [^)]*\\))?( \\(the previous one is trace.fxt.old\\))?"
		# Recorded or not, the report has them all.
		reported_calls trace.fxt >reported
		grep -x "$(printf 'serve\t20')" reported
	done <commands
}

@test "functions that are muted by themselves" {
	block 'fxtrun --auto' >commands
	[ "$(wc -l <commands)" = 1 ]
	sh -ec "$(cat commands)" </dev/null 2>err
	said err "$(recorded '[0-9]+')"
	# Functions with few calls are not muted.
	[ "$(calls_of trace.fxt main) $(calls_of trace.fxt serve)" = '1 20' ]
	mkdir -p busy && cd busy
	echo 'static void tiny(void) { __asm__ volatile(""); }
		int main(void) { for (int i = 0; i < 400000000; i++) tiny(); return 0; }' >server.c
	gcc -O2 -g -finstrument-functions -o server server.c
	sh -ec "$(cat ../commands)" 2>err
	said err "$(recorded '[0-9,]+')" \
		'fxtrun: muted by --auto: tiny since [0-9.]+ [a-z]+: [0-9,]+ calls recorded until then' \
		'fxtrun: fxt suggest trace.fxt prints options that exclude them from the beginning'
	fxt suggest trace.fxt | grep -- "--exclude='tiny'"
}

@test "a program that was not built for it" {
	block 'fxtrun --patch' | grep -v -e --attach >commands
	[ "$(wc -l <commands)" = 3 ]
	mkdir -p stripped/build && cd stripped
	echo '#include <stdio.h>
		__attribute__((noinline)) void show(int number) { printf("%d\n", number); }
		int main(void) { for (int i = 0; i < 10; i++) show(i); return 0; }' >prog.c
	gcc -O2 -s -o prog prog.c
	ln -sf ../../build/fxtrun build/fxtrun
	while read -r command; do
		sh -ec "$command" </dev/null 2>err >out
		seq 0 9 | diff - out
		case $command in
		*libz*) said err "$(recorded '[0-9]+')" 'fxtrun: --patch=libz\.so\* matches no module of the programs' ;;
		*) said err "$(recorded '[0-9]+')" ;;
		esac
		case $command in
		*--patch*) decode calls trace.fxt | awk '$4 == 10 { found = 1 } END { exit !found }' ;;
		*) [ "$(calls_of trace.fxt printf)" = 10 ] ;;
		esac
	done <../commands
}

@test "one file after the other" {
	block 'fxtrun --rotate' >commands
	[ "$(wc -l <commands)" = 3 ]
	mkdir -p rotated && cd rotated
	echo '#include <unistd.h>
		static void serve(void) { __asm__ volatile(""); }
		int main(void) { for (int i = 0; i < 1000000; i++) { serve(); if (i % 400000 == 0) usleep(150000); } return 0; }' >server.c
	gcc -O2 -g -finstrument-functions -o server server.c
	# Less than a gigabyte and an hour, and as many files as there are.
	sh -ec "$(sed -n '1s/1G/4M/p' ../commands)" 2>err
	grep -E '^fxtrun: 1,000,0[01][0-9] events, 1 thread, 1 process, 0 lost, [0-9]+ MB: trace.000001.fxt to trace.00000[0-9].fxt \([2-9] files\)$' err
	sh -ec "$(sed -n '2s/1h/100ms/; 2s/24/9999/p' ../commands)" 2>err
	grep -E '^fxtrun: 1,000,0[01][0-9] events, 1 thread, 1 process, 0 lost, .* to srv' err
	sh -ec "$(sed -n '3s/00001\[0-3\]/*/p' ../commands)"
	zstd -dq evening.fxt.zst
	[ "$(calls_of evening.fxt serve)" = 1000000 ]
}

@test "a process that runs already" {
	local program

	[ "$(uname -m)" = x86_64 ] || skip "attaching works on x86-64"
	block 'fxtrun --attach' | grep -e --attach >commands
	[ "$(wc -l <commands)" = 1 ]
	sleep 600 3>&- &
	program=$!
	timeout 60 strace -o calls -p $program 2>probe 3>&- &
	await 'attached|strace: .*: |not found' probe || true
	kill $! || true
	wait $! || true
	grep -q attached probe || { kill $program && skip "strace cannot attach to a process here"; }
	sh -ec "$(sed "s/PID/$program/; s/5s/100ms/" commands)" 2>err
	grep -xE "fxtrun: attached to process $program \(.*\); Ctrl-C or fxtctl terminate ends the recording" err
	grep -E '^fxtrun: .* 0 lost, .* \(1 still running\)$' err
	kill $program
	wait $program || [ $? = 143 ]
}

# The commands with --args are those of tests/e2e/call_arguments.bats.
@test "no other commands stand in these pages" {
	for words in '--its-own arguments' 'fxtrun --patch' 'make demo' --exclude 'fxtrun --min-duration' 'fxtrun --auto' 'fxtctl --session' 'fxtctl record' "--trigger='serve" 'fxt heap' "--args='serve" "--library-calls --args" 'fxtrun --rotate'; do
		block "$words"
	done | sort -u >tested
	blocks | cut -f 2- | sort -u | diff tested -
	[ "$(wc -l <README.md)" -le 200 ]
}
