#!/usr/bin/env bats
# The examples of the manual page: what stands below each command is what it prints.

load helpers

@test "each example prints what its page shows; make manual writes it anew" {
	"$root/tests/manual" "$build" "$root/README.md" "$root"/doc/manual/*.md "$root"/doc/*.[1-9]
}

@test "an answer that differs from the page's is reported, with the command" {
	sed 's/^trace.fxt: 1302 calls/trace.fxt: 1303 calls/' "$root/doc/fxt-report.1" >page
	fails "$root/tests/manual" "$build" page >out
	grep -q '^-trace.fxt: 1303 calls of 11 functions' out
	grep -q '^+trace.fxt: 1302 calls of 11 functions' out
	"$root/tests/manual" "$build" --write page
	diff page "$root/doc/fxt-report.1"
}

@test "every command has a page with an example, except two that print nothing" {
	fxt --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' >commands
	[ "$(wc -l <commands)" -gt 15 ]
	while read -r command; do
		grep -q "^\.It Xr fxt-$command 1$" "$root/doc/fxt.1" || { echo "fxt(1) does not name fxt-$command(1)" && false; }
		grep -qE "^\\$ fxt $command\b" "$root/doc/fxt-$command.1" || [[ $command =~ ^(tui|view)$ ]] ||
			{ echo "no example of fxt $command" && false; }
	done <commands
}

@test "pages: mandoc has no complaint, and each page that they refer to exists" {
	for page in "$root"/doc/*.[1-9]; do
		mandoc -Tlint -W warning "$page"
		for name in $(sed -nE 's/^\.(It |Xo |Nm .*)?Xr (fxt[a-z-]*|libfxt[a-z]*) ([0-9]).*/\2.\3/p' "$page"); do
			[ -f "$root/doc/$name" ] || [ $name = fxt-c.1 ] || { echo "${page##*/}: no page $name" && false; }
		done
	done
}

# Commands of which no output is shown are in these pages alone; the tests below run them.
@test "no page has a command that is not run" {
	grep -l '^\.Dl \$ ' "$root"/doc/*.[1-9] | sed 's,.*/,,' | diff - <(printf '%s\n' fxt-cc.1 fxtctl.1 fxtrun.1 libfxtagent.7)
	for page in "$root"/doc/*.[1-9]; do
		diff <(grep -c '^\$ ' "$page") <(sed -n '/^\.Bd -literal$/{n;:a;/^\.Ed/b;/^\$ /p;n;ba}' "$page" | wc -l)
	done
}

@test "the traces of the manual are those of its program" {
	for trace in trace old; do
		zstd -dq "$root/doc/manual/$trace.fxt.zst" -o $trace.fxt
		diff <(calls_by_name $trace.fxt) <(reported_calls $trace.fxt)
		calls_by_name $trace.fxt | cut -f 1 >functions
		[ "$(wc -l <functions)" = 11 ]
		while read -r function; do
			grep -q "^[a-z].*\b$function(" "$root/doc/manual/shop.c"
		done <functions
	done
	cp "$root/doc/manual/shop.c" .
	sh -ec "$(sed -n 's/^ \* *\(gcc .*\)/\1/p' shop.c)"
	[ -x shop ]
}

# The programs in the examples of the manual pages: a server that runs until a file appears,
# or all files are gone as after a failed test, a daemon and a program.
programs_of_examples()
{
	cat >server.c <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		static void compare(void) { }
		static void hash_name(void) { compare(); }
		static void handle_upload(void) { hash_name(); usleep(2000); }
		static void handle_other(void) { usleep(2000); }
		int main(void)
		{
			puts("ready");
			fflush(stdout);
			while (unlink("stop") != 0 && access("server.c", F_OK) == 0) {
				handle_upload();
				handle_other();
			}
			handle_other();
			return 0;
		}
	END
	echo '#include <unistd.h>
		static void serve(void) { usleep(1000); }
		int main(void) { if (daemon(1, 0) == 0) serve(); return 0; }' >daemon.c
	echo '__attribute__((noinline)) void work(void) { __asm__(""); } int main(void) { work(); return 0; }' >prog.c
	for program in server daemon; do
		gcc -g -finstrument-functions -o $program $program.c
	done
}

# end_server: the server of an example has ended, and with it the recording.
end_server()
{
	touch stop
	timeout 60 sh -c 'while [ -e stop ]; do sleep 0.01; done'
	wait $server
}

# run_examples PAGE: runs each command line of the page's examples, in their order and as it
# stands, except that durations are one second. Each has to succeed.
run_examples()
{
	local line server=

	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/s/^\.Dl \$ //p' "$root/doc/$1" >lines
	while read -r line; do
		line=$(sed -E 's/--duration=[0-9]+(s?)/--duration=1\1/' <<<"$line")
		case $line in
		fxtrun*server*)
			[ -z "$server" ] || end_server
			rm -f out
			eval "${line% &} >out 2>err 3>&- &"
			server=$!
			await ready out
			[[ $line = *'&' ]] || wait $server
			;;
		*)
			eval "$line" || { echo "failed: $line" && return 1; }
			;;
		esac
	done <lines
	[ -z "$server" ] || end_server
}

# What a session says at its end, and a recording on demand.
session='fxtrun: [0-9,]+ events, [12] threads?, [12] process(es)?, 0 lost, [0-9.]+ kB: trace.fxt( \([^()]*\))*'
recording='[0-9,]+ events, 1 thread, 1 process, 0 lost, [0-9.]+ kB: .*'
# The report of two functions.
table=('trace.fxt: 2 calls of 2 functions in 1 thread, [0-9.]+ [mun]?s' 'calls +total +self .* function'
	' +1 .* main' ' +1 .* work')

@test "fxtrun.1: each command line of its examples does what it is there for" {
	export XDG_RUNTIME_DIR=$PWD
	programs_of_examples
	run_examples fxtrun.1 >said 2>told
	[ "$(wc -l <lines)" = 8 ]
	only said ready "${table[@]}" "$recording/monday.fxt" "$recording/slow.fxt \([0-9,]+ calls elided, [^()]*\)"
	only told "$session"
	[ "$(calls_of monday.fxt handle_upload)" -gt 0 ]
	[ "$(calls_of slow.fxt handle_upload)" -gt 0 ]
	[ "$(calls_of slow.fxt compare)" = 0 ]
}

@test "fxtctl.1: each command line of its examples does what it is there for" {
	export XDG_RUNTIME_DIR=$PWD
	programs_of_examples
	run_examples fxtctl.1 >said 2>told
	[ "$(wc -l <lines)" = 14 ]
	only said ready '.*/last.fxt: [0-9,]+ events, 0 lost, [0-9,]+ bytes' "$recording/all.fxt" "$recording/upload.fxt"
	[ ! -s told ]
	for trace in last all upload; do
		fxt check $trace.fxt
		[ "$(calls_of $trace.fxt handle_upload)" -gt 0 ]
	done
	[ "$(calls_of all.fxt compare)" -gt 0 ]
	# Only what is under a function, with what is inside.
	[ "$(calls_of upload.fxt compare)" -gt 0 ]
	[ "$(calls_of upload.fxt main)" = 0 ]
	# The changes, and a call outside handle_upload that began after them: with the last
	# change all calls are recorded again.
	fxt dump trace.fxt >dump
	grep 'name="fxt: filter"' dump >changes
	[ "$(wc -l <changes)" = 6 ]
	sed -n 5p changes | grep -- --only-under=handle_upload
	sed -nE 's/.* time=([0-9]+) .*"(handle_other|fxt: filter)".*/\1 \2/p' dump | sort -n | tail -n 1 | grep handle_other
}

@test "fxt-cc.1 and libfxtagent.7: each command line of their examples does what it is there for" {
	programs_of_examples
	printf 'all: prog\nprog: prog.c\n\t$(CC) -O2 -g -o prog prog.c\n' >Makefile
	mkdir build && ln -s "$build/libfxtagent.so" build/
	run_examples fxt-cc.1 >said 2>told
	[ "$(wc -l <lines)" = 4 ]
	only said "${table[@]}" "make: Nothing to be done for 'all'."
	only told "$session"
	run_examples libfxtagent.7 >said 2>told
	[ "$(wc -l <lines)" = 2 ]
	only said "${table[@]/#trace/alone}"
	[ ! -s told ]
	rm prog
	eval "$(sed -n 's/^\.Dl \$ \(FXT_CC=clang.*\)/\1/p' "$root/doc/fxt-cc.1")" >said
	only said 'fxt-cc -O2 -g -o prog prog.c'
	nm prog | grep -q __cyg_profile_func_enter
}
