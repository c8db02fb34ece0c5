#!/usr/bin/env bats
# Who holds the locks that threads wait for, against what programs know of themselves.

load helpers

setup_file()
{
	compiled_for_all threads/holders threads/shared_lock
}

# held SCENE KIND: holders' own word against fxt last and fxt locks, once it was killed.
held()
{
	fxtrun -o held.fxt holders "$1" "$2" >out 2>err 3>&- &
	kill -KILL "$(await ready out | cut -d ' ' -f 2)"
	wait $! || true
	judge "$1 $2"
}

# judge WHAT: the same of held.fxt and what the program printed into out.
judge()
{
	fxt check held.fxt
	fxt last --json held.fxt >last.json
	fxt locks held.fxt >locks
	fxt last held.fxt >last
	# The same deadlock, in the first line of both, and no wait is folded into another.
	diff <(grep '^deadlock: ' locks) <(grep '^deadlock: ' last)
	! grep -q 'dead$' out || head -n 1 locks | grep '^deadlock: '
	for lock in $(grep -P '\t' out | cut -f 2 | grep -v join); do
		grep "^0  .*: waiting for $lock\b" last
	done
	fxt sql --csv "select distinct tid, symbol from waits where is_open and symbol is not null" held.fxt |
		sed -n 's/^rows,//p' | tr -d '"' | sort >open
	grep -P '\t' out | grep -v join | cut -f 1,2 | tr '\t' , | sort | diff - open
	grep -P '\t' out >expected
	python3 - "$1" <<-'END' || { cat expected locks last.json; return 1; }
		import json, re, sys
		rows = [line.rstrip("\n").split("\t") for line in open("expected")]
		expected = sorted((int(waiter), lock, holder, verdict) for waiter, lock, holder, verdict in rows)
		holders, verdicts, calls = {}, {}, {}
		for table in json.load(open("last.json"))["traces"][0]["tables"]:
		    # The write that says ready may not have returned.
		    waits = [row for row in table["rows"] if row.get("object") and not row["object"].startswith("fd ")]
		    if table["name"] != "open" or not waits:
		        continue
		    koid = int(re.match(r"thread (\d+)", table["of"]).group(1))
		    holders[koid] = (waits[0]["object"], str(waits[0].get("holder_koid") or "unknown"))
		for line in open("locks"):
		    if match := re.match(r"never got: thread (\d+) ", line):
		        verdicts[int(match.group(1))] = "waits"
		    elif line.startswith("deadlock: "):
		        # Each thread of the circle, what it holds for the one before it, and the next.
		        circle = re.findall(r'(?:^deadlock: |; )thread (\d+) "[^"]*"(?: of process \d+ "[^"]*")?'
		                            r'(?: holds (\w+) and)? has waited for .*? for (the end of thread \d+|\w+)', line)
		        for i, (koid, held, lock) in enumerate(circle):
		            verdicts[int(koid)] = "dead"
		            before = circle[i - 1][2]
		            assert held == ("" if len(circle) == 1 or before.startswith("the ") else before), line
		# The handle of a joined thread has no name.
		found = sorted((koid, "join" if lock.startswith("0x") else lock, holder, verdicts.get(koid, "none"))
		               for koid, (lock, holder) in holders.items())
		assert found == expected, (sys.argv[1], found, expected)
	END
}

@test "who holds a lock that a thread waits for is known, and a deadlock is a closed circle of holders" {
	for scene in two three itself busy chain beside joined ended; do
		held $scene plain
	done
	grep '^never got: .* red, held by thread [0-9]* .*, which has ended, in take_red$' locks
}

@test "the holder is known for locks of every kind" {
	for kind in robust recursive rwlock c11; do
		held two $kind
		held busy $kind
	done
	# In a circle of these the kernel refuses the last wait, and libc sleeps elsewhere.
	held chain inherits
}

@test "a lock that went to another thread while its waiter waited is not held by the one before" {
	held barged plain
	held barged rwlock
}

@test "a lock that was taken before recording began has its holder" {
	export XDG_RUNTIME_DIR=$PWD
	mkfifo go
	fxtrun --start=paused --session=late -o held.fxt holders two plain late <go >out 2>err 3>&- &
	exec 5>go
	await held out
	fxtctl --session=late start
	echo >&5
	kill -KILL "$(await ready out | cut -d ' ' -f 2)"
	wait $! || true
	judge late
}

@test "a lock that two processes share: the holder is a thread of the other process" {
	fxtrun -o shared.fxt shared_lock >out
	fxt check shared.fxt
	fxt locks --json shared.fxt >locks.json
	python3 - $(cat out) <<-'END'
		import json, sys
		waiter, holder = map(int, sys.argv[1:])
		blames = json.load(open("locks.json"))["traces"][0]["tables"][1]["rows"]
		assert [(row["waiter_koid"], row["holder_koid"]) for row in blames] == [(waiter, holder)], blames
	END
}

# The threads have what they hold; they deadlock once they are told to.
begin_late()
{
	export XDG_RUNTIME_DIR=$PWD
	mkfifo go
	"$@" holders two plain late <go >out 2>err 3>&- &
	exec 5>go
	await held out
}

@test "a wait that is open when the recording is stopped has not ended, also if it goes on over a stop" {
	begin_late fxtrun --session=stopped -o held.fxt
	echo >&5
	program=$(await ready out | cut -d ' ' -f 2)
	fxtctl --session=stopped stop
	fxtctl --session=stopped start
	fxtctl --session=stopped stop
	kill -KILL "$program"
	wait $! || true
	judge stopped
	# The moment until which it is known to have waited.
	fxt dump held.fxt | grep 'instant .*category="fxt" name="recording stops"'
	# Results written at a stop: a wait of the first run does not reach into the next one.
	rm go out
	begin_late fxtrun --session=written -o written.fxt
	echo >&5
	program=$(await ready out | cut -d ' ' -f 2)
	fxtctl --session=written stop --write-results
	fxtctl --session=written start
	kill -KILL "$program"
	wait $! || true
	fxt check written.fxt
	fxt dump written.fxt | grep -o 'duration-begin .*name="pthread_mutex_lock" {.*symbol="\(red\|green\)"' | wc -l | grep -x 2
}

@test "what a killed process left open lasts until its end, however long another one goes on" {
	fxtrun -o held.fxt sh -c 'holders two plain; shared_lock' >out 2>err 3>&- &
	kill -KILL "$(await ready out | cut -d ' ' -f 2)"
	wait $! || true
	fxt check held.fxt
	fxt dump held.fxt >dump
	fxt last --json held.fxt >last.json
	fxt threads --json held.fxt >threads.json
	python3 - "$(await ready out | cut -d ' ' -f 2)" <<-'END' || { cat dump last.json threads.json; return 1; }
		import json, re, sys
		process, begun, ended, latest = sys.argv[1], {}, {}, 0
		for line in open("dump"):
		    if match := re.search(r"ticks_per_second=(\d+)", line):
		        rate = int(match.group(1))
		    if not (match := re.search(r"(\S+) thread=(\d+)/(\d+) time=(\d+) (?:end=(\d+) )?.*?name=\"(.*?)\"", line)):
		        continue
		    kind, of, thread, time, end, name = match.groups()
		    latest = max(latest, int(end or time))
		    if of == process and kind == "duration-begin" and 'symbol="' in line:
		        begun[int(thread)] = int(time)
		    if kind == "duration-complete" and 'category="sync"' in line:
		        ended[int(thread)] = ended.get(int(thread), 0) + int(end) - int(time)
		    if of == process and kind == "instant" and name in ("killed", "process ends"):
		        death = int(time)
		expected = {thread: (death - time) * 10**9 // rate for thread, time in begun.items()}
		assert len(expected) == 2 and latest > death, (expected, latest)

		def tables(file, name):
		    return [table for table in json.load(open(file))["traces"][0]["tables"] if table["name"] == name]
		found = {int(re.match(r"thread (\d+)", table["of"]).group(1)): table["rows"][0]["since_ns"]
		         for table in tables("last.json", "open")}
		waited = {row["koid"]: row["waiting_ns"] for row in tables("threads.json", "threads")[0]["rows"]}
		for thread, ns in expected.items(): # a tick may be rounded
		    assert abs(found[thread] - ns) <= 1, (expected, found)
		    assert -1 <= waited[thread] - ns <= 1000 + ended.get(thread, 0) * 10**9 // rate, (expected, waited, ended)
	END
}

@test "a wait that is open when its process is detached from has not ended" {
	[ "$(uname -m)" = x86_64 ] || skip "attaching works on x86-64"
	begin_late
	program=$!
	fxtrun -o held.fxt --attach=$program 2>said 3>&- 5>&- &
	recorder=$!
	await "attached to process $program|not permitted" said
	grep 'attached to' said || skip "ptrace(2) is not permitted here"
	echo >&5
	await ready out
	kill -INT $recorder
	wait $recorder
	kill -KILL $program
	judge detached
	# Nothing is known of context switches, so there are no columns of them.
	fxt threads held.fxt | fails grep -e preempted -e faults
	fxt threads held.fxt | grep '^waits  *in waits  *thread'
	fxt threads --json held.fxt | grep '"running_ns": null'
}
