#!/usr/bin/env bats
# The clock: what the trace says of a call's duration is what CLOCK_MONOTONIC says.

load helpers

setup_file()
{
	${CC:-cc} -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/clock" \
		"$BATS_TEST_DIRNAME/../programs/engine/clock.c"
	${CC:-cc} -O2 -g -finstrument-functions -pthread -o "$BATS_FILE_TMPDIR/load" \
		"$BATS_TEST_DIRNAME/../programs/engine/load.c"
}

# within PPM: the call in the trace took at least as long as the program measured inside it,
# and at most as long as it measured around it, except for the error of the rate and a
# microsecond.
within()
{
	decode slices trace.fxt | awk -F'\t' -v ppm="$1" '
		FILENAME == "-" { if ($4 ~ /^sleeping/) ns = $6 - $5; next }
		{
			split($0, measured, " ")
			print ns " ns in the trace, " $0 " measured"
			bad = ns < measured[1] * (1 - ppm / 1e6) - 1000 || ns > measured[2] * (1 + ppm / 1e6) + 1000
		}
		END { exit bad }' - out
}

@test "a call of two seconds, to 10 ppm" {
	fxtrun -o trace.fxt "$BATS_FILE_TMPDIR/clock" 2 >out
	sound trace.fxt
	within 10
}

# rate TRACE: of its first provider, in Hz.
rate()
{
	fxt dump "$1" | sed -n '/ initialization /{s/.*=//p;q}'
}

@test "the rate of a trace whose manager was killed, to 100 ppm" {
	local first

	fxtrun -o trace.fxt "$BATS_FILE_TMPDIR/clock" 2 >out
	within 10
	mkfifo status
	# Once it has written some.
	fxtrun --buffer-size=64K -o killed.fxt sh -c 'MANAGER=$PPID "$0" "$@" >/dev/null; echo $? >status' \
		"$BATS_FILE_TMPDIR/load" 4 10000 kill 2 2>said 3>&- &
	[ "$(timeout 60 cat status)" = 3 ]
	wait $! || [ $? = 137 ]
	first=$(rate killed.fxt)
	awk -v first="$first" -v last="$(rate trace.fxt)" 'BEGIN {
		print first " Hz at first, " last " Hz in the end"
		exit !(first > last * (1 - 1e-4) && first < last * (1 + 1e-4))
	}'
}

@test "without a trusted counter: CLOCK_MONOTONIC is used, and recorded as such" {
	without_counter fxtrun -o trace.fxt "$BATS_FILE_TMPDIR/clock" 1 >out
	sound trace.fxt
	within 0
	fxt dump trace.fxt | grep -q ' initialization ticks_per_second=1000000000$'
	without_counter fxtrun --buffer-size=256K -o trace.fxt "$BATS_FILE_TMPDIR/load" 4 10000 >out || [ $? = 3 ]
	sound trace.fxt
	[ "$(decode calls trace.fxt | awk -F'\t' '{ n += $4 } END { print n }')" = 80000 ]
}
