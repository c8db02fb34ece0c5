#!/usr/bin/env bats
# Children that come and go during a long circular session.

load helpers

setup_file()
{
	cc -O2 -finstrument-functions -o "$BATS_FILE_TMPDIR/generations" \
		"$BATS_TEST_DIRNAME/../programs/processes/generations.c"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	export XDG_RUNTIME_DIR=$PWD generations=$BATS_FILE_TMPDIR/generations
	total=$((8 << 20))
	options="--buffering-mode=circular --buffer-size=1M --total-size=8M --no-sched --categories=function"
}

# come_and_go CHILDREN CALLS OPTION...: a session of $generations that waits, after all of its children have ended. $made is
# how many calls it counts.
come_and_go()
{
	local children=$1 calls=$2

	shift 2
	rm -f out to_program
	mkfifo to_program
	fxtrun $options "$@" -o trace.fxt "$generations" "$children" "$calls" <>to_program >out 2>said 3>&- &
	job=$!
	read -r _ program made < <(await ready out)
	recorder=$(recorder_of $job)
	recorder=${recorder% }
}

end()
{
	echo >to_program
	wait $job
}

# accounted TRACE: the calls in it and those that it reports as dropped add up to those
# made.
accounted()
{
	local kept overwritten dropped

	kept=$(calls_by_name "$1" | awk -F'\t' '{ n += $2 } END { print n + 0 }')
	overwritten=$(fxt info "$1" | sed -n 's/.*overwritten: \([0-9]*\),.*/\1/p')
	dropped=$(fxt info "$1" | sed -n 's/^dropped: .* with \([0-9]*\) record.*/\1/p')
	[ $((kept + overwritten + ${dropped:-0})) = "$made" ]
}

# The bytes that the manager has written by now, in the trace and in files without a name.
written()
{
	find -L "/proc/$recorder/fd" -type f -size +0 -printf '%p\n' 2>/dev/null | while read -r fd; do
		! readlink "$fd" | grep -q memfd || continue
		stat -Lc %s "$fd"
	done | awk '{ n += $1 } END { print n + 0 }'
}

@test "children that come and go in circular mode: the trace keeps to its limit, and kept and dropped records add up" {
	for children in 40 400; do
		come_and_go $children 20000
		[ "$(written)" -le $total ]
		end
		[ "$(stat -c %s trace.fxt)" -le $total ]
		fxt check trace.fxt
		accounted trace.fxt
		# The latest processes are there as a whole; the others are reported, in the
		# summary too.
		fxt info trace.fxt | grep '^dropped: [0-9]* processes that had ended, with [0-9]* records; '
		grep "^fxtrun: .* $((children + 1)) processes, 0 lost, .* processes that had ended were dropped; --total-size)" said
		fxt report trace.fxt | grep ' processes that had ended made room for later ones, with '
		[ "$(calls_of trace.fxt in_child)" -ge 100000 ]
		[ "$(calls_of trace.fxt in_child)" = $(($(fxt info trace.fxt | grep -c '^  thread .*: 20000 events') * 20000)) ]
	done
}

@test "a trace with room for all children that have ended has them all" {
	come_and_go 40 1000
	end
	accounted trace.fxt
	[ "$(calls_of trace.fxt in_child)" = 40000 ]
	! fxt info trace.fxt | grep '^dropped:' || return 1
}

@test "children with few records take no more room than those, while others are being saved all the time" {
	cc -O2 -g -finstrument-functions -o storm "$BATS_TEST_DIRNAME/../programs/sessions/storm.c"
	cc -O2 -D_GNU_SOURCE -shared -fPIC -o slow.so "$BATS_TEST_DIRNAME/../programs/sessions/slow.c"
	LD_PRELOAD=$PWD/slow.so fxtrun --buffering-mode=circular --buffer-size=64K --total-size=8M ./storm 60
	[ "$(stat -c %s trace.fxt)" -le $total ]
	[ "$(calls_of trace.fxt in_child)" = 480 ]
}

@test "the manager's memory does not grow with the number of children that have ended" {
	local anonymous

	for mode in circular streaming; do
		options="--buffering-mode=$mode --buffer-size=1M --total-size=1M --no-sched"
		for children in 300 2300; do
			come_and_go $children 10
			anonymous[children]=$(awk '/^RssAnon/ { print $2 }' "/proc/$recorder/status")
			end
		done
		# KiB for two thousand. Most of that is what malloc() keeps in one run and not in the other.
		[ $((anonymous[2300] - anonymous[300])) -lt 3000 ]
	done
}

@test "a snapshot has the records of processes that have ended, and reports dropped ones" {
	come_and_go 40 20000 --session=ended
	fxtctl --session=ended snapshot -o snapshot.fxt
	fxt check snapshot.fxt
	accounted snapshot.fxt
	[ "$(stat -c %s snapshot.fxt)" -le $total ]
	end
	accounted trace.fxt
}

@test "the manager killed as a child has ended: kept and lost calls add up to those made" {
	for children in 1 9 20 33 41; do
		come_and_go $children 20000
		kill -KILL "$recorder"
		echo >to_program
		wait $job || true
		grep "^fxtrun: recovered: .* $((children + 1)) processes, 0 lost, " said
		fxt check trace.fxt
		accounted trace.fxt
	done
}
