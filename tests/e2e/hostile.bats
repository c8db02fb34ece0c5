# A provider that breaks the rules harms neither the session nor the providers beside it. Each test runs it in a session
# together with an honest program, all of whose calls must be in the trace.

load helpers

setup_file()
{
	cc -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/counted" \
		"$BATS_TEST_DIRNAME/../programs/launcher/counted.c"
	# Statically, so that no agent gets into it.
	cc -static -O2 -std=gnu11 -D_GNU_SOURCE -I "$BATS_TEST_DIRNAME/../.." -o "$BATS_FILE_TMPDIR/hostile" \
		"$BATS_TEST_DIRNAME/../programs/launcher/hostile.c" "$BATS_TEST_DIRNAME/../../writer/buffer.c"
	mkdir "$BATS_FILE_TMPDIR/sockets"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	export counted=$BATS_FILE_TMPDIR/counted hostile=$BATS_FILE_TMPDIR/hostile
	export XDG_RUNTIME_DIR=$BATS_FILE_TMPDIR/sockets
}

teardown()
{
	[ -z "$(ls -A "$BATS_FILE_TMPDIR/sockets")" ]
}

# beside STATUS MET SAID MODE [SEED]: runs it before an honest program of 1000 calls. fxtrun ends with that status, the
# hostile one meets MET (its output in one line), and fxtrun says a line that SAID matches, if SAID is not empty.
beside()
{
	local status=$1 met=$2 said=$3 got=0

	shift 3
	timeout 60 fxtrun sh -c '"$hostile" "$@" >met 2>/dev/null; "$counted" 1000' sh "$@" 2>err || got=$?
	[ "$got" = "$status" ] || { echo "$*: exit status $got" && cat err && return 1; }
	[ "$(tr '\n' ' ' <met)" = "$met" ] || { echo "$*: met" && cat met && return 1; }
	[ -z "$said" ] || grep -E "^fxtrun: $said\$" err || { echo "$*: said" && cat err && return 1; }
	[ "$(calls_of trace.fxt leaf)" = 1000 ]
}

@test "connections that say nothing, or too many" {
	beside 0 "" "" flood
	fxtrun sh -c '
		"$hostile" silent >silent & silent=$!
		until grep -q ready silent; do :; done
		"$counted" 1000
		kill $silent'
	[ "$(calls_of trace.fxt leaf)" = 1000 ]
}

@test "what is no hello is not answered" {
	stranger='process [0-9]+ spoke to the session without being a provider; it was not answered'
	for mode in short_hello long_hello wrong_magic wrong_pid long_name; do
		beside 0 "closed " "$stranger" $mode
	done
	beside 0 "closed " "" empty_hello
}

@test "an agent of another version is told so" {
	beside 0 "welcome 2 " 'unnamed\[[0-9]+\] runs untraced: its libfxtagent.so is of another version than fxtrun; use that of fxtrun' \
		other_version
	grep -E ' \(1 ran untraced\)$' err
}

@test "death at each step of the handshake" {
	beside 0 "" "" dies_connected
	beside 0 "" "" dies_after_hello
	beside 0 "welcome 0 " "" dies_welcomed
	beside 0 "welcome 0 " "" dies_started
}

@test "a provider that breaks the rules of packets is aborted, and that is said" {
	aborted='hostile\[[0-9]+\] is no longer traced:'
	beside 125 "welcome 0 quit " "$aborted it speaks another version of the packet protocol" wrong_protocol
	beside 125 "welcome 0 quit " "$aborted it sent a packet of an unknown kind" unknown_packet
	beside 125 "welcome 0 quit " "$aborted it sent a packet whose reserved bits are set" reserved_bits
	beside 125 "welcome 0 quit " "$aborted it sent more packets than the ring holds" full_ring
	beside 125 "welcome 0 quit " "$aborted .+" save_out_of_turn
	beside 125 "welcome 0 quit " "$aborted .+" save_beyond_durable
	beside 125 "welcome 0 quit " "$aborted .+" no_header
	beside 125 "welcome 0 welcome 0 quit " "$aborted it sent a packet of an unknown kind" hello_twice
}

@test "a process whose provider was aborted and forgotten ends, or says hello again" {
	beside 125 "welcome 0 quit " "" aborted_lives_on
	beside 125 "welcome 0 quit welcome 0 " "" aborted_returns
}

@test "valid packets at the wrong time are ignored, which is said once" {
	beside 0 "welcome 0 " 'hostile\[[0-9]+\] sent STOPPED at the wrong time; it was ignored' ignored_packets
	[ "$(grep -c ignored err)" = 1 ]
}

@test "garbage in shared memory" {
	for seed in $(seq 1 40); do
		beside 125 "welcome 0 " 'hostile\[[0-9]+\] left records that were not taken: .+' garbage "$seed"
	done
}

@test "shared memory that changes while it is read" {
	for seed in $(seq 1 20); do
		status=0
		timeout 60 fxtrun sh -c '
			"$hostile" racing '"$seed"' >racing & echo $! >pid
			until grep -q ready racing; do :; done
			"$counted" 1000' 2>err || status=$?
		kill "$(cat pid)"
		[ "$status" = 0 ] || [ "$status" = 125 ]
		[ "$(calls_of trace.fxt leaf)" = 1000 ]
		rm racing
	done
}
