#!/usr/bin/env bats
# A session while it runs: snapshots of a flight recorder, its control socket, and fxtctl.

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
	no_sockets
}

# record OPTION...: runs rounds in the background, as $recorder, until it is ready.
record()
{
	fxtrun --buffer-size=1 "$@" "$rounds" counts $pause >out 2>err 3>&- &
	recorder=$!
	await ready out
}

# ends: ends the program; its last trace is as valid as that of any program that a signal
# ended.
ends()
{
	local status=0

	kill "$recorder"
	wait "$recorder" || status=$?
	[ "$status" = 143 ]
	whole trace.fxt
}

# whole TRACE: nothing is wrong with it, but that calls are open, and that those before the
# last half of a buffer are gone. No call is lost beside them: that would be a slice of its
# own.
whole()
{
	fxt check "$1" && ! decode check "$1" | grep -v -e ^0 -e calls:left_open -e calls:records_lost &&
		decode slices "$1" >slices && ! grep 'records lost' slices
}

# rounds_in TRACE: the number of the last whole round of each thread, as its calls spell it;
# of a trace seen to be whole.
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

# shows TRACE BEFORE0 BEFORE1: the trace of a moment between then and now: the last rounds
# of both threads, and main as begun.
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

# missing_in MODE: a program has made 100,002 calls and waits: what status says of it then,
# in `live`. At its end so many of its calls are not in the trace as $missing.
missing_in()
{
	fxtrun --buffering-mode=$1 --buffer-size=64K --session=srv "$counted" 100000 wait >out 2>err 3>&- &
	recorder=$!
	await ready out
	fxtctl --json --session=srv status |
		python3 -c 'import json, sys; s, = json.load(sys.stdin)["provider_stats"]; print(s["records_dropped"], s["records_overwritten"])' >live
	fxtctl --session=srv status | awk 'is_next { print $3, $4 } /LOST +OVERWRITTEN/ { is_next = 1 }' | diff live -
	kill $recorder
	wait $recorder || true
	recorder=
	missing=$((100002 - $(calls_by_name trace.fxt | awk -F'\t' '{ n += $2 } END { print n }')))
}

@test "lost and overwritten records are two numbers, and known while the program runs" {
	missing_in oneshot
	echo "$missing 0" | diff live -
	grep ", ${missing::-3},${missing: -3} lost, [0-9.]* kB: trace.fxt" err
	missing_in circular
	echo "0 $missing" | diff live -
	grep ", 0 lost, ${missing::-3},${missing: -3} overwritten, [0-9.]* kB: trace.fxt" err
	fxt info trace.fxt | grep "^lost: 0 records, overwritten: $missing,"
	[ -z "$(fxt dump trace.fxt | grep provider-event)" ]
}

# ---- on a signal ----

@test "snapshots of a running program have its newest calls, and calls still open" {
	record --buffering-mode=circular env # in its place
	for n in 1 2 3; do
		before=$(od -An -tu4 counts)
		kill -USR1 $recorder
		await "^fxtrun: snapshot: [0-9,]+ events, 3 threads, 1 process, .*: trace-$n.fxt\$" err
		shows trace-$n.fxt $before
	done
	ends
}

@test "a flight recorder: fifty snapshots while the program runs" {
	pause=20 record --no-sched --buffering-mode=circular --buffer-size=256K --session=srv
	for n in $(seq 1 50); do
		before=$(od -An -tu4 counts)
		fxtctl --session=srv snapshot -o $n.fxt
		echo $n.fxt $before $(od -An -tu4 counts) >>snapshots
		fxt check $n.fxt
	done
	python3 "$BATS_TEST_DIRNAME/rounds.py" <snapshots
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

@test "a snapshot that cannot be written is reported, and harms nothing" {
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
	record
	kill -USR1 $recorder
	await '^fxtrun: no snapshot: only a session with --buffering-mode=circular can write one$' err
	ends
	[ ! -e trace-1.fxt ]
}

@test "a snapshot has the calls of processes that have ended, and of those that run" {
	fxtrun --buffering-mode=circular --buffer-size=1 sh -c '"$1" 100; exec "$2" counts' sh "$counted" "$rounds" >out 2>err 3>&- &
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

# ---- the control socket ----

# A client in Python: call(request) sends a line and returns the object that comes back.
client()
{
	cat >client.py <<-'END'
		import json, os, re, socket, sys
		def connect(name="srv"):
		    s = socket.socket(socket.AF_UNIX)
		    s.connect(os.environ["XDG_RUNTIME_DIR"] + "/fxt/" + name)
		    return s, s.makefile("rwb")
		def line(text, file):
		    file.write(text.encode() + b"\n")
		    file.flush()
		    return json.loads(file.readline())
		def call(method, file, **params):
		    reply = line(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}), file)
		    assert reply["jsonrpc"] == "2.0" and reply["id"] == method, reply
		    return reply.get("result", reply.get("error"))
	END
	cat >>client.py
	timeout 100 python3 client.py "$@"
}

@test "every call, and every error" {
	record --buffering-mode=circular --session=srv
	client "$recorder" <<-'END'
		s, f = connect()
		state = call("GetState", f)
		assert state["name"] == "srv" and state["pid"] == int(sys.argv[1]) and state["state"] == "STARTED", state
		assert state["buffering_mode"] == "CIRCULAR" and state["output"] == "trace.fxt", state
		assert call("GetProviders", f)["providers"] == [{"id": 1, "pid": state["program_pid"], "name": "rounds"}]
		assert state["provider_stats"][0]["pid"] == state["program_pid"]
		def code(text):
		    return line(text, f)["error"]["code"]
		assert code("nonsense") == code("") == code("{") == -32700
		assert code("[]") == code("{}") == code('"x"') == code('{"id":1,"method":"GetState"}') == -32600
		assert code('{"jsonrpc":"2.0","id":[],"method":"GetState"}') == -32600
		assert code('{"jsonrpc":"2.0","id":1,"method":"StealTracing"}') == -32601
		assert code('{"jsonrpc":"2.0","id":1,"method":"GetState","params":[]}') == -32602
		assert call("Snapshot", f, path="relative.fxt")["code"] == call("Snapshot", f, path=1)["code"] == -32602
		assert call("Snapshot", f, path="/nosuch/x.fxt")["code"] == -32000
		f.write(b'{"jsonrpc":"2.0","method":"GetState"}\n')  # a notification has no reply
		here = os.getcwd() + "/named.fxt"
		result = call("Snapshot", f, path=here)
		assert result["path"] == here and result["bytes"] == os.path.getsize(here) and result["events"] > 0, result
		assert call("Snapshot", f)["path"] == os.path.realpath("trace-1.fxt")
		s2, f2 = connect()
		f.write(b'{"jsonrpc":"2.0","id":"end","method":"TerminateTracing"}\n')
		f.flush()
		ended = {"jsonrpc": "2.0", "method": "OnSessionStateChange", "params": {"state": "TERMINATING"}}
		assert json.loads(f.readline()) == json.loads(f2.readline()) == ended
		assert f2.read() == b""
		reply = json.loads(f.readline())
		result, stats = reply["result"], reply["result"]["provider_stats"][0]
		assert reply["id"] == "end" and f.read() == b"", reply
		assert result["output"] == "trace.fxt" and result["bytes"] == os.path.getsize("trace.fxt"), result
		assert result["complete"] and result["lost"] == 0 and result["overwritten"] == stats["records_overwritten"]
		assert stats["name"] == "rounds" and stats["pid"] == state["program_pid"], stats
	END
	wait $recorder || [ $? = 143 ]
	for trace in named trace-1 trace; do
		whole $trace.fxt
	done
}

@test "clients that send too much, read nothing, or go away hold up no other client" {
	record --buffering-mode=circular --session=srv
	client <<-'END'
		import random
		request = b'{"jsonrpc":"2.0","id":1,"method":"GetState"}\n'
		deaf = connect()[0]
		deaf.setblocking(False)
		sent = 0
		try:
		    while sent < 1 << 24:
		        sent += deaf.send(request * 100)
		    assert False, "all of it was taken"
		except BlockingIOError:
		    pass
		endless, f = connect()
		endless.sendall(b"x" * 20000)
		assert json.loads(f.readline())["error"]["code"] == -32600
		endless.sendall(b"x" * 1000000 + b"\n" + request)
		assert json.loads(f.readline())["result"]["name"] == "srv"
		for seed in range(50):
		    garbage, _ = connect()
		    garbage.send(random.Random(seed).randbytes(5000) + b"\n")
		    garbage.close()
		gone, f = connect()
		f.write(b'{"jsonrpc":"2.0","id":1,"method":"Snapshot"}\n')
		f.flush()
		f.close()
		gone.close()
		many = [connect() for _ in range(40)]
		for s, f in many:
		    assert line(request.decode().strip(), f)["result"]["name"] == "srv"
		    s.close()
		    f.close()
		half, f = connect()
		half.send(b'{"jsonrpc":"2.0","id":1,"method":"Snapshot"}\n')
		half.shutdown(socket.SHUT_WR)
		assert json.loads(f.readline())["result"]["path"].endswith(".fxt") and f.read() == b""
	END
	ends
}

@test "the place of the socket, and names of sessions" {
	record --session=srv
	[ "$(stat -c '%a %u' "$XDG_RUNTIME_DIR"/fxt "$XDG_RUNTIME_DIR"/fxt/srv | tr '\n' ,)" = \
		"700 $(id -u),600 $(id -u)," ]
	status=0
	fxtrun -o other.fxt --session=srv touch ran 2>refused || status=$?
	[ $status = 125 ]
	[ ! -e ran ]
	[ ! -e other.fxt ]
	grep -x 'fxtrun: a session named srv runs already; choose another name with --session' refused
	# The job first: it would wait for the program of a recorder that is killed alone.
	kill -KILL $recorder $(recorder_of $recorder)
	wait $recorder || true
	pkill -KILL -x -f "$rounds counts"
	# The remains of a killed session are in no other session's way.
	[ -S "$XDG_RUNTIME_DIR/fxt/srv" ]
	fxtrun --session=srv "$counted" 10
	[ -z "$(ls "$XDG_RUNTIME_DIR")" ]
	for name in '' . ../x a/b .x "$(printf %032d 0)"; do
		status=0
		fxtrun --session="$name" touch ran 2>refused || status=$?
		[ $status = 125 ]
		[ ! -e ran ]
	done
	# A place that is not ours alone is not used.
	mkdir -m 755 "$XDG_RUNTIME_DIR/fxt"
	fxtrun --session=srv touch ran 2>refused || status=$?
	[ $status = 125 ]
	[ ! -e ran ]
	fxtrun "$counted" 10 2>said
	grep '^fxtrun: no control socket for session [0-9]* in .*: it is not a directory that only this user may enter; set XDG_RUNTIME_DIR ' said
	rmdir "$XDG_RUNTIME_DIR/fxt"
}

# ---- fxtctl ----

# fails STATUS LINE COMMAND...
fails()
{
	local status=$1 line=$2 got=0

	shift 2
	"$@" >said.out 2>said.err || got=$?
	[ "$got" = "$status" ]
	[ ! -s said.out ]
	echo "$line" | diff - said.err
}

@test "fxtctl: sessions, snapshots and the end" {
	fails 1 "fxtctl: no session runs; fxtrun begins one" fxtctl status
	record --buffering-mode=circular
	fxtctl list >list
	grep -E "^$recorder +$recorder +STARTED +CIRCULAR +$rounds\$" list
	pid=$(fxtctl providers | awk '$3 == "rounds" { print $2 }')
	[ "$(realpath "/proc/$pid/exe")" = "$(realpath "$rounds")" ]
	fxtctl status | grep -Fx "program    $rounds (process $pid)"
	before=$(od -An -tu4 counts)
	fxtctl snapshot -o mine.fxt >said
	grep -E "^$PWD/mine.fxt: [0-9]+ events, 0 lost, $(stat -c %s mine.fxt) bytes\$" said
	shows mine.fxt $before
	fxtctl --json snapshot | python3 -c 'import json, sys; print(json.load(sys.stdin)["path"])' |
		grep -x "$(realpath .)/trace-1.fxt"
	fails 1 "fxtctl: session $recorder: $PWD/no/x.fxt: cannot be written: No such file or directory" \
		fxtctl snapshot -o no/x.fxt
	fxtrun -o other.fxt --session=other "$counted" 1 wait >other 2>/dev/null 3>&- &
	other=$!
	await ready other
	[ "$(fxtctl --json list | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')" = 2 ]
	fails 1 "fxtctl: 2 sessions run; choose one with --session, fxtctl list shows them" fxtctl terminate
	fails 1 "fxtctl: session other: only a session with --buffering-mode=circular can write one" \
		fxtctl --session=other snapshot
	fxtctl --session=other terminate
	wait $other || [ $? = 143 ]
	fxtctl terminate
	wait $recorder || [ $? = 143 ]
	whole trace.fxt
}

@test "fxtctl and fxtrun: no name, no path and no error reaches a terminal as anything but text on one line" {
	odd=$(printf 'a\033[31m\302\233\342\200\256\342\200\250b')
	cp "$counted" "./$odd"
	mkdir "$odd dir"
	fxtrun --buffering-mode=circular -o "$odd dir/$odd" --session=srv "./$odd" 1 wait >out 2>err 3>&- &
	recorder=$!
	await ready out
	{
		fxtctl list
		fxtctl status
		fxtctl providers
		fxtctl alert "$odd" || true
		(timeout 10 fxtctl watch || true) | head -n 1
		fxtctl --json status
		fxtctl snapshot
		fxtctl snapshot -o "$odd dir/no/$odd" || true
		fxtctl "--session=$odd" status || true
		fxtctl "$odd" || true
		fxtctl terminate
	} >said 2>&1
	wait $recorder || [ $? = 143 ]
	recorder=
	# A recording of an idle session is reported to its client too.
	fxtrun --session=idle --start=idle "./$odd" 1 wait >out2 2>>err 3>&- &
	recorder=$!
	program=$(await ready out2 | cut -d ' ' -f 2)
	fxtctl record --session=idle -o "$odd dir/two" --duration=0.1 >>said 2>&1
	kill -KILL "$program"
	wait $recorder || [ $? = 137 ]
	recorder=
	fxtrun "./no $odd" 2>>err || true
	fxtrun -o "no $odd/x" true 2>>err || true
	LC_ALL=C grep -n -P '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]' said err && return 1
	[ "$(grep -c -F 'a\x1b[31m\u009b\u202e\u2028b' said)" -ge 8 ]
	grep -F 'a\x1b[31m\u009b\u202e\u2028b cannot be run' err
}

@test "fxtctl: a session that hangs up, one that refuses, and output that cannot be written" {
	python3 - >ready 3>&- <<-'END' &
		import os, socket
		os.mkdir(os.environ["XDG_RUNTIME_DIR"] + "/fxt", 0o700)
		place = os.environ["XDG_RUNTIME_DIR"] + "/fxt/fake"
		listener = socket.socket(socket.AF_UNIX)
		listener.bind(place)
		listener.listen()
		print("ready", flush=True)
		for reply in b'"result":{"alert_name":"slow"}', b'"error":{"code":-32600,"message":"no"}':
		    connection = listener.accept()[0]
		    connection.recv(1 << 16)
		    connection.shutdown(socket.SHUT_RD)  # what is said to it from now on is an error
		    connection.send(b'{"jsonrpc":"2.0","id":1,' + reply + b'}\n')
		    connection.close()
		os.unlink(place)
		os.rmdir(os.environ["XDG_RUNTIME_DIR"] + "/fxt")
	END
	fake=$!
	await ready ready
	fxtctl watch --session=fake >said
	[ "$(cat said)" = "alert slow" ]
	fails 1 "fxtctl: session fake: no" fxtctl watch --session=fake
	wait $fake
	status=0
	fxtctl list 2>said >/dev/full || status=$?
	[ $status = 1 ]
	grep -x "fxtctl: standard output: No space left on device" said
}

@test "fxtctl: wrong usage" {
	fails 2 "fxtctl: no command given; fxtctl --help lists the commands" fxtctl
	fails 2 "fxtctl: steal: no such command; fxtctl --help lists them all" fxtctl steal
	fails 2 "fxtctl: --colour: no such option (did you mean --clear?); fxtctl --help lists them all" fxtctl --colour list
	fails 2 "fxtctl: -o is for record and snapshot only" fxtctl -o x list
	fails 1 "fxtctl: no session named nosuch runs; fxtctl list shows those that do" fxtctl --session=nosuch status
	fails 2 "fxtctl: --session=../x: no session has such a name" fxtctl --session=../x status
	[ "$(fxtctl list | wc -l)" = 1 ]
	[[ "$(fxtctl --version)" =~ ^fxtctl\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	fxtctl --help | grep -q snapshot
}

# ---- many processes ----

@test "a snapshot while processes come and go without end" {
	cc -O2 -g -finstrument-functions -o storm "$BATS_TEST_DIRNAME/../programs/sessions/storm.c"
	cc -O2 -D_GNU_SOURCE -shared -fPIC -o slow.so "$BATS_TEST_DIRNAME/../programs/sessions/slow.c"
	# With a disk so slow that at any time the rest of some process is being saved.
	LD_PRELOAD=$PWD/slow.so fxtrun --buffering-mode=circular --buffer-size=64K ./storm >out 2>err 3>&- &
	recorder=$!
	await ready out
	timeout 60 fxtctl snapshot -o snapshot.fxt
	fxt check snapshot.fxt
	[ "$(calls_of snapshot.fxt in_child)" -ge 10 ]
	kill $recorder
	wait $recorder || [ $? = 143 ]
	fxt check trace.fxt
	[ "$(calls_of trace.fxt in_child)" -ge "$(calls_of snapshot.fxt in_child)" ]
}

@test "files that killed sessions left are removed by the next one, and those of living ones are not" {
	local jobs=() recorders=() programs=() session

	for session in killed living; do
		fxtrun --buffering-mode=circular --session=$session -o $session.fxt "$rounds" $session.counts >$session.out 2>$session.err 3>&- &
		jobs+=($!)
		await ready $session.out
		recorders+=($(recorder_of $!))
		programs+=($(fxtctl --session=$session providers | awk '$3 == "rounds" { print $2 }'))
	done
	ls -d "$XDG_RUNTIME_DIR"/fxtrun-* >before
	kill -KILL ${jobs[0]} ${recorders[0]}
	wait ${jobs[0]} || true
	timeout 60 tail --pid=${recorders[0]} -f /dev/null
	kill -KILL ${programs[0]}
	[ "$(wc -l <before)" = 2 ]
	[ -S "$XDG_RUNTIME_DIR/fxt/killed" ]
	fxtrun -o next.fxt true
	[ ! -e "$XDG_RUNTIME_DIR/fxt/killed" ]
	[ "$(ls -d "$XDG_RUNTIME_DIR"/fxtrun-* | wc -l)" = 1 ]
	fxtctl --session=living snapshot
	kill ${jobs[1]}
	wait ${jobs[1]} || [ $? = 143 ]
}
