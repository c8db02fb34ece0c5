#!/usr/bin/env bats
# How long a session lasts, what becomes of the program at its end, and which processes are in it: fxtrun as `trace record`.

load helpers

setup_file()
{
	for name in counted follow; do
		cc -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/$name" \
			"$BATS_TEST_DIRNAME/../programs/launcher/$name.c"
	done
	cc -O2 -g -finstrument-functions -pthread -o "$BATS_FILE_TMPDIR/rounds" \
		"$BATS_TEST_DIRNAME/../programs/sessions/rounds.c"
	mkdir "$BATS_FILE_TMPDIR/sockets"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	export counted=$BATS_FILE_TMPDIR/counted rounds=$BATS_FILE_TMPDIR/rounds follow=$BATS_FILE_TMPDIR/follow
	export XDG_RUNTIME_DIR=$BATS_FILE_TMPDIR/sockets
	: >pids
}

teardown()
{
	# Programs that a failed test left running.
	[ ! -s pids ] || kill -KILL $(cat pids) 2>/dev/null || true
	no_sockets
}

# runs_on: the program whose number is in `pids` still makes rounds, and is ended.
runs_on()
{
	local before

	before=$(od -An -tu4 -N4 counts)
	until [ "$(od -An -tu4 -N4 counts)" -gt "$((before + 2))" ]; do :; done
	kill -TERM "$(cat pids)"
}

# ---- the end of the session ----

@test "--duration: the program is ended by SIGTERM, and its calls are there" {
	timeout 60 fxtrun --duration=2 "$counted" 100 wait >out 2>err
	run kill -0 "$(cut -d ' ' -f 2 out)"
	[ "$status" != 0 ]
	[ "$(calls_of trace.fxt leaf)" = 100 ]
	fxt check trace.fxt
	# The program's reaction to the signal is its own affair.
	status=0
	timeout 60 fxtrun --duration=2 bash -c 'trap "exit 9" TERM; until false; do :; done' || status=$?
	[ "$status" = 9 ]
	# A program that ends earlier ends the session.
	timeout 60 fxtrun --duration=1000000 "$counted" 5 exit 3 || status=$?
	[ "$status" = 3 ]
	sound trace.fxt
}

@test "--duration: a program that does not heed the signal goes on untraced" {
	timeout 60 fxtrun --duration=2 bash -c 'trap "" TERM; echo $$ >pids; exec "$rounds" counts' >out 2>err
	grep -x "fxtrun: process $(cat pids) does not end on SIGTERM; it goes on untraced" err
	grep -E '^fxtrun: .*\(1 still running\)$' err
	fxt check trace.fxt
	before=$(od -An -tu4 -N4 counts)
	until [ "$(od -An -tu4 -N4 counts)" -gt "$before" ]; do :; done
}

@test "--detach: the program goes on, and so do its children, without a word" {
	timeout 60 fxtrun --detach --duration=2 bash -c '
		echo $$ >pids
		"$counted" 100
		until [ -e over ]; do :; done
		"$counted" 5 && echo went on
		exec "$rounds" counts' >out 2>err
	grep -E '^fxtrun: .*: trace.fxt \(1 still running\)$' err
	[ "$(calls_of trace.fxt leaf)" = 100 ]
	[ "$(ls -A "$XDG_RUNTIME_DIR")" = "" ]
	touch over
	await ready out
	grep -x 'went on' out
	runs_on
	[ "$(grep -vc "no context switches" err)" = 1 ]
}

@test "--detach: signals that would end fxtrun end the session" {
	for signal in TERM INT HUP; do
		rm -f out
		fxtrun --detach bash -c 'echo $$ >pids; exec "$rounds" counts' >out 2>err 3>&- &
		await ready out
		kill -$signal $!
		wait $!
		fxt check trace.fxt
		[ "$(calls_of trace.fxt one_round)" -gt 0 ]
		runs_on
	done
}

@test "fxtctl terminate ends the program, and a session without it" {
	timeout 60 fxtrun --session=end "$counted" 100 wait >out 3>&- &
	await ready out
	fxtctl --session=end terminate >said
	# It is there, whole, as soon as that has said so.
	fxt check trace.fxt
	[ "$(calls_of trace.fxt leaf)" = 100 ]
	grep -E "^trace.fxt: [0-9]+ events, 0 lost, $(stat -c %s trace.fxt) bytes$" said
	wait $!
	timeout 60 fxtrun --detach --session=end bash -c 'echo $$ >pids; exec "$rounds" counts' >out2 3>&- &
	await ready out2
	fxtctl --session=end terminate
	wait $!
	runs_on
}

@test "--decouple: the session goes on until the last descendant has ended" {
	status=0
	mkfifo go
	timeout 60 fxtrun --decouple --session=srv sh -c '
		sh -c "echo begun >begun; read go <go; exec \"\$counted\" 100" &
		"$counted" 10
		exit 5' 2>err 3>&- &
	await begun begun
	until fxtctl --session=srv status | grep -x 'program    sh (process 0)'; do :; done
	echo >go
	wait $! || status=$?
	[ "$status" = 5 ]
	[ "$(calls_of trace.fxt leaf)" = 110 ]
	sound trace.fxt
	run grep "still running" err
	[ "$status" = 1 ]
}

@test "--decouple: a signal, fxtctl and --duration end the session, and descendants go on" {
	daemon='sh -c "exec \"\$rounds\" counts >>out2 & echo \$! >pids"'
	for end in 'kill -TERM' 'kill -INT' 'fxtctl --session=srv terminate; :' '--duration=2'; do
		: >out2
		option=
		[ "${end#--}" = "$end" ] || option=$end
		fxtrun --decouple $option --session=srv sh -c "$daemon" 2>err 3>&- &
		recorder=$!
		await ready out2
		[ -n "$option" ] || { until fxtctl --session=srv status | grep 'process 0'; do :; done; }
		[ -n "$option" ] || eval "$end $recorder"
		wait $recorder
		grep -E '\(1 still running\)$' err
		[ "$(calls_of trace.fxt one_round)" -gt 0 ]
		runs_on
	done
}

# ---- which processes ----

@test "--follow: forked children, new programs, both, or neither" {
	# recorded WAY CHILD IMAGE CHILD_OF_IMAGE PROCESSES
	recorded()
	{
		rm -f trace.fxt
		timeout 60 fxtrun --follow="$1" "$follow" 2>err
		sound trace.fxt
		[ "$(calls_of trace.fxt in_child) $(calls_of trace.fxt in_image)" = "$2 $3" ]
		[ "$(calls_of trace.fxt in_child_of_image)" = "$4" ]
		# Processes that are not wanted are not reported.
		grep -Ex "fxtrun: [0-9,]+ events, [0-9] threads?, $5 processe?s?, 0 lost, [^(]*: trace.fxt" err
		[ "$(grep -vc "no context switches" err)" = 1 ]
	}
	recorded fork,exec 1 1 1 3
	recorded fork 1 0 0 2
	recorded exec 0 1 0 2
	recorded none 0 0 0 1
}

# ---- the size of buffers ----

@test "--provider-buffer-size: for programs of that name" {
	sizes()
	{
		timeout 60 fxtrun --buffer-size=1 --provider-buffer-size=cat:2 "$@" |
			sed -En 's/^([0-9a-f]+)-([0-9a-f]+) .*memfd:fxt-buffer .*/\1 \2/p' |
			while read -r from to; do echo $((0x$to - 0x$from)); done
	}
	[ "$(sizes cat /proc/self/maps)" = 2097152 ]
	[ "$(sizes sh -c 'cat /proc/self/maps; exit')" = 2097152 ]
	[ "$(sizes grep memfd /proc/self/maps)" = 1048576 ]
}

@test "fxtctl record and snapshot refuse - as the name of the trace" {
	for command in record snapshot; do
		says 2 "fxtctl: --output-file=-: must be a file: fxtrun writes the trace, and has another standard output" \
			fxtctl $command -o -
		[ ! -e ./- ]
	done
}

@test "an idle server makes no calls: the summary says that, and asks for no compiler option" {
	cat >server.c <<-'END'
		#include <stdio.h>
		static void serve(void) { }
		int main(void) { puts("ready"); fflush(stdout); while (getchar() != EOF) serve(); return 0; }
	END
	for how in -finstrument-functions -fpatchable-function-entry=5; do
		cc -O0 -g $how -o server server.c
		rm -f input && mkfifo input
		fxtrun --start=idle --session=idle ./server <input >out 2>err 3>&- &
		server=$!
		exec 8>input
		await ready out
		fxtctl --session=idle record -o idle.fxt --duration=0.1s >said 8>&-
		exec 8>&-
		wait $server
		cat said
		grep -E '^0 events, .*/idle.fxt \(no calls: ./server made none while it was recorded, or all are excluded\)$' said
		fails grep 'built so' err
	done
}
