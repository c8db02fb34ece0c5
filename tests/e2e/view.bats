#!/usr/bin/env bats
# fxt view: the trace goes to the viewer's page, and to no other.

load helpers

# served OPTION...: fxt view in the background, with its link in ./link and the link's path
# in `path`.
served()
{
	fxt view "$@" >link 8>&- 3>&- &
	await 'until the browser has fetched it' link
	path=$(sed -n 's,^https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001\(/[0-9a-f]\{32\}/trace.fxt\)\(&.*\)*$,\1,p' link)
	[ -n "$path" ]
}

# fetched METHOD PATH HEADER...: what a browser with these headers gets: the status on the
# first line, then the bytes.
fetched()
{
	python3 -c 'import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", 9001, timeout=60)
connection.putrequest(*sys.argv[1:3], skip_host=True)
for header in sys.argv[3:]:
    connection.putheader(*header.split(": "))
connection.endheaders()
answer = connection.getresponse()
allowed = answer.getheader("Access-Control-Allow-Origin")
sys.stdout.buffer.write(f"{answer.status} {allowed}\n".encode() + answer.read())' "$@"
}

@test "the viewer's page gets the trace, byte by byte; others nothing; then it ends" {
	local host='Host: 127.0.0.1:9001' origin='Origin: https://ui.perfetto.dev'

	exec 8>"${TMPDIR:-/tmp}/fxt-test-port-9001"
	flock 8
	unset DISPLAY WAYLAND_DISPLAY
	fxtrun "$build/examples/raytracer" >/dev/null
	gzip -k trace.fxt
	served trace.fxt.gz
	says 2 "fxt: trace.fxt: cannot be served at 127.0.0.1:9001: another program uses it, perhaps another fxt view" fxt view trace.fxt
	[ "$(fetched GET "$path" "$host")" = "403 None" ]
	[ "$(fetched GET "$path" "$host" 'Origin: https://ui.perfetto.dev.evil.example')" = "403 None" ]
	[ "$(fetched GET "$path" "$host" 'Origin: http://127.0.0.1:9001')" = "403 None" ]
	[ "$(fetched GET "$path" 'Host: evil.example:9001' "$origin")" = "403 None" ]
	# The path is a secret.
	for other in / /trace.fxt "${path}x" "${path%?}" "/${path#/?}"; do
		[ "$(fetched GET "$other" "$host" "$origin")" = "404 https://ui.perfetto.dev" ]
	done
	[ "$(fetched OPTIONS "$path" "$host" "$origin")" = "204 https://ui.perfetto.dev" ]
	fetched GET "$path" "$host" "$origin" >got
	[ "$(head -n 1 got)" = "200 https://ui.perfetto.dev" ]
	tail -n +2 got | cmp - trace.fxt
	wait $!
}

# The call is found by the independent decoder, and by the viewer's importer at the times of
# the link.
@test "--slow opens on a call: its time, its thread, and what the viewer selects" {
	needs_viewer
	exec 8>"${TMPDIR:-/tmp}/fxt-test-port-9001"
	flock 8
	unset DISPLAY WAYLAND_DISPLAY
	fxtrun "$build/examples/raytracer" >/dev/null
	decode slices trace.fxt >slices
	says 2 "fxt: trace.fxt: 'main' has no more than 1 call" fxt view --slow=main:2 trace.fxt
	says 2 "fxt view: the number of a call is from 1, the slowest, to 1000000; see fxt view --help" fxt view --slow=main:0 trace.fxt
	[[ $(fxt view --slow=no_such trace.fxt 2>&1) == "fxt: trace.fxt: "*no_such* ]]
	for call in main:1 trace_ray:3 'in_shadow(vec):2'; do
		served --slow="$call" trace.fxt
		kill $!
		wait $! || true
		value() { sed -n "s/.*[?&]$1=\([0-9]*\).*/\1/p" link; }
		viewer trace.fxt "select s.name, s.dur, t.tid,
			$(value visStart) >= b.start_ts and $(value visStart) <= s.ts and $(value visEnd) <= b.end_ts and $(value visEnd) >= s.ts + s.dur
			from slice s join thread_track k on k.id = s.track_id join thread t using (utid), trace_bounds b
			where s.ts = $(value ts) and s.dur = $(value dur)" >found
		[ "$(wc -l <found)" = 1 ]
		# Each of the importer's times may be a nanosecond off.
		awk -F'\t' -v name="${call%:*}" '$3 == "function" && index($4, name) == 1 { print $6 - $5 }' slices | sort -nr |
			sed -n "${call##*:}p" | awk -v dur="$(cut -f 2 found)" '{ exit !($1 - dur <= 2 && dur - $1 <= 2) }'
		[[ $(cut -f 1 found) == "${call%:*}"* ]]
		grep "%29$(cut -f 3 found)%24" link
		[ "$(cut -f 4 found)" = 1 ]
	done
}

@test "connections that say nothing, or take nothing of what they asked for, keep no other waiting" {
	exec 8>"${TMPDIR:-/tmp}/fxt-test-port-9001"
	flock 8
	unset DISPLAY WAYLAND_DISPLAY
	fxtrun "$build/examples/raytracer" >/dev/null
	# More than a socket holds.
	for i in $(seq 1 12); do cat trace.fxt; done >many.fxt
	served many.fxt
	python3 - "$path" <<-'END'
		import socket, sys

		request = (f"GET {sys.argv[1]} HTTP/1.1\r\nHost: 127.0.0.1:9001\r\n"
		           "Origin: https://ui.perfetto.dev\r\n\r\n").encode()
		def connect():
		    s = socket.socket()
		    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
		    s.connect(("127.0.0.1", 9001))
		    return s
		waiting = [connect() for _ in range(100)]
		taking_nothing = [connect() for _ in range(20)]
		for s in taking_nothing:
		    s.sendall(request)
		last = connect()
		last.sendall(request)
		got = bytearray()
		while piece := last.recv(1 << 20):
		    got += piece
		assert got.partition(b"\r\n\r\n")[2] == open("many.fxt", "rb").read()
	END
	wait $!
}

@test "another user of the machine gets nothing, even with the link; the trace's user is served" {
	[ "$(id -u)" = 0 ] || skip "only root can be another user as well"
	exec 8>"${TMPDIR:-/tmp}/fxt-test-port-9001"
	flock 8
	unset DISPLAY WAYLAND_DISPLAY SUDO_UID
	fxtrun "$build/examples/hello" >/dev/null
	# A user of its own, as root may have every trace.
	chmod 644 trace.fxt
	exec 9<trace.fxt
	setpriv --reuid=65533 --regid=65533 --clear-groups "$build/fxt" view --no-open - <&9 >link 2>said 8>&- 3>&- &
	await 'until the browser has fetched it' link
	path=$(sed -n 's,.*127.0.0.1:9001\(/[0-9a-f]*/trace.fxt\)$,\1,p' link)
	cat >fetch.py <<-'END'
		import socket, sys

		for family, address in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1"):
		    s = socket.socket(family)
		    s.connect((address, 9001))
		    got = b""
		    try:
		        s.sendall(f"GET {sys.argv[1]} HTTP/1.1\r\nHost: 127.0.0.1:9001\r\n"
		                  "Origin: https://ui.perfetto.dev\r\n\r\n".encode())
		        while piece := s.recv(1 << 16):
		            got += piece
		    except (ConnectionResetError, BrokenPipeError):
		        pass
		    print(len(got))
		    if got:
		        break
	END
	setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/python3 - "$path" <fetch.py >got
	[ "$(sort -u got)" = 0 ]
	grep -x 'fxt: user 65534 of this machine asked for the trace, and got nothing' said
	kill -0 $!
	setpriv --reuid=65533 --regid=65533 --clear-groups /usr/bin/python3 - "$path" <fetch.py >got
	[ "$(cat got)" -gt "$(stat -c %s trace.fxt)" ]
	wait $!
}

@test "Ctrl-C ends it, whatever a connection does that says nothing" {
	exec 8>"${TMPDIR:-/tmp}/fxt-test-port-9001"
	flock 8
	unset DISPLAY WAYLAND_DISPLAY
	fxtrun "$build/examples/hello" >/dev/null
	env --default-signal=INT fxt view >link 8>&- 3>&- &
	await 'until the browser has fetched it' link
	exec 7<>/dev/tcp/127.0.0.1/9001
	kill -INT $!
	status=0
	wait $! || status=$?
	[ $status = 130 ]
	exec 7>&-
}
