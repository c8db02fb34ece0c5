#!/usr/bin/env bats
# fxtrun --auto. The truth is the order of a program's calls: 2000 of hot() between two of
# tick(), as long as they are recorded.

load helpers

setup_file()
{
	compiled_for_all filters/noise
	mkdir "$BATS_FILE_TMPDIR/sockets"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	export XDG_RUNTIME_DIR=$BATS_FILE_TMPDIR/sockets PYTHONPATH=$BATS_TEST_DIRNAME:$root/tests/independent:.
	cat >muting.py <<-'END'
		from control import *
		from fxtdecode import Ticks
		import re

		HOT = 2000  # in a round

		def written(client):
		    return sum(p["non_durable_bytes_written"] for p in client.call("GetState")["provider_stats"])

		def go_until_muted(session):
		    """Has the process make rounds until it records no hot() in 20 of them. Returns how many it made."""
		    while True:
		        before = written(session.client)
		        rounds = int(session.tell("go 20")[0])
		        if written(session.client) - before < 20 * HOT * 24 / 2:
		            return rounds

		class Round:
		    def __init__(self, start):
		        self.start, self.rare, self.hot = start, 0, 0

		def rounds_of(trace):
		    """By process the rounds that it recorded, in order; times are ticks."""
		    rounds = collections.defaultdict(list)
		    for process, _, category, name, start, _ in Ticks(trace).slices():
		        if category == "function" and name == "tick":
		            rounds[process].append(Round(start))
		        elif category == "function" and name in ("rare", "hot"):
		            round = rounds[process][-1]
		            setattr(round, name, getattr(round, name) + 1)
		    return rounds

		def told(trace):
		    """(process, function, ticks, calls) of each event that tells of a function that was muted."""
		    dump = subprocess.run(["fxt", "dump", trace], capture_output=True, text=True).stdout
		    return [(int(process), function, int(ticks), int(calls)) for process, ticks, function, calls in re.findall(
		        r'thread=(\d+)/\d+ time=(\d+) category="fxt" name="fxt: muted" {function="(\w+)", calls=uint64:(\d+)}', dump)]

		def check_rounds(rounds, muted):
		    """All of hot() until one moment, which is not before the one that was told; then none."""
		    hot = [round.hot for round in rounds]
		    whole = next(n for n in range(len(hot)) if hot[n] < HOT)
		    assert set(hot[:whole]) <= {HOT} and set(hot[whole + 1:]) <= {0}, hot
		    assert all(round.rare == 1 for round in rounds), rounds
		    assert muted[1] == "hot" and muted[3] == sum(hot), (muted, sum(hot))
		    assert whole + 1 == len(hot) or muted[2] < rounds[whole + 1].start, (muted, whole)
	END
}

teardown()
{
	no_sockets
}

@test "a function of many short calls is recorded in full until it is muted; no other is muted; all of it is reported" {
	timeout 200 python3 - <<-'END'
		from muting import *
		session = Session(["-o", "x.fxt", "--auto=1", "--buffer-size=1"], "noise")
		go_until_muted(session)
		made = int(session.tell("go 10")[0])
		status, errors = session.end()
		assert status == 0 and " 0 lost," in errors, errors
		(rounds,) = rounds_of("x.fxt").values()
		((process, function, ticks, calls),) = told("x.fxt")
		assert len(rounds) == made, (len(rounds), made)
		check_rounds(rounds, (process, function, ticks, calls))
		assert rounds[0].hot == HOT and rounds[0].start < ticks
		said = re.search(r"fxtrun: muted by --auto: hot since ([\d.]+ \w+): ([\d,]+) calls recorded until then\n", errors)
		assert said and said[2] == f"{calls:,}", errors
		assert "fxtrun: fxt suggest x.fxt prints options that exclude them from the beginning\n" in errors, errors
		assert "matches no function" not in errors, errors
		assert not faults("x.fxt"), faults("x.fxt")

		def fxt(*words):
		    return subprocess.run(["fxt", *words, "x.fxt"], capture_output=True, text=True, check=True).stdout
		assert re.search(rf"^muted by fxtrun --auto: hot since [\d.]+ \w+: {calls} calls until then$", fxt("info"), re.M)
		report = fxt("report")
		assert re.search(rf"^muted by fxtrun --auto: hot since [\d.]+ \w+: {calls} calls until then$", report, re.M), report
		assert re.search(rf"^ *≥ {calls} +≥ .* hot$", report, re.M), report
		assert re.search(rf"^ *{made} .* tick$", report, re.M) and re.search(rf"^ *{made} .* rare$", report, re.M), report
		assert f": ≥ {calls + 2 * made} calls" in report, report
		assert json.loads(fxt("report", "--json"))["traces"][0]["facts"]["functions_muted"] == 1
		# A part cut out after that moment says so too.
		length = json.loads(fxt("info", "--json"))["traces"][0]["tables"][0]["rows"][0]["length_ns"]
		fxt("cut", f"--time={length - 5000000}ns..", "-o", "end.fxt")
		assert told("end.fxt") == told("x.fxt")

		# The filter that is proposed leaves out the same.
		proposed = re.search(r"^  fxtrun (--exclude=.*)$", fxt("suggest"), re.M)[1]
		assert proposed == "--exclude='hot'", proposed
	END
}

@test "children that are forked later mute the same functions; calls that they record before are reported" {
	timeout 200 python3 - <<-'END'
		from muting import *
		session = Session(["-o", "x.fxt", "--auto=1", "--buffer-size=1"], "noise")
		go_until_muted(session)
		made = [int(session.tell("go 1")[0])]
		for _ in range(3):
		    assert session.tell("fork") == ["0"]
		    go_until_muted(session)
		    made.append(int(session.tell("go 10")[0]))
		status, errors = session.end()
		assert status == 0 and " 0 lost," in errors, errors
		processes = rounds_of("x.fxt")
		assert sorted(map(len, processes.values())) == sorted(made), (processes.keys(), made)
		events = told("x.fxt")
		assert all(event[1] == "hot" for event in events)
		calls = sorted(sum(round.hot for round in rounds) for rounds in processes.values())
		assert sorted([event[3] for event in events] + [0] * (4 - len(events))) == calls, (events, calls)
		for rounds in processes.values():
		    hot = [round.hot for round in rounds]
		    assert hot == sorted(hot, reverse=True) and all(round.rare == 1 for round in rounds), hot
		assert f"hot since " in errors and f": {sum(calls):,} calls recorded until then" in errors, errors
		assert not faults("x.fxt"), faults("x.fxt")
	END
}

@test "beside changing filters of the user: muted functions stay muted, and the rest follows the filters" {
	timeout 200 python3 - <<-'END'
		from muting import *
		session = Session(["-o", "x.fxt", "--auto=1", "--buffer-size=1", "--exclude=rare"], "noise")
		first = go_until_muted(session)
		assert session.client.call("SetFilter", exclude=[]) == {}
		second = int(session.tell("go 30")[0])
		assert session.client.call("SetFilter", exclude=["rare"]) == {}
		third = int(session.tell("go 20")[0])
		status, errors = session.end()
		assert status == 0 and " 0 lost," in errors, errors
		(rounds,) = rounds_of("x.fxt").values()
		((_, function, _, calls),) = told("x.fxt")
		assert [round.rare for round in rounds] == [0] * first + [1] * (second - first) + [0] * (third - second)
		hot = [round.hot for round in rounds]
		assert function == "hot" and calls == sum(hot) and not any(hot[first:]), (calls, hot)
		dump = subprocess.run(["fxt", "dump", "x.fxt"], capture_output=True, text=True).stdout
		changes = [line.split('options="')[1].split('"')[0] for line in dump.splitlines() if "fxt: filter" in line]
		assert changes == ["all calls", "--exclude=rare"], changes
		assert not faults("x.fxt"), faults("x.fxt")
	END
}

@test "a program whose calls take less than the allowed time keeps all of them, wherever the option comes from" {
	FXT_OPTIONS=--auto=99 timeout 100 fxtrun -o x.fxt noise <<<'go 200' >out 2>said
	[ "$(calls_by_name x.fxt | sort)" = "$(printf '%s\n' "hot	400000" "rare	200" "tick	200" | sort)" ]
	fails grep muted said
	fxt report x.fxt | fails grep -e muted -e '≥'
	echo --auto=99 >.fxtrc
	timeout 100 fxtrun -o x.fxt noise </dev/null >out 2>said
	grep "with the options of .fxtrc" said
}

@test "--auto is refused if the manager does not see the calls at once, or functions have no names" {
	says 125 "fxtrun: --auto: calls are counted as they are written, which happens only in streaming mode" \
		fxtrun --auto --buffering-mode=circular true
	says 125 "fxtrun: --auto: functions are muted by their names, which --raw leaves out: use one or the other" \
		fxtrun --raw --auto=5 true
	timeout 100 python3 - <<-'END'
		from control import *
		process = subprocess.Popen(["fxtrun", "--session=srv", "--start=controller", "--auto", "true"])
		def client():
		    while True:
		        try:
		            return Client()
		        except (FileNotFoundError, ConnectionRefusedError):  # it does not listen yet
		            pass
		first, output = client(), os.getcwd() + "/x.fxt"
		assert first.call("InitializeTracing", output=output, buffering_mode="CIRCULAR") == -32602
		first.close()
		client = client()
		assert client.call("InitializeTracing", output=output, buffering_mode="STREAMING") == {}
		client.close()
		assert process.wait(timeout=60) == 0
	END
}

@test "recordings of an idle session: each is muted if asked for, and no other" {
	timeout 200 python3 - <<-'END'
		from muting import *
		session = Session(["--start=idle", "--no-sched", "--calibrate"], "noise")
		def go_on(options, go):
		    """Has a recording made while the program does that. Returns its rounds and what it tells of muted functions."""
		    recording = subprocess.Popen(["fxtctl", "record", "-o", "x.fxt", *options], stdout=subprocess.PIPE, text=True)
		    while session.client.state() != "STARTED":
		        assert recording.poll() is None
		    rounds = go()
		    recording.terminate()
		    assert " 0 lost," in recording.communicate(timeout=60)[0]
		    (rounds,) = rounds_of("x.fxt").values()
		    return rounds, told("x.fxt")

		def some():
		    session.tell("go 60")

		def until_muted():
		    go_until_muted(session)
		    session.tell("go 10")

		for options, go in (["--auto=1"], until_muted), ([], some), (["--auto=1"], until_muted), (["--auto=99"], some):
		    rounds, muted = go_on(options, go)
		    if go is until_muted:
		        check_rounds(rounds, *muted)
		    else:
		        assert not muted and [round.hot for round in rounds] == [HOT] * 60, (muted, rounds)
		assert session.end()[0] == 0
	END
}

@test "a recording that cannot be muted: why, and nothing is begun" {
	fxtrun --session=srv --start=idle --no-sched sleep 1000 3>&- &
	job=$!
	until fxtctl list | grep -q '^srv .* READY '; do :; done
	says 2 'fxtctl: --auto=100: must be a number of percent, from 1 to 99' fxtctl record -o x.fxt --auto=100
	says 2 'fxtctl: --auto=: must be a number of percent, from 1 to 99' fxtctl record -o x.fxt --auto=
	says 2 'fxtctl: --auto is for record only' fxtctl snapshot --auto
	says 1 'fxtctl: session srv: muting_percent: what a call costs is not known; begin the session with fxtrun --calibrate' \
		fxtctl record -o x.fxt --auto
	kill $job
	wait $job || true
	fxtrun --session=srv --start=idle --no-sched --auto sleep 1000 3>&- &
	job=$!
	until fxtctl list | grep -q '^srv .* READY '; do :; done
	says 1 'fxtctl: session srv: buffering_mode must be STREAMING to mute functions (--auto)' \
		fxtctl record -o x.fxt --auto --buffering-mode=circular
	[ ! -e x.fxt ]
	kill $job
	wait $job || true
}
