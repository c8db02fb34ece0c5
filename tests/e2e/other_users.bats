#!/usr/bin/env bats
# Another user of the machine can neither connect to a session nor read anything of it. Needs root, to be two users.

load helpers

setup_file()
{
	[ "$(id -u)" = 0 ] || return 0
	# A directory that every user can enter, unlike those of bats.
	place=$(mktemp -d /tmp/fxt-other-users-XXXXXX)
	export place
	chmod 755 "$place"
	mkdir -m 1777 "$place/run"
	cc -O2 -g -finstrument-functions -pthread -o "$place/rounds" "$BATS_TEST_DIRNAME/../programs/sessions/rounds.c"
	cc -static -O2 -std=gnu11 -D_GNU_SOURCE -I "$BATS_TEST_DIRNAME/../.." -o "$place/hostile" \
		"$BATS_TEST_DIRNAME/../programs/launcher/hostile.c" "$BATS_TEST_DIRNAME/../../writer/shared/buffer.c"
}

teardown_file()
{
	if [ -n "$place" ]; then
		rm -r "$place"
	fi
}

setup()
{
	[ "$(id -u)" = 0 ] || skip "only root can be another user as well"
	cd "$place" || return 1
	export XDG_RUNTIME_DIR=$place/run
	umask 022
	fxtrun --buffering-mode=circular --session=srv ./rounds counts >out 2>err 3>&- &
	recorder=$!
	await ready out
	program=$(fxtctl providers | awk '$3 == "rounds" { print $2 }')
	FXT_SOCKET=$(tr '\0' '\n' <"/proc/$program/environ" | sed -n 's/^FXT_SOCKET=//p')
	export FXT_SOCKET
}

teardown()
{
	[ -n "$recorder" ] || return 0
	kill "$recorder" 2>/dev/null || true
	wait "$recorder" || true
	rm -rf trace*.fxt out err counts run/*
}

stranger()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# tries PATH...: prints the results of a stranger who opens each for reading, and for
# writing, a line each.
tries()
{
	stranger /usr/bin/python3 -c '
import sys
for path in sys.argv[1:]:
    for mode in "rb", "r+b":
        try:
            open(path, mode).close()
            print("opened", path, mode)
        except OSError as error:
            print(type(error).__name__)' "$@"
}

@test "fakeroot, by a user who is not root: fxtrun in it, and it in fxtrun; sessions are found from inside and outside" {
	command -v fakeroot || skip "fakeroot is not installed"
	mkdir -m 777 "$place/faked" "$place/faked/run"
	cp "$build"/{fxtrun,fxtctl,fxt,libfxtagent.so} "$place/faked"
	cd "$place/faked"
	echo 'void called(void) { } int main(void) { for (int i = 0; i < 100; i++) called(); }' >called.c
	cc -O1 -g -finstrument-functions -o called called.c
	for how in 'fakeroot ./fxtrun -o trace.fxt' './fxtrun -o trace.fxt fakeroot'; do
		stranger env -u FXT_SOCKET XDG_RUNTIME_DIR= HOME="$PWD" $how sh -c 'id -u >id; ./called' 2>said
		grep ' 0 lost' said
		fails grep untraced said
		[ "$(cat id)" = 0 ]
		[ "$(calls_of trace.fxt called)" = 100 ]
		rm id
	done
	stranger env -u FXT_SOCKET XDG_RUNTIME_DIR= HOME="$PWD" fakeroot ./fxtrun --session=faked -o trace.fxt \
		sh -c './fxtctl list; env -u LD_PRELOAD ./fxtctl list' >listed 2>said
	[ "$(grep -c '^faked ' listed)" = 2 ]
	cd "$place"
	rm -rf faked
}

@test "the traces: while written, finished, of a snapshot" {
	fxtctl snapshot -o "$place/trace-mine.fxt"
	kill -USR1 "$recorder"
	await ': trace-1.fxt$' err
	run tries trace.fxt trace-mine.fxt trace-1.fxt
	[ "$(sort -u <<<"$output")" = PermissionError ]
	[ "$(stat -c %a trace.fxt trace-mine.fxt trace-1.fxt | sort -u)" = 600 ]
	kill "$recorder"
	wait "$recorder" || [ $? = 143 ]
	[ "$(stat -c %a trace.fxt)" = 600 ]
	# The user can change that.
	: >open.fxt
	fxtrun -o open.fxt true
	[ "$(stat -c %a open.fxt)" = 644 ]
	rm open.fxt
}

@test "a snapshot goes neither into a stranger's file nor through a stranger's link" {
	mkdir -m 1777 shared
	echo precious >victim
	stranger sh -c ': >shared/file; chmod 666 shared/file; ln -s "$1/victim" shared/link' - "$place"
	for name in file link; do
		run fxtctl snapshot -o "$place/shared/$name"
		[ "$status" != 0 ]
		[[ $output = *"it belongs to another user"* ]]
	done
	[ ! -s shared/file ]
	[ "$(cat victim)" = precious ]
	rm -r shared victim
}

@test "the memory they share" {
	local manager

	manager=$(recorder_of "$recorder")
	manager=${manager% }
	memfds=$(find "/proc/$manager/fd" -lname '*memfd:fxt*')
	[ -n "$memfds" ]
	maps=$(find "/proc/$program/map_files" "/proc/$manager/map_files" -lname '*memfd:fxt*')
	[ "$(wc -l <<<"$maps")" -ge 4 ]
	run tries $memfds $maps "/proc/$program/mem" "/proc/$manager/mem"
	[ "$(sort -u <<<"$output")" = PermissionError ]
}

@test "the sockets and their directories" {
	directories="$(dirname "$FXT_SOCKET") $XDG_RUNTIME_DIR/fxt"
	[ "$(stat -c '%a %u' $directories | sort -u)" = "700 0" ]
	[ "$(stat -c '%a %u' "$FXT_SOCKET" "$XDG_RUNTIME_DIR/fxt/srv" | sort -u)" = "600 0" ]
	for directory in $directories; do
		run stranger ls "$directory"
		[[ "$output" =~ 'Permission denied' ]]
	done
	run stranger ./hostile dies_welcomed
	[ "$output" = "connect: Permission denied" ]
	run stranger /usr/bin/python3 -c '
import os, socket
socket.socket(socket.AF_UNIX).connect(os.environ["XDG_RUNTIME_DIR"] + "/fxt/srv")'
	[ "${lines[-1]}" = "PermissionError: [Errno 13] Permission denied" ]
	run stranger "$build/fxtctl" --session=srv terminate
	[ "$status" != 0 ]
	kill -0 "$program"
}

@test "a stranger past the directories is not answered" {
	chmod 777 "$(dirname "$FXT_SOCKET")" "$XDG_RUNTIME_DIR/fxt" "$FXT_SOCKET" "$XDG_RUNTIME_DIR/fxt/srv"
	run stranger ./hostile dies_welcomed
	[ "${lines[0]}" = closed ]
	run stranger /usr/bin/python3 -c '
import os, socket
control = socket.socket(socket.AF_UNIX)
control.connect(os.environ["XDG_RUNTIME_DIR"] + "/fxt/srv")
try:
    control.sendall(b"""{"jsonrpc":"2.0","id":1,"method":"TerminateTracing"}\n""")
    print(control.recv(100))
except (BrokenPipeError, ConnectionResetError):
    print("closed")'
	[[ "$output" = "b''" || "$output" = closed ]]
	kill -0 "$program"
	kill -0 "$recorder"
}

@test "a stranger's file in a shared directory is not written to, and not followed" {
	mkdir -m 777 shared
	cc -O2 -g -finstrument-functions -o quiet "$BATS_TEST_DIRNAME/../programs/loss/standalone.c"
	stranger touch shared/file
	stranger ln -s "$place/victim" shared/link
	stranger mkfifo shared/pipe
	: >victim
	for name in file link pipe; do
		run timeout 20 fxtrun -o shared/$name ./quiet quiet
		[ "$status" = 125 ]
		[[ "$output" = "fxtrun: cannot write the trace to shared/$name: it belongs to another user, "* ]]
		env -u FXT_SOCKET LD_PRELOAD=$build/libfxtagent.so FXT_OUTPUT=shared/$name timeout 20 ./quiet quiet 2>said
		grep -x "fxt: another user has put there $place/shared/$name; the trace ends here" said
		[ ! -s "shared/$name" ]
	done
	[ ! -s victim ]
	# The user's own files are written to, also through a link.
	ln -s "$place/victim" shared/own
	fxtrun -o shared/own ./quiet quiet
	fxt check victim
	rm -r shared victim quiet said
}

@test "a stranger who connects any number of times is no process of the program that ran untraced" {
	stranger /usr/bin/python3 -c '
import socket
name = [line.split()[-1] for line in open("/proc/net/unix") if "@" in line and "fxtrun-" in line][-1][1:]
for _ in range(2000):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.connect("\0" + name)'
	kill "$recorder"
	wait "$recorder" || [ $? = 143 ]
	grep '^fxtrun: .* 1 process, ' err
	fails grep untraced err
}
