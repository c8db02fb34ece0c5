#!/usr/bin/env bats
# Traces of other producers (tests/independent/foreign.py): the format is theirs as well.

load helpers

# foreign NAME...: these traces, as NAME.fxt.
foreign()
{
	local name

	for name in "$@"; do
		"$root/tests/independent/foreign.py" write "$name" "$name.fxt"
	done
}

@test "a full buffer without a number of lost records makes a trace incomplete, for every command" {
	local name lost

	foreign full full_of_another
	for name in full:1 full_of_another:2; do
		lost=${name#*:} name=${name%:*}.fxt
		fxt report $name >report
		grep -q "^$name: ≥ 1 call of 1 function" report
		grep -q "^at least $lost records\? w[a-z]* lost: their calls are missing above" report
		fxt report --json $name | grep -q "\"records_lost\": $lost\b"
		fxt info $name | grep -q "^lost: at least $lost record"
		fxt export --to=chrome-json -o - $name | grep -q "\"records_lost\":$lost,"
		[ "$(fxt sql 'SELECT lost FROM trace' $name | tail -1 | tr -d ' ')" = $lost ]
		fxt heap $name | grep -q "^$lost record.* lost; the figures above lack them"
		fxt check $name | grep -q "warning: the buffer was full: records may be missing (provider"
		run fxt check --fail-if='outer.calls > 5' $name
		[ "$status" = 3 ]
		[[ "$output" = *unknown*"records were lost"* ]]
		# A limit that lost records could only exceed by more has failed
		# nevertheless.
		run fxt check --fail-if='outer.calls >= 1' $name
		[ "$status" = 4 ]
		# A part of it is as incomplete.
		fxt cut --time=0s..1s -o cut.fxt $name
		fxt info cut.fxt | grep -q "^lost: at least"
	done
}

# lawful: the names of all traces that the format allows
lawful()
{
	"$root/tests/independent/foreign.py" names
}

# slices FILE: the slices of a trace, by the independent decoder
slices()
{
	decode slices "$1" | sort
}

@test "every lawful trace is ok, whatever it warns of" {
	local name

	for name in $(lawful); do
		foreign $name
		fxt check $name.fxt >checked
		grep "^$name.fxt: ok, " checked
		fxt report $name.fxt >report
	done
	# Records of unknown kinds do not make the numbers of calls uncertain.
	grep -q '^unknown_kinds.fxt: 1 call of' <(fxt report unknown_kinds.fxt)
	fxt check unknown_kinds.fxt | grep -q ', 33 warnings$'
}

@test "a part of a trace has the slices of the whole, also where ends stand before their begins" {
	local name

	for name in $(lawful); do
		foreign $name
		fxt cut --time=0s..1s -o cut.fxt $name.fxt
		fxt check cut.fxt | grep "^cut.fxt: ok, "
		diff <(slices $name.fxt) <(slices cut.fxt)
	done
	# The time ends inside the outer slice: both of its records stay, with the mark.
	fxt cut --time=0s..150ns -o cut.fxt ends_first.fxt
	diff <(slices ends_first.fxt) <(slices cut.fxt)
	[ "$(fxt dump cut.fxt | grep -c 'cut="ended later"')" = 2 ]
}

# asked SQL FILE: the rows, without names, with tabs between the columns
asked()
{
	fxt sql --csv "$@" | python3 -c 'import csv, sys
for row in list(csv.reader(sys.stdin))[1:]:
    print(*row[1:], sep="\t")'
}

@test "a pointer or koid shows the name of the object that it means: in dump, sql and exports" {
	foreign objects pointer_reused
	fxt dump objects.fxt >dumped
	grep -q '{self=pointer:0xdef "Button", on=koid:500 "port"}$' dumped
	grep -q '{self=pointer:0xabc "Widget", other=pointer:0x999}$' dumped
	grep -q '{parent=pointer:0xabc "Widget"}$' dumped
	asked "SELECT arguments->>'self_label', arguments->>'on_label' FROM calls ORDER BY start" objects.fxt |
		diff <(printf 'Button\tport\nWidget\t\n') -
	asked 'SELECT * FROM labels' objects.fxt | diff <(printf '%s\t%s\t%s\t%s\t%s\n' \
		Widget 10 0xabc '' '' Button 10 0xdef '' '' Stranger 99 0xabc '' '' Unused 10 0x777 '' '' \
		port '' '' 500 17) -
	fxt export --to=chrome-json -o - objects.fxt |
		grep -q '"args":{"self": "0xdef", "self_label": "Button", "on": 500, "on_label": "port"}'

	# The name is the one that the object had then. A command that reads backward has
	# none.
	[ "$(fxt dump pointer_reused.fxt | grep -o '0xabc ".*"}' | tr '\n' ' ')" = '0xabc "First"} 0xabc "Second"} ' ]
	fxt export --to=chrome-json -o - pointer_reused.fxt | grep -o '"self_label": "[^"]*"' >labels
	[ "$(cat labels)" = $'"self_label": "First"\n"self_label": "Second"' ]
	! fxt sql 'SELECT arguments FROM calls' pointer_reused.fxt | grep label
}

@test "the viewer shows these names in a trace that fxt exports for it" {
	[ -e "$build/judges/trace_processor.wasm" ] || skip "Perfetto's importer is not here"
	foreign objects
	fxt export --to=perfetto -o objects.pftrace objects.fxt
	node "$root/tests/judges/ask.mjs" "$build/judges" objects.pftrace \
		"SELECT display_value FROM args WHERE key LIKE 'debug.%_label' ORDER BY 1" >labels
	[ "$(cat labels)" = $'Button\nWidget\nport' ]
}

@test "a part of a trace has the objects that its events point to, as they were described, and no others" {
	foreign objects pointer_reused described_thread thread_alone
	fxt cut --time=0s..150ns -o cut.fxt objects.fxt
	fxt dump cut.fxt >dumped
	grep -q '{self=pointer:0xdef "Button", on=koid:500 "port"}$' dumped
	grep -q '{parent=pointer:0xabc "Widget"}$' dumped
	! grep 'Unused\|Stranger' dumped
	fxt cut --time=150ns..1s -o cut.fxt pointer_reused.fxt
	[ "$(fxt dump cut.fxt | grep -o 'userspace-object .*')" = 'userspace-object process=10 pointer=0xabc name="Second"' ]

	fxt cut --time=0s..1s -o cut.fxt described_thread.fxt
	fxt dump cut.fxt | grep kernel-object | sed 's/^[^ ]* //' | sort >described
	fxt dump described_thread.fxt | grep kernel-object | sed 's/^[^ ]* //' | sort | diff - described
	# Nothing is said that the trace does not say.
	fxt cut --time=0s..1s -o cut.fxt thread_alone.fxt
	fxt dump cut.fxt | grep -q 'kernel-object type=thread koid=11 name="after"$'
}

# The slices of threads as Perfetto's importer understands a trace, a line each: thread,
# category, name, start, length. It has instants as slices of no length; no slice of these
# traces is one.
imported()
{
	node "$root/tests/judges/ask.mjs" "$build/judges" "$1" "SELECT tid, category, slice.name, ts, dur
		FROM thread_track JOIN slice ON slice.track_id = thread_track.id JOIN thread USING (utid) WHERE dur != 0"
}

@test "the importer's slices and ours are equal, for every lawful trace and every part of it" {
	local name file

	[ -e "$build/judges/trace_processor.wasm" ] || skip "Perfetto's importer is not here"
	for name in $(lawful); do
		[ $name != large ] || continue # the importer cannot read on behind a large record
		foreign $name
		fxt cut --time=0s..1s -o $name.cut.fxt $name.fxt
		for file in $name.fxt $name.cut.fxt; do
			# It calls a slice that never ended -1 long.
			asked 'SELECT tid, category, function, start + (SELECT start FROM trace),
				iif(is_open, -1, duration) FROM slices' $file | sort >ours
			imported $file | sort >theirs
			diff ours theirs
		done
	done
}

@test "traces of other producers are merged by their own clocks, with all of both" {
	local name

	foreign ends_first_around objects
	python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
from foreign import *
t = Trace(rate=3 * 10**9)
t.event(COMPLETE, 3000, extra=6000)
open("fast.fxt", "wb").write(t.data)' "$root/tests/independent"
	fxt merge -o merged.fxt ends_first_around.fxt fast.fxt objects.fxt >said
	grep -q '^merged.fxt: 3 traces on one timeline, by their own clocks' said
	fxt check merged.fxt | grep '^merged.fxt: ok, '
	for name in ends_first_around fast objects; do
		slices $name.fxt
	done | cut -f 3- | sort >apart
	slices merged.fxt | cut -f 3- | sort | diff apart -
	fxt dump merged.fxt | grep -q '{self=pointer:0xdef "Button", on=koid:500 "port"}$'
}
