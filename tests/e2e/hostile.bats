#!/usr/bin/env bats
# A provider that breaks the rules harms neither the session nor other providers. Each test
# runs it in a session with an honest program, and all calls of that program must be in the
# trace.

load helpers

setup_file()
{
	cc -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/counted" \
		"$BATS_TEST_DIRNAME/../programs/launcher/counted.c"
	# Statically, so that no agent gets into it.
	for name in hostile misbehave; do
		cc -static -O2 -std=gnu11 -D_GNU_SOURCE -I "$BATS_TEST_DIRNAME/../.." -o "$BATS_FILE_TMPDIR/$name" \
			"$BATS_TEST_DIRNAME/../programs/launcher/$name.c" "$BATS_TEST_DIRNAME/../../writer/shared/buffer.c"
	done
	mkdir "$BATS_FILE_TMPDIR/sockets"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	export counted=$BATS_FILE_TMPDIR/counted hostile=$BATS_FILE_TMPDIR/hostile misbehave=$BATS_FILE_TMPDIR/misbehave
	export XDG_RUNTIME_DIR=$BATS_FILE_TMPDIR/sockets
}

teardown()
{
	[ -z "$(ls -A "$BATS_FILE_TMPDIR/sockets")" ]
}

# The calls of the honest program: they fill its buffer several times over.
HONEST=12000

# beside STATUS MET SAID PROGRAM [ARGUMENT]...: runs it at the same time as an honest
# program. fxtrun ends with that status, the other program meets MET (its output in one
# line), and fxtrun says a line that SAID matches, if SAID is not empty. The trace is whole
# records, as they belong to the format, to its end.
beside()
{
	local status=$1 met=$2 said=$3 got=0

	shift 3
	timeout 60 fxtrun --buffer-size=256K sh -c '"$counted" '$HONEST' & "$@" >met 2>/dev/null; wait $!' sh "$@" 2>err || got=$?
	[ "$got" = "$status" ] || { echo "$*: exit status $got" && cat err && return 1; }
	[ "$(tr '\n' ' ' <met)" = "$met" ] || { echo "$*: met" && cat met && return 1; }
	[ -z "$said" ] || grep -E "^fxtrun: $said\$" err || { echo "$*: said" && cat err && return 1; }
	honest_is_whole "$*"
}

honest_is_whole()
{
	calls_by_name trace.fxt >calls
	grep -Px "leaf\t$HONEST" calls || { echo "$*" && cat calls && return 1; }
	decode check trace.fxt >checks || true
	grep -E '^0[[:space:]]format:truncated_tail$' checks
	grep -E '^0[[:space:]]format:record_of_size_0$' checks
	grep -E '^0[[:space:]]format:no_magic$' checks
}

# handed_in CALLS: so many calls of a program that misbehaves came into the archive that was
# looked at just now.
handed_in()
{
	[ "$(awk '$1 == "handed_in" { n = $2 } END { print n + 0 }' calls)" = "$1" ]
}

@test "connections that say nothing, or too many" {
	beside 0 "" "" "$hostile" flood
	timeout 60 fxtrun --buffer-size=256K sh -c '
		"$hostile" silent >silent & silent=$!
		until grep -q ready silent; do :; done
		"$counted" '$HONEST'
		kill $silent'
	honest_is_whole
}

@test "an invalid hello is not answered" {
	stranger='process [0-9]+ connected to the session and is not a provider; it got no answer'
	for mode in short_hello long_hello wrong_magic wrong_pid long_name; do
		beside 0 "closed " "$stranger" "$hostile" $mode
	done
	beside 0 "closed " "" "$hostile" empty_hello
}

@test "an agent of another version is refused with that reason" {
	beside 0 "welcome 2 " 'unnamed\[[0-9]+\] runs untraced: its libfxtagent.so has another version than fxtrun; use that of fxtrun' \
		"$hostile" other_version
	# Once since no agent can be in a static image, and once since it says hello
	# nevertheless.
	grep -E ' \(2 ran untraced\)$' err
}

@test "death at each step of the handshake" {
	beside 0 "" "" "$hostile" dies_connected
	beside 0 "" "" "$hostile" dies_after_hello
	beside 0 "welcome 0 " "" "$hostile" dies_welcomed
	beside 0 "welcome 0 " "" "$hostile" dies_started
}

@test "invalid packets: the provider is aborted, and that is reported" {
	aborted='(hostile|misbehave)\[[0-9]+\] is no longer traced:'
	beside 125 "welcome 0 quit " "$aborted it sent more packets than the ring holds" "$hostile" full_ring
	beside 125 "welcome 0 quit " "$aborted .+" "$hostile" no_header
	beside 125 "welcome 0 welcome 0 quit " "$aborted it sent a packet of an unknown kind" "$hostile" hello_twice
	beside 125 "welcome 0 quit " "$aborted it speaks another version of the packet protocol" "$misbehave" other_protocol
	for name in kind_0 kind_5 kind_of_manager kind_ffff; do
		beside 125 "welcome 0 quit " "$aborted it sent a packet of an unknown kind" "$misbehave" $name
	done
	for name in started_reserved stopped_reserved save_reserved; do
		beside 125 "welcome 0 quit " "$aborted it sent a packet whose reserved bits are set" "$misbehave" $name
		handed_in 0
	done
}

@test "saves that break a rule: nothing of them is taken, and all that came before" {
	aborted='hostile\[[0-9]+\] is no longer traced:'
	for name in durable_0 durable_8 durable_odd durable_beyond durable_huge; do
		beside 125 "welcome 0 quit " "$aborted the end of the durable data is outside its buffer" "$misbehave" $name
		handed_in 0
	done
	beside 125 "welcome 0 quit " "$aborted the durable data shrank" "$misbehave" durable_shrinks
	handed_in 1
	late="$aborted a buffer was saved out of turn"
	beside 125 "welcome 0 quit " "$late" "$misbehave" save_begins_late
	handed_in 0
	beside 125 "welcome 0 quit " "$late" "$misbehave" save_skips
	handed_in 1
	beside 125 "welcome 0 quit " "$late" "$misbehave" save_again
	handed_in 1
	beside 125 "welcome 0 quit " "$late" "$misbehave" save_returns
	handed_in 2
	beside 125 "welcome 0 quit " "$aborted it does not take the manager's packets" "$misbehave" deaf
}

@test "death at each step of a save: the records handed over are in the trace" {
	while read -r name calls; do
		beside 0 "welcome 0 " "" "$misbehave" $name
		handed_in "$calls"
	done <<-END
		dies_unstarted 0
		dies_filled 1
		dies_saving 1
		dies_saved 1
		dies_refilled 2
		dies_saving_again 2
	END
}

@test "silence at each step holds up no other process" {
	while read -r name calls; do
		: >met
		timeout 60 fxtrun --buffer-size=256K sh -c '
			"$misbehave" '$name' >met 3>&- & echo $! >pid
			until grep -q ready met; do :; done
			"$counted" '$HONEST 2>err
		kill "$(cat pid)"
		honest_is_whole "$name"
		handed_in "$calls"
	done <<-END
		stays_unstarted 0
		stays_started 0
		stays_filled 1
		stays_saving 1
	END
}

@test "a flood of valid packets" {
	for name in floods_alerts floods_stops; do
		beside 0 "welcome 0 " "" "$misbehave" $name
		handed_in 1
	done
}

@test "a process whose provider was aborted and forgotten ends, or says hello again" {
	beside 125 "welcome 0 quit " "" "$hostile" aborted_lives_on
	beside 125 "welcome 0 quit welcome 0 " "" "$hostile" aborted_returns
}

@test "valid packets at the wrong time are ignored, which is reported once" {
	while read -r name packet; do
		beside 0 "welcome 0 " "hostile\\[[0-9]+\\] sent $packet at the wrong time; it was ignored" "$misbehave" $name
		[ "$(grep -c ignored err)" = 1 ]
	done <<-END
		stopped_first STOPPED
		save_first SAVE_BUFFER
		started_twice STARTED
	END
}

@test "sums that are impossible for the time are cut, which is reported" {
	got=0
	timeout 60 fxtrun --buffer-size=256K --no-sched -t 1h sh -c '"$hostile" boasts' 2>err >met || got=$?
	[ "$got" = 125 ]
	grep -E '^fxtrun: hostile\[[0-9]+\] left records that were not taken: it counts more calls than it had time for; the count was cut$' err
	# A day of all processors has no such numbers: 10^18 are 30 years of calls of one
	# nanosecond.
	fails grep -E '[0-9]{1,3}(,[0-9]{3}){6}' err
	fails grep -E '[0-9]{19}' <(fxt info trace.fxt; fxt report trace.fxt)
	grep -E '^fxtrun: .* calls elided, ' err
}

@test "garbage in shared memory" {
	for seed in $(seq 1 12); do
		beside 125 "welcome 0 " 'hostile\[[0-9]+\] left records that were not taken: .+' "$hostile" garbage "$seed"
	done
}

@test "shared memory that changes while it is read" {
	for seed in $(seq 1 8); do
		status=0
		timeout 60 fxtrun --buffer-size=256K sh -c '
			"$hostile" racing '"$seed"' >racing 3>&- & echo $! >pid
			until grep -q ready racing; do :; done
			"$counted" '$HONEST 2>err || status=$?
		kill "$(cat pid)"
		[ "$status" = 0 ] || [ "$status" = 125 ]
		honest_is_whole
		rm racing
	done
}
