#!/usr/bin/env bats
# Handlers that run instrumented code, wherever they come: their calls are recorded, and
# nest in what they interrupted.

load helpers

setup_file()
{
	${CC:-cc} -O2 -g -finstrument-functions -pthread -o "$BATS_FILE_TMPDIR/dense" "$BATS_TEST_DIRNAME/../programs/signals/dense.c"
}

# dense HOW: the trace is sound and has as many calls as the program counted.
dense()
{
	fxtrun -o trace.fxt "$BATS_FILE_TMPDIR/dense" "$1" >counted 2>said
	sound trace.fxt
	calls_by_name trace.fxt >recorded
}

@test "a handler that comes into hooks: no call is lost" {
	dense plain
	diff counted recorded
}

@test "a handler on a stack of its own" {
	dense stack
	diff counted recorded
}

@test "a handler inside a handler" {
	dense nested
	diff counted recorded
}

# A jump may cut a call off between its entry and the statement that counts it.
cut_off()
{
	join -t $'\t' counted recorded | awk -F'\t' '
		{ print; functions++ } $1 == "handler" { jumps = $2 } $3 < $2 { bad = 1 } { extra += $3 - $2 }
		END { exit bad || functions < 4 || extra > jumps }'
}

@test "a handler that leaves by siglongjmp, also from inside a hook" {
	dense jump
	cut_off
}

@test "a handler that ends its thread, also from inside a hook" {
	[ "$(uname -m)" = x86_64 ] || skip "needs the trap flag of x86-64"
	dense end
	cut_off
}
