#!/usr/bin/env bats
# Calls and files that used to be lost, or mixed up, while the trace reported no loss. Each
# test counts what the program did by other means than the trace.

load helpers

# alone NAME=VALUE... COMMAND...: runs the command without fxtrun.
alone()
{
	timeout 120 env LD_PRELOAD="$build/libfxtagent.so" "$@"
}

# A tool beside the library that takes its time, and leaves a file when it is done.
slow_symbolizer()
{
	mkdir -p slow && cp "$build/libfxtagent.so" slow
	cat >slow/fxt <<-END
		#!/bin/sh
		/bin/sleep 0.3
		$build/fxt "\$@"
		: >$PWD/named
	END
	chmod +x slow/fxt
}

@test "standalone: a limit of file sizes, or a standard error without a reader, raises no signal in the program, and is reported" {
	local bytes handled status

	${CC:-cc} -O2 -g -D_GNU_SOURCE -finstrument-functions -o file_limit "$root/tests/programs/harm/file_limit.c"
	for bytes in 0 100000; do
		for handled in "" handled; do
			alone FXT_OUTPUT=limited.fxt ./file_limit $bytes 50000 $handled 2>&1 | cat >out
			status=${PIPESTATUS[0]}
			[ "$status" = 4 ]
			grep -x "0 signals" out
			grep -x "fxt: cannot write to $PWD/limited.fxt: File too large; the trace ends here" out
			[ "$(stat -c %s limited.fxt)" -le $bytes ]
			# Its standard error has no reader any more.
			{ alone FXT_OUTPUT=limited.fxt ./file_limit $bytes 50000 $handled || echo $? >status; } 2> >(:) | cat >out
			grep -x 4 status
			grep -x "0 signals" out
		done
	done
}

@test "standalone: the trace is finished when the program has ended, and the program gets no SIGCHLD for it" {
	compiled loss/standalone.c
	slow_symbolizer
	LD_PRELOAD=$PWD/slow/libfxtagent.so FXT_OUTPUT=trace.fxt ./program quiet >out
	[ -e named ]
	[ ! -s out ]
	[ "$(calls_of trace.fxt quiet)" = 1 ]
}

@test "standalone: a child whose parent ignores or blocks SIGCHLD is waited for nevertheless" {
	compiled loss/standalone.c
	slow_symbolizer
	(trap '' CHLD; LD_PRELOAD=$PWD/slow/libfxtagent.so FXT_OUTPUT=trace.fxt exec ./program quiet)
	[ -e named ]
}

@test "standalone: a forked child writes a file of its own" {
	compiled loss/standalone.c
	alone FXT_OUTPUT=trace.fxt ./program forks
	[ "$(ls ./*.fxt | wc -l)" = 2 ]
	for file in trace.fxt trace.*.fxt; do
		decode check "$file"
		fxt check "$file"
	done
	[ "$(calls_of trace.fxt in_parent)" = 3000000 ]
	[ "$(calls_of trace.fxt in_child)" = 0 ]
	[ "$(calls_of "$(echo trace.*.fxt)" in_child)" = 3000000 ]
}

@test "standalone: a child's image of its own does not replace its parent's file, nor the parent the child's" {
	compiled loss/standalone.c
	alone FXT_OUTPUT=trace.fxt ./program child
	[ "$(ls ./*.fxt | wc -l)" = 2 ]
	[ "$(calls_of trace.fxt quiet)" = 1 ]
	[ "$(calls_of "$(echo trace.*.fxt)" in_parent)" = 2 ]
}

@test "standalone: %p in FXT_OUTPUT is the process; an earlier trace is replaced" {
	compiled loss/standalone.c
	alone FXT_OUTPUT="$PWD/a.%p.b" ./program quiet
	[[ $(echo a.*.b) =~ ^a\.[0-9]+\.b$ ]]
	alone FXT_OUTPUT=trace.fxt ./program child
	rm trace.*.fxt
	alone FXT_OUTPUT=trace.fxt ./program quiet
	[ "$(ls ./*.fxt)" = ./trace.fxt ]
	[ "$(calls_of trace.fxt quiet)" = 1 ]
}

# hidden HOW: the program's child cannot see the session's files, and only fxtrun prints a
# message.
hidden()
{
	[ "$(id -u)" = 0 ] || skip "only root may do this"
	compiled loss/hidden.c
	mkdir empty && cd empty
	timeout 60 fxtrun -o ../trace.fxt ../program "$1" >../out 2>../said
	cd ..
	[ ! -s out ]
	[ "$(grep -cv '^fxtrun: ' said)" = 0 ]
	fxt check trace.fxt
}

@test "a child that sees other files, after chroot, is in the trace" {
	hidden chroot
	[ "$(calls_of trace.fxt in_child)" = 1000 ]
	fails grep untraced said
}

@test "a child that cannot reach the session at all is counted" {
	hidden network
	[ "$(calls_of trace.fxt in_child)" = 0 ]
	grep -q '(1 ran untraced)$' said
}

@test "children that outlive their parents, and cannot reach the session, are counted" {
	compiled loss/orphan.c
	orphans()
	{
		echo "# $*"
		timeout 60 fxtrun --decouple -o trace.fxt ./program "$1" 2>said
		fxt check trace.fxt
		[ "$(calls_of trace.fxt in_orphan)" = 0 ]
		grep " ($2 ran untraced)\$" said
		grep -E '^fxt: cannot reach the trace manager at .*: Too many open files; running untraced$' said
	}
	orphans child 1
	orphans grandchild 2
	orphans image 1
}

@test "a child that becomes another user is in the trace" {
	hidden user
	[ "$(calls_of trace.fxt in_child)" = 1000 ]
	fails grep untraced said
}

@test "a child of another user is counted, and says nothing itself" {
	hidden unseen
	[ "$(calls_of trace.fxt in_child)" = 0 ]
	grep -q 'runs untraced: it belongs to another user (65534)$' said
	grep -q '(1 ran untraced)$' said
}
