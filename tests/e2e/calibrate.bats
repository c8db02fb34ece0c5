#!/usr/bin/env bats
# What recording a call costs here: measured, left in the trace, taken off by the report.

load helpers

# times REPORT COLUMN: "function<tab>nanoseconds" of a column of times, the first being 1, sorted.
times()
{
	awk -v column="$2" '
		BEGIN { unit["ns"] = 1; unit["us"] = 1e3; unit["ms"] = 1e6; unit["s"] = 1e9 }
		/^ *calls / { columns = gsub(/total|self|avg|min|max|\+\/-/, "&"); next }
		/^ *[0-9]+ / && columns {
			name = $(2 + 2 * columns)
			printf "%s\t%.0f\n", name, $(2 * column) * unit[$(2 * column + 1)]
		}' "$1" | sort
}

# no_longer REPORT COLUMN CORRECTED COLUMN: every time of the first is in the second, at least 0, and not longer there.
no_longer()
{
	times "$1" "$2" >raw
	times "$3" "$4" >less
	[ "$(wc -l <raw)" -gt 0 ]
	[ "$(wc -l <raw)" = "$(wc -l <less)" ]
	join -t $'\t' raw less | awk -F'\t' '{ print; lines++ } $3 < 0 || $3 > $2 { bad = 1 } END { exit bad || !lines }'
}

@test "the trace tells what a call costs, between 1 ns and 10 us, and is as it would be otherwise" {
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
	fxt report trace.fxt | sed '/not calls/,$d' >raw.txt
	fxt report --corrected trace.fxt | sed '/not calls/,$d' >corrected.txt
	no_longer raw.txt 1 corrected.txt 1
	no_longer raw.txt 2 corrected.txt 3
}

@test "a snapshot tells it too" {
	${CC:-cc} -O2 -g -finstrument-functions -pthread -o rounds "$root/tests/programs/sessions/rounds.c"
	export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR
	fxtrun --calibrate --buffering-mode=circular --session=s ./rounds counts >out 2>err &
	await ready out
	fxtctl --session=s snapshot -o last.fxt
	fxtctl --session=s terminate
	wait $!
	fxt check last.fxt
	fxt report --corrected last.fxt >report
	grep 'without what recording cost: ' report
}

@test "a trace that was not calibrated cannot be corrected" {
	fxtrun -o trace.fxt "$build/examples/recursion" >/dev/null
	run fxt report --corrected trace.fxt
	[ "$status" = 2 ]
	[[ $output == *"trace.fxt does not tell what recording cost; fxtrun --calibrate measures it" ]]
}

@test "where it cannot calibrate, fxtrun says why, and leaves everything as it was" {
	echo old >trace.fxt
	TMPDIR=/nonexistent run fxtrun --calibrate -o trace.fxt touch ran
	[ "$status" = 125 ]
	[[ $output == "fxtrun: cannot calibrate: no temporary file in TMPDIR or /tmp: "* ]]
	[ "$(cat trace.fxt)" = old ]
	[ ! -e ran ]
}
