#!/usr/bin/env bats
# The cost of recording a call: measured, written to the trace, subtracted by the report.

load helpers

# no_longer REPORT CORRECTED COLUMN: every time of the first is in the second, at least 0,
# and not longer there.
no_longer()
{
	rows functions name "$3" <"$1" | sort >raw
	rows functions name "$3" <"$2" | sort >less
	[ "$(wc -l <raw)" -gt 0 ]
	[ "$(wc -l <raw)" = "$(wc -l <less)" ]
	join -t $'\t' raw less | awk -F'\t' '{ print; lines++ } $3 < 0 || $3 > $2 { bad = 1 } END { exit bad || !lines }'
}

@test "the trace has the cost of a call, between 1 ns and 10 us, and is otherwise unchanged" {
	fxtrun -o plain.fxt "$build/examples/recursion" >plain
	(trap '' CHLD; fxtrun --calibrate -o trace.fxt "$build/examples/recursion" >calibrated) # however it is started
	diff plain calibrated
	sound trace.fxt
	diff <(calls_by_name plain.fxt) <(calls_by_name trace.fxt)
	fxt dump trace.fxt | sed -n 's/.*"fxt: cost of a call".*within_ps=uint64:\([0-9]*\).*around_ps=uint64:\([0-9]*\).*/\1 \2/p' >cost
	awk '{ print; lines++ } $1 < 1000 || $1 + $2 > 1e7 { bad = 1 } END { exit bad || lines != 1 }' cost
}

@test "the corrected report has all functions, and none with more time" {
	fxtrun --calibrate -o trace.fxt "$build/examples/recursion" >/dev/null
	fxt report --csv trace.fxt >raw.csv
	fxt report --csv --corrected trace.fxt >corrected.csv
	no_longer raw.csv corrected.csv total_ns
	no_longer raw.csv corrected.csv self_ns
}

@test "a snapshot has the cost of a call too" {
	${CC:-cc} -O2 -g -finstrument-functions -pthread -o rounds "$root/tests/programs/sessions/rounds.c"
	export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR
	fxtrun --calibrate --buffering-mode=circular --session=s ./rounds counts >out 2>err 3>&- &
	await ready out
	fxtctl --session=s snapshot -o last.fxt
	fxtctl --session=s terminate
	wait $!
	fxt check last.fxt
	fxt report --corrected last.fxt >report
	grep 'without the cost of recording: ' report
}

@test "a trace that was not calibrated cannot be corrected" {
	fxtrun -o trace.fxt "$build/examples/recursion" >/dev/null
	run fxt report --corrected trace.fxt
	[ "$status" = 2 ]
	[[ $output == *"trace.fxt lacks the cost of recording; fxtrun --calibrate measures it" ]]
}

@test "if it cannot calibrate, fxtrun says why, and leaves everything as it was" {
	echo old >trace.fxt
	TMPDIR=/nonexistent run fxtrun --calibrate -o trace.fxt touch ran
	[ "$status" = 125 ]
	[[ $output == "fxtrun: cannot calibrate: no temporary file in TMPDIR or /tmp: "* ]]
	[ "$(cat trace.fxt)" = old ]
	[ ! -e ran ]
}
