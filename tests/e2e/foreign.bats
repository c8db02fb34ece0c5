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
		# A limit that lost records could only exceed by more has failed nevertheless.
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
