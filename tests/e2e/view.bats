#!/usr/bin/env bats
# fxt view: the trace goes to the viewer's page, and to no other.

load helpers

# fetched METHOD PATH HEADER...: what a browser with these headers gets: the status on the first line, then the bytes.
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
	fxt view trace.fxt.gz >link 8>&- 3>&- &
	await 'until it was fetched' link
	grep -qx 'https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001/trace.fxt' link
	says 2 "fxt: trace.fxt: cannot be served at 127.0.0.1:9001: another program is there, as another fxt view" fxt view trace.fxt
	[ "$(fetched GET /trace.fxt "$host")" = "403 None" ]
	[ "$(fetched GET /trace.fxt "$host" 'Origin: https://ui.perfetto.dev.evil.example')" = "403 None" ]
	[ "$(fetched GET /trace.fxt "$host" 'Origin: http://127.0.0.1:9001')" = "403 None" ]
	[ "$(fetched GET /trace.fxt 'Host: evil.example:9001' "$origin")" = "403 None" ]
	[ "$(fetched GET / "$host" "$origin")" = "404 https://ui.perfetto.dev" ]
	[ "$(fetched OPTIONS /trace.fxt "$host" "$origin")" = "204 https://ui.perfetto.dev" ]
	fetched GET /trace.fxt "$host" "$origin" >got
	[ "$(head -n 1 got)" = "200 https://ui.perfetto.dev" ]
	tail -n +2 got | cmp - trace.fxt
	wait $!
}

# The call is found by the independent decoder, and by the viewer's importer at the times of the link.
@test "--slow opens on a call: its time, its thread, and what the viewer selects" {
	needs_viewer
	exec 8>"${TMPDIR:-/tmp}/fxt-test-port-9001"
	flock 8
	unset DISPLAY WAYLAND_DISPLAY
	fxtrun "$build/examples/raytracer" >/dev/null
	decode slices trace.fxt >slices
	says 2 "fxt: trace.fxt: 'main' has no more than 1 call" fxt view --slow=main:2 trace.fxt
	says 2 "fxt view: calls are counted from 1, the slowest, to 1000000; see fxt view --help" fxt view --slow=main:0 trace.fxt
	[[ $(fxt view --slow=no_such trace.fxt 2>&1) == "fxt: trace.fxt: "*no_such* ]]
	for call in main:1 trace_ray:3 'in_shadow(vec):2'; do
		fxt view --slow="$call" trace.fxt >link 8>&- 3>&- &
		await 'until it was fetched' link
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

@test "Ctrl-C ends it, whatever a connection does that says nothing" {
	exec 8>"${TMPDIR:-/tmp}/fxt-test-port-9001"
	flock 8
	unset DISPLAY WAYLAND_DISPLAY
	fxtrun "$build/examples/hello" >/dev/null
	env --default-signal=INT fxt view >link 8>&- 3>&- &
	await 'until it was fetched' link
	exec 7<>/dev/tcp/127.0.0.1/9001
	kill -INT $!
	status=0
	wait $! || status=$?
	[ $status = 130 ]
	exec 7>&-
}
