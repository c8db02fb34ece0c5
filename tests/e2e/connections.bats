#!/usr/bin/env bats
# fxtrun --connections: traces of two machines are put on one clock by the TCP connections
# between them. The machines are time namespaces, whose clocks are days apart.

load helpers

setup_file()
{
	compiled_for_all connections/talk connections/errnos
}

# talks COMMAND OPTION...: records server and client; COMMAND is in front of the client's fxtrun
talks()
{
	local before=$1

	shift
	rm -f port && mkfifo port
	fxtrun --no-sched "$@" -o server.fxt talk serve port >served 2>server.err &
	$before fxtrun --no-sched "$@" -o client.fxt talk ask port >asked 2>client.err
	wait $!
	sound server.fxt
	sound client.fxt
}

apart="unshare --time --monotonic 86400 --fork"

needs_time_namespaces()
{
	$apart true 2>why || skip "no time namespaces here: $(cat why)"
}

@test "a client and a server on machines whose clocks are a day apart: one clock, as exact as fxt merge says" {
	local order

	needs_time_namespaces
	talks "$apart" --connections
	for order in "server.fxt client.fxt" "client.fxt server.fxt"; do
		fxt merge $order | tee said
		head -1 said | grep -E '^merged\.fxt: 2 traces on one timeline, by the TCP connections between their machines, to [0-9.]+ .s; [0-9,]+ messages of TCP connections, none received before it was sent$'
		[ "$(grep -c '^\(server\|client\)\.fxt: to ' said)" = 2 ]
		sound merged.fxt
		fxt info merged.fxt | grep 'by the TCP connections between their machines, to'
		python3 "$BATS_TEST_DIRNAME/connections.py" merged.fxt said served asked
	done
	# Compressed parts of a trace have all of it, too.
	fxt cut -o part.fxt.zst --process=talk client.fxt
	fxt merge server.fxt part.fxt.zst | grep 'by the TCP connections between their machines'
}

@test "traces of one machine stay by its clock, and their messages prove it" {
	talks "" --connections
	fxt merge server.fxt client.fxt | tee said
	grep -E "^merged\.fxt: .* by (the processor's counter: in exact order|CLOCK_MONOTONIC, to .*); [0-9,]+ messages of TCP connections, none received before it was sent$" said
}

@test "without connections in common traces of two machines are refused, and the message says what would relate them" {
	needs_time_namespaces
	# Each has a connection, but with itself.
	fxtrun --connections -o here.fxt errnos >out 2>err
	$apart fxtrun --connections -o there.fxt errnos >out 2>err
	fxt dump there.fxt | grep -c 'category="net" name="receive"'
	fails fxt merge here.fxt there.fxt 2>said
	grep 'only the time of day relates them, and --realtime merges by it; no TCP connection has both its ends in these traces with the same addresses$' said
	fxt merge --realtime here.fxt there.fxt | grep 'by the time of day'
	# Without the option there are no notes.
	fxtrun -o here.fxt errnos >out 2>err
	$apart fxtrun -o there.fxt errnos >out 2>err
	fails fxt merge here.fxt there.fxt 2>said
	grep -- '--realtime merges by it; if both were recorded with fxtrun --connections, TCP connections between them would relate them, too$' said
	fxt dump here.fxt | fails grep 'category="net"'
}

@test "noting connections changes no call's result or errno, whatever the descriptor is" {
	errnos >bare
	[ "$(wc -l <bare)" = 14 ]
	fxtrun --connections -o errnos.fxt errnos 2>err | diff bare -
	sound errnos.fxt
}
