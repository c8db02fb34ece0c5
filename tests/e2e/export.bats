#!/usr/bin/env bats
# fxt export: other tools read each format, and find in it what the independent decoder
# knows.

load helpers
load heap

# export_is KIND READ PATHS...
export_is()
{
	python3 "$root/tests/e2e/exports.py" "$@"
}

# in_ns TRACE: makes 10^9 of the ticks in each second, so that all readers have the same
# times: a viewer converts with less than 64 bits, and moments that are rounded are the
# further off the more of them a sum has.
in_ns()
{
	python3 -c 'import struct, sys
data, at = bytearray(open(sys.argv[1], "rb").read()), 0
while at < len(data):
    header, = struct.unpack_from("<Q", data, at)
    if header & 15 == 1:
        struct.pack_into("<Q", data, at + 8, 10**9)
    at += 8 * (header >> 4 & 0xfff)
open(sys.argv[1], "wb").write(data)' "$1"
}

# raytraced: trace.fxt of four threads, with a recursion, and what is spent on each path of
# it.
raytraced()
{
	fxtrun "$build/examples/raytracer" >/dev/null
	decode paths trace.fxt >paths
}

@test "folded stacks: time, and bytes of the heap" {
	raytraced
	[ "$(fxt export --to=folded trace.fxt)" = trace.folded ]
	export_is folded trace.folded paths
	heap_traced
	fxt export --to=folded --cost=leaked -o leaked.folded trace.fxt
	export_is folded leaked.folded leaked
}

# saved PROFILE: what speedscope saves of it.
saved()
{
	"$root/tests/judges/speedscope" "$build/judges/speedscope" "$1"
}

needs_speedscope()
{
	[ -e "$build/judges/speedscope/index.html" ] || skip "speedscope is not here"
	command -v chromium >/dev/null || skip "chromium is not here"
}

@test "folded stacks: speedscope reads them" {
	needs_speedscope
	raytraced
	fxt export --to=folded trace.fxt
	saved trace.folded >saved.json
	export_is speedscope saved.json paths
}

@test "speedscope: it reads each thread's calls, and those that were chosen" {
	needs_speedscope
	fxtrun "$build/programs/threads8" >/dev/null
	in_ns trace.fxt
	decode paths trace.fxt >paths
	[ "$(fxt export --to=speedscope trace.fxt)" = trace.speedscope.json ]
	saved trace.speedscope.json >saved.json
	export_is speedscope saved.json paths
	diff <(jq -r '.profiles[].name' saved.json | sort) <(decode threads trace.fxt |
		awk -F'\t' '{ print "thread " $2 " \"" $4 "\" of process " $1 " \"" $3 "\"" }' | sort)
	jq -e '.shared.frames[] | select(.name == "work::fib(int)") | (.file | endswith("/threads8.cc")) and .line > 1' saved.json
	# Left by jumps, and of one function alone.
	${CC:-cc} -O2 -g -D_GNU_SOURCE -finstrument-functions -o jumps "$root/tests/programs/jumps/longjmp.c"
	fxtrun -o jumps.fxt ./jumps >/dev/null
	in_ns jumps.fxt
	decode paths jumps.fxt >paths
	fxt export --to=speedscope jumps.fxt
	saved jumps.speedscope.json >saved.json
	export_is speedscope saved.json paths
	fxt export --to=speedscope --function=work::fib -o fib.speedscope.json trace.fxt
	saved fib.speedscope.json | jq -e '[.shared.frames[].name] | unique == ["work::fib(int)"]'
}

@test "firefox: Perfetto's importer finds the samples of each thread, which weigh as much as the calls took" {
	needs_viewer
	fxtrun "$build/programs/threads8" >/dev/null
	in_ns trace.fxt
	decode paths trace.fxt >paths
	[ "$(fxt export --to=firefox trace.fxt)" = trace.firefox.json ]
	viewer trace.firefox.json "with recursive paths(id, path) as (
		select c.id, f.name from stack_profile_callsite c join stack_profile_frame f on f.id = frame_id where parent_id is null
		union all select c.id, path || ';' || f.name from stack_profile_callsite c join paths on parent_id = paths.id
			join stack_profile_frame f on f.id = frame_id)
		select tid, ts, path from cpu_profile_stack_sample s join thread using (utid) join paths on paths.id = callsite_id
		order by ts, s.id" >found
	export_is firefox trace.firefox.json found paths
	jq -r '.threads[] | [.pid, .tid, .processName, .name] | @tsv' trace.firefox.json | sort | diff - <(decode threads trace.fxt | sort)
	jq -e '.threads[] | select(.name == "worker 7") | .stringArray[.funcTable.fileName[.stringArray | index("work::fib(int)")]] |
		endswith("/threads8.cc")' trace.firefox.json
}

@test "callgrind: callgrind_annotate reads it" {
	command -v callgrind_annotate >/dev/null || skip "callgrind_annotate is not here"
	raytraced
	fxt export --to=callgrind trace.fxt
	callgrind_annotate --threshold=100 --auto=no trace.callgrind >annotated
	export_is callgrind annotated paths
	callgrind_annotate --inclusive=yes --threshold=100 --auto=no trace.callgrind >annotated
	export_is inclusive annotated paths
	callgrind_annotate --tree=both --threshold=100 --auto=no trace.callgrind >annotated
	# shade() is called by draw_row() alone; the count is the decoder's.
	calls=$(decode report trace.fxt | awk -F'\t' '$4 == "shade(int, int)" { n += $5 } END { print n }')
	sed 's/,//g' annotated | grep -A3 '\* *[^:]*/raytracer.cc:draw_row(' | grep "> *[^:]*/raytracer.cc:shade(int int) (${calls}x)"
	# Beside the line of the source.
	callgrind_annotate --threshold=100 --auto=yes --show-percs=no --context=0 trace.callgrind >annotated
	line=$(grep -o 'shade(int [a-z]*, int [a-z]*)$' annotated)
	grep -q "$line" "$root/examples/raytracer.cc"
	own=$(decode report trace.fxt | awk -F'\t' '$4 == "shade(int, int)" { sum += $8; n += $5 } END { print sum, n }')
	shown=$(grep -F "$line" annotated | awk '{ gsub(",", "", $1); print $1 }')
	[ $((shown - ${own% *})) -le "${own#* }" ] && [ $((${own% *} - shown)) -le "${own#* }" ]
}

@test "pprof: Go's pprof reads it, with the heap" {
	go version >/dev/null 2>&1 || skip "Go is not here"
	raytraced
	fxt export --to=pprof trace.fxt
	gzip -t trace.pb.gz
	go tool pprof -raw trace.pb.gz >raw
	export_is pprof raw paths
	heap_traced
	decode paths trace.fxt >paths
	fxt export --to=pprof -o heap.pb trace.fxt
	go tool pprof -raw heap.pb >raw
	grep -q '^calls/count time/nanoseconds\[dflt\] allocated/bytes peak/bytes leaked/bytes$' raw
	# All blocks left are those that were live at the peak, except the last one, which
	# churn() freed.
	export_is pprof raw paths allocated leaked leaked
}

# viewed TRACE: what Perfetto's importer understood of slices, with their arguments, of
# flows and of counters. An export has no rows of the heap and of page faults (bits 30 and
# 29 of their numbers): there these are among the calls.
viewed()
{
	viewer "$1" 'select tid & ~(3 << 29) as tid, pid, replace(replace(thread.name, ": heap", ""), ": page faults", ""), process.name, ts, dur,
		iif(category in ("heap", "sched") and dur = 0, 0, depth) as depth, slice.name, category,
		(select group_concat(replace(replace(key, "args.", ""), "debug.", "") || "=" || ifnull(display_value, ""), " ") from (select * from args
		where args.arg_set_id = slice.arg_set_id and key not like "legacy%" and key not like "%_label" order by key)) from slice join thread_track
		on track_id = thread_track.id join thread using (utid) join process using (upid) order by 1, ts, 7' \
		'select count(*), sum(a.ts), sum(b.ts) from flow join slice a on slice_out = a.id join slice b on slice_in = b.id' \
		'select ts, value from counter join process_counter_track on track_id = process_counter_track.id
		where name not like "%live %" order by ts, value' \
		'select name, value from stats where value > 0 and severity != "info"'
}

heap_rows='select ts, cast(value as int) from counter join process_counter_track on track_id = process_counter_track.id
	where name like "%live %" order by ts, value'

# A program with locks and waits, one of calls that never end and a child, and a heap.
eventful()
{
	fxtrun --no-sched --heap=off -o 1.fxt "$build/programs/threads8" >/dev/null
	compiled threads/locks.c
	fxtrun --no-sched --heap=off -o 2.fxt ./program >/dev/null || true
	heap_traced
	mv trace.fxt 3.fxt
}

@test "chrome-json and perfetto: Perfetto's importer finds the trace's contents in them" {
	needs_viewer
	eventful
	for trace in 1 2 3; do
		in_ns $trace.fxt
		fxt export --to=chrome-json $trace.fxt
		python3 -m json.tool $trace.json /dev/null
		viewed $trace.fxt >expected
		[ "$(wc -l <expected)" -gt 300 ]
		viewed $trace.json | diff expected -
		fxt export --to=perfetto $trace.fxt
		viewed $trace.perfetto-trace | diff expected -
		# The heap's rows of the trace are finer than the sums that its exports have.
		heapdecode sums $trace.fxt >sums
		viewer $trace.json "$heap_rows" | diff sums -
		viewer $trace.perfetto-trace "$heap_rows" | diff sums -
	done
	[ -s sums ]
}

# asked QUERY...: what sqlite3 answers, values separated by tabs.
asked()
{
	sqlite3 -batch -tabs -readonly trace.sqlite "$@"
}

# sums_asked: of the calls in trace.sqlite by thread and function, against the independent decoder.
sums_asked()
{
	decode report trace.fxt | awk -F'\t' '$3 == "function"' >decoded
	sqlite3 -batch -csv -header trace.sqlite "select 'rows', pid, tid, 'function', function, count(*), sum(is_open), sum(self),
		min(duration), max(duration), sum(duration) from calls group by pid, tid, function" >answered
	python3 "$root/tests/e2e/sql.py" report decoded answered
}

@test "perfetto: arguments of every type, counters and asynchronous events" {
	needs_viewer
	python3 - <<-'END'
		import struct
		def record(type_, *words, fields=0):
		    body = b"".join(word if isinstance(word, bytes) else struct.pack("<Q", word & 2**64 - 1) for word in words)
		    return struct.pack("<Q", type_ | (1 + len(body) // 8) << 4 | fields) + body
		names = ["", "cat", "f", "count", "a"]
		texts = [record(2, text.encode().ljust(8, b"\0"), fields=i << 16 | len(text) << 32) for i, text in enumerate(names) if i]
		thread = record(3, 7, 8, fields=1 << 16)
		def argument(type_, word=None, inside=0):
		    return struct.pack("<Q", type_ | (1 + (word is not None)) << 4 | 4 << 16 | inside << 32) + (
		        b"" if word is None else word if isinstance(word, bytes) else struct.pack("<Q", word & 2**64 - 1))
		arguments = [argument(1, inside=-5 & 2**32 - 1), argument(2, inside=2**32 - 1), argument(3, -2**62), argument(4, 2**62 + 1),
		             argument(5, struct.pack("<d", -0.5)), argument(6, inside=2), argument(7, 0xabc), argument(9, inside=1)]
		def event(kind, at, name, *args, extra=()):
		    return record(4, at, *args, *extra, fields=kind << 16 | len(args) << 20 | 1 << 24 | 1 << 32 | names.index(name) << 48)
		events = [event(4, 100 * i, "f", each, extra=[100 * i + 50]) for i, each in enumerate(arguments, 1)]
		events += [event(1, 1000 + i, "count", each, extra=[1 + i % 2]) for i, each in enumerate(arguments[:5] + arguments[:5])]
		events += [event(5, 2000, "f", extra=[9]), event(5, 2010, "f", extra=[10]), event(7, 2050, "f", extra=[9]), event(7, 2070, "f", extra=[10])]
		events += [event(0, 3000, "f"), event(2, 3001, "f", *arguments[:1]), event(3, 3009, "f")]
		open("trace.fxt", "wb").write(struct.pack("<Q", 0x0016547846040010) + b"".join([*texts, thread, *events]))
	END
	fxt check trace.fxt
	fxt export --to=perfetto trace.fxt
	for trace in trace.fxt trace.perfetto-trace; do
		viewed $trace
		viewer $trace 'select name, ts, dur from slice where track_id not in (select id from thread_track) order by ts'
	done >viewed
	head -n $(($(wc -l <viewed) / 2)) viewed >expected
	[ "$(wc -l <expected)" -gt 20 ]
	tail -n +$(($(wc -l <viewed) / 2 + 1)) viewed | diff expected -
	grep -q '=-0.5$' expected
}

@test "sqlite and csv: sqlite3 finds the trace's contents in the one, and the other has the same rows" {
	command -v sqlite3 >/dev/null || skip "sqlite3 is not here"
	fxtrun -o trace.fxt "$build/programs/threads8" >/dev/null
	[ "$(fxt export --to=sqlite trace.fxt)" = trace.sqlite ]
	[ "$(fxt export --to=csv trace.fxt)" = trace.csv ]
	sums_asked
	export_is tables trace.sqlite trace.csv
	diff <(decode threads trace.fxt | sort) <(asked 'select pid, tid, process, thread from threads' | sort)
	diff <(decode slices trace.fxt | awk -F'\t' '$3 == "sync" && $4 ~ /^pthread_(barrier_wait|join|mutex_lock)$/ { n[$4]++ } END { for (f in n) print f "\t" n[f] }' | sort) \
		<(asked "select name, count(*) from waits group by 1" | sort)
	diff <(calls_by_name trace.fxt) <(asked 'select name, calls from report' | sort)
	fxtrun --buffering-mode=circular --buffer-size=64K "$build/programs/threads8" >/dev/null 2>told
	fxt export --to=sqlite -o trace.sqlite trace.fxt
	sums_asked
	[ "$(asked 'select sum(records) from losses')" = "$(sed -nE 's/,//g; s/.* ([0-9]+) overwritten .*/\1/p' told)" ]
	heap_traced
	fxt export --to=sqlite -o trace.sqlite trace.fxt
	fxt export --to=csv -o trace.csv trace.fxt
	export_is tables trace.sqlite trace.csv
	for cost in allocated leaked; do
		diff <(sort $cost) <(asked "select path, sum(size), count(*) from objects where '$cost' = 'allocated' or fate = 'leaked' group by 1" | sort)
	done
	[ "$(asked 'select max(value) > 100000 from counters')" = 1 ]
}

@test "sqlite and csv: no streams, and removed if they cannot be written" {
	fxtrun "$build/examples/recursion" >/dev/null
	for format in sqlite csv; do
		for name in - out.gz out.zst; do
			says 2 "fxt export: this format cannot be compressed or written to the standard output; use -o NAME; see fxt export --help" \
				fxt export --to=$format -o $name
		done
	done
	says 2 'fxt: trace.fxt: cannot be written: it is the trace itself; choose another file' fxt export --to=sqlite -o trace.fxt
	says 2 'fxt: trace.fxt: cannot be made: Not a directory' fxt export --to=csv -o trace.fxt
	says 2 'fxt: trace.sqlite: cannot be written: File too large' limited fxt export --to=sqlite
	[ ! -e trace.sqlite ]
	says 2 'fxt: trace.csv/calls.csv: cannot be written: File too large' limited fxt export --to=csv
	[ ! -e trace.csv/calls.csv ]
}

# limited COMMAND...: as if the disk had 4 KiB.
limited()
(
	trap '' XFSZ
	ulimit -f 4
	exec "$@"
)

@test "chrome-json: thousands of texts that stand in their events alone" {
	python3 -c 'import struct
pack = lambda *words: struct.pack(f"<{len(words)}Q", *words)
trace = pack(0x0016547846040010, 3 | 3 << 4 | 1 << 16, 1, 2)
for i in range(5000):
    category, name, value = (b"%c%05d\0\0" % (kind, i) for kind in b"cnv")
    trace += pack(4 | 6 << 4 | 1 << 20 | 1 << 24 | 0x8006 << 32, i) + category
    trace += pack(6 | 3 << 4 | 0x8006 << 16 | 0x8006 << 32) + name + value
open("trace.fxt", "wb").write(trace)'
	fxt export --to=chrome-json trace.fxt
	python3 -c 'import json
events = [event for event in json.load(open("trace.json"))["traceEvents"] if event["ph"] == "i"]
assert [(event["cat"], event["args"]) for event in events] == [("c%05d" % i, {"n%05d" % i: "v%05d" % i}) for i in range(5000)]'
}

@test "wrong usage and a truncated trace are reported, and the rest is written" {
	fxtrun "$build/examples/hello" >/dev/null
	says 2 "fxt export: no format given: --to=FORMAT; see fxt export --help" fxt export trace.fxt
	says 2 "fxt export: no such format: 'xml'; see fxt export --help" fxt export --to=xml trace.fxt
	says 2 "fxt export: this format always has all events: calls cannot be chosen; see fxt export --help" \
		fxt export --to=chrome-json --function=main
	says 2 "fxt: missing.fxt: cannot be opened: No such file or directory" fxt export --to=folded missing.fxt
	[ ! -e missing.folded ]
	# An empty output says why.
	fxtrun --no-sched --heap=off -o without.fxt "$build/examples/hello" >/dev/null
	says 0 "fxt: without.fxt: nothing to be written: it has no context switches; fxtrun records them if the kernel allows it, and otherwise says why not" \
		fxt export --to=folded --cost=off-cpu -o without.folded without.fxt
	[ ! -s without.folded ]
	says 0 "fxt: without.fxt: nothing to be written: there are no calls in it" \
		fxt export --to=folded --min=1h -o without.folded without.fxt
	says 0 "fxt: without.fxt: nothing to be written: no heap was recorded; fxtrun --heap=objects records it" \
		fxt export --to=folded --cost=peak -o without.folded without.fxt
	size=$(stat -c %s trace.fxt)
	head -c $((size - 12)) trace.fxt >cut.fxt
	for format in $(fxt export --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'); do
		status=0
		rm -rf out
		fxt export --to=$format -o out cut.fxt 2>err || status=$?
		[ "$status" = 1 ]
		[ -s out ]
		grep -q '^fxt: cut.fxt: offset 0x[0-9a-f]*: truncated inside a record$' err
	done
}
