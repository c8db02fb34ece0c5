# A session while it runs: snapshots of a flight recorder.

load helpers

setup_file()
{
	cc -O2 -g -finstrument-functions -pthread -o "$BATS_FILE_TMPDIR/rounds" \
		"$BATS_TEST_DIRNAME/../programs/sessions/rounds.c"
	cc -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/counted" \
		"$BATS_TEST_DIRNAME/../programs/launcher/counted.c"
	mkdir "$BATS_FILE_TMPDIR/sockets"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	rounds=$BATS_FILE_TMPDIR/rounds counted=$BATS_FILE_TMPDIR/counted
	# Sessions leave nothing behind: teardown looks.
	export XDG_RUNTIME_DIR=$BATS_FILE_TMPDIR/sockets
}

teardown()
{
	[ -z "$(find "$BATS_FILE_TMPDIR/sockets" ! -type d)" ]
}

# await PATTERN FILE: until a line of the file, which is being written, matches; prints the line.
await()
{
	timeout 60 tail -n +1 -F "$2" 2>/dev/null | grep -m 1 -E "$1"
}

# record OPTION...: runs rounds in the background, as $recorder, until it is ready.
record()
{
	fxtrun "$@" "$rounds" counts >out 2>err &
	recorder=$!
	await ready out
}

# ends: the program is told to end, and the last trace is as sound as that of any program ended by a signal.
ends()
{
	local status=0

	kill "$recorder"
	wait "$recorder" || status=$?
	[ "$status" = 143 ]
	whole trace.fxt
}

# whole TRACE: nothing is wrong with it, but that calls are open, and that those before the last half of a buffer are
# gone. No call is lost beside them: that would be a slice of its own.
whole()
{
	fxt check "$1" && ! decode check "$1" | grep -v -e ^0 -e calls:left_open -e calls:records_lost &&
		decode slices "$1" >slices && ! grep 'records lost' slices
}

# rounds_in TRACE: the number of the last whole round of each thread, as its calls spell it; of a trace seen to be whole.
rounds_in()
{
	decode threads "$1" >threads
	awk -F'\t' '
		FILENAME == "threads" { name[$2] = $4; next }
		$4 == "one_round" && $6 != "" { text[$2] = "" }
		$4 == "one_round" { inside[$2] = $6 != ""; next }
		$4 ~ /^digit_/ && inside[$2] {
			text[$2] = text[$2] substr($4, 7)
			if (length(text[$2]) == 8)
				last[name[$2]] = text[$2]
		}
		END { print "0x" last["round 0"], "0x" last["round 1"] }' threads slices
}

# shows TRACE BEFORE0 BEFORE1: the trace of a moment between then and now: the last rounds of both threads, and main as
# begun.
shows()
{
	local before=("${@:2}") last now

	whole "$1"
	read -r -a last < <(rounds_in "$1")
	read -r -a now < <(od -An -tu4 counts)
	for i in 0 1; do
		((before[i] <= last[i] && last[i] <= now[i] + 1)) || {
			echo "$1: thread $i: ${last[i]} is not between ${before[i]} and ${now[i]}"
			return 1
		}
	done
	awk -F'\t' '$4 == "main" { n++; open += $6 == "" } END { exit n != 1 || open != 1 }' slices
	[ "$(cut -f 4 threads | grep -c '^round [01]$')" = 2 ]
}

# ---- on a signal ----

@test "snapshots of a running program have its newest calls, and calls still open" {
	record --buffering-mode=circular --buffer-size=1
	for n in $(seq 1 20); do
		before=$(od -An -tu4 counts)
		kill -USR1 $recorder
		await "^fxtrun: snapshot: [0-9,]+ events, .*: trace-$n.fxt\$" err
		shows trace-$n.fxt $before
	done
	ends
}

@test "a snapshot takes the first free name, and the place of no file" {
	mkdir d
	echo precious >d/a.b-1.fxt
	record -o d/a.b.fxt --buffering-mode=circular
	kill -USR1 $recorder
	await ': d/a.b-2.fxt$' err
	whole d/a.b-2.fxt
	kill $recorder
	wait $recorder || [ $? = 143 ]
	[ "$(cat d/a.b-1.fxt)" = precious ]
	[ "$(ls d | tr '\n' ' ')" = "a.b-1.fxt a.b-2.fxt a.b.fxt " ]
}

@test "a snapshot that cannot be written is told, and harms nothing" {
	mkdir d
	record -o d/trace.fxt --buffering-mode=circular
	mv d e
	kill -USR1 $recorder
	await '^fxtrun: no snapshot: d/trace-1.fxt: No such file or directory$' err
	mv e d
	kill -USR1 $recorder
	await ': d/trace-1.fxt$' err
	whole d/trace-1.fxt
	kill $recorder
	wait $recorder || [ $? = 143 ]
	whole d/trace.fxt
}

@test "other modes give no snapshots, and the program does not get the signal" {
	record --buffer-size=1
	kill -USR1 $recorder
	await '^fxtrun: no snapshot: only a session with --buffering-mode=circular can give one$' err
	ends
	[ ! -e trace-1.fxt ]
}

@test "a snapshot has the calls of processes that have ended, and of those that run" {
	fxtrun --buffering-mode=circular sh -c '"$1" 100; exec "$2" counts' sh "$counted" "$rounds" >out 2>err &
	recorder=$!
	await ready out
	before=$(od -An -tu4 counts)
	kill -USR1 $recorder
	await ': trace-1.fxt$' err
	[ "$(calls_of trace-1.fxt leaf)" = 100 ]
	whole trace-1.fxt
	read -r -a last < <(rounds_in trace-1.fxt)
	((last[0] >= $(set -- $before; echo $1)))
	ends
	[ "$(calls_of trace.fxt leaf)" = 100 ]
}
