#!/usr/bin/env bats
# The filter is changed while a program runs. The truth is in the program's own counts, and
# in what it did between two changes by order of the test.

load helpers
load steps

@test "limits changed between phases hold for the calls after that, in every mode, in children; the trace reports them" {
	timeout 200 python3 - <<-'END'
		from control import *
		for mode in "streaming", "oneshot", "circular":
		    session = Session(["-o", "x.fxt", "-t", "0us", "--buffering-mode=" + mode], os.environ["steps"])
		    client = session.client
		    session.tell("call 100")
		    assert client.call("SetFilter", min_duration="1h") == {}
		    session.tell("call 30")
		    assert client.call("SetFilter", min_duration="0us", max_calls=7) == {}
		    session.tell("call 50")
		    assert client.call("SetFilter", max_calls=None) == {}
		    session.tell("call 11")
		    assert client.call("SetFilter", min_duration="1h") == {}
		    counts = session.tell("fork")
		    made = sum(map(int, session.process.stdout.readline().split() if counts == ["half"] else counts)) + 3000
		    assert session.end()[0] == 0
		    recorded = collections.Counter()
		    for (thread, name), count in calls("x.fxt").items():
		        recorded[name] += count
		    assert recorded["leaf"] == 4 * 100 + 7 + 4 * 11, recorded
		    assert 2 * 111 + 7 <= recorded["outer"] <= 2 * 111 + 14, recorded
		    whole = {line[0]: int(line[1]) for line in decoded("whole", "x.fxt")}
		    assert whole["leaf"] + whole["outer"] == made == 6 * 191 + 3000, (whole, made)
		    assert not faults("x.fxt"), faults("x.fxt")
		    told = subprocess.run(["fxt", "dump", "x.fxt"], capture_output=True, text=True).stdout
		    changes = [line.split("--", 1)[1].rstrip('"}) ') for line in told.splitlines() if "fxt: filter" in line]
		    assert changes == ["min-duration=3600000000000ns", "min-duration=0ns --max-calls=7", "min-duration=0ns",
		                       "min-duration=3600000000000ns"], changes
	END
}

@test "changed again and again while threads call: recorded and elided calls add up to those made" {
	timeout 200 python3 - <<-'END'
		from control import *
		session = Session(["-o", "x.fxt", "-t", "0us"], os.environ["steps"])
		assert session.tell("run") == ["running"]
		for n in range(200):
		    for limits in {"min_duration": "1h"}, {"min_duration": "1us", "max_calls": n}, {"max_calls": None}, \
		            {"min_duration": "0us"}:
		        assert session.client.call("SetFilter", **limits) == {}
		made = sum(map(int, session.tell("")))
		status, errors = session.end()
		assert status == 0 and " 0 lost," in errors, errors
		whole = {line[0]: [int(n) for n in line[1:3]] for line in decoded("whole", "x.fxt")}
		assert whole["leaf"][0] + whole["outer"][0] == made, (whole, made)
		assert whole["leaf"][0] == 2 * whole["outer"][0], whole
		assert 0 < whole["leaf"][1] < whole["leaf"][0], whole
		assert not faults("x.fxt"), faults("x.fxt")
	END
}

@test "a session without sums, and wrong limits, are refused" {
	timeout 100 python3 - <<-'END'
		from control import *
		session = Session(["-o", "x.fxt"], os.environ["steps"])
		assert session.client.call("SetFilter", min_duration="1ms") == -32001
		run = subprocess.run(["fxtctl", "filter", "-t", "1ms"], capture_output=True, text=True)
		assert run.returncode == 1 and "begin it with fxtrun --min-duration" in run.stderr, run
		assert session.end()[0] == 0
		session = Session(["-o", "x.fxt", "--max-calls=leaf:3"], os.environ["steps"])
		for limits in {}, {"min_duration": 1}, {"min_duration": "1"}, {"max_calls": -1}, {"max_calls": "1"}, {"deep": 1}:
		    assert session.client.call("SetFilter", **limits) == -32602, limits
		for words, status in (["-t", "1"], 1), (["--max-calls=x"], 2), ([], 2):
		    assert subprocess.run(["fxtctl", "filter", *words], capture_output=True).returncode == status, words
		assert subprocess.run(["fxtctl", "filter", "--max-calls=any", "-t1h"]).returncode == 0
		session.tell("call 10")
		assert session.end()[0] == 0
		assert not calls("x.fxt"), calls("x.fxt")
	END
}

@test "patterns and categories changed while calls are open: the filter at its beginning decides on each call, and it ends when it returned" {
	cc -O2 -g -finstrument-functions -o told "$root/tests/programs/filters/nested.c"
	cc -O2 -g -finstrument-functions -DJUMPS_UNTOLD -o untold "$root/tests/programs/filters/nested.c"
	timeout 300 python3 - <<-'END'
		from control import *
		import random
		import re
		NAMES = "leaf", "to", "fro", "twin", "twins", "land", "again"
		KINDS = "include", "exclude", "only_under", "not_under"

		class Call:
		    """With what it is to the calls inside of it: how many deep are recorded, and whether any is."""

		    def __init__(self, filter, name, outer):
		        self.name = name
		        self.has_frame = filter["calls"] and (Call.is_chosen(filter, name) or name in filter["only_under"] + filter["not_under"])
		        self.is_recorded = self.follow(filter, outer)

		    def follow(self, filter, outer):
		        self.depth, self.not_under = outer
		        if not self.has_frame:
		            return False
		        self.not_under |= self.name in filter["not_under"]
		        if self.name in filter["only_under"]:
		            self.depth = filter["depth"] or 4095
		        is_recorded = Call.is_chosen(filter, self.name) and not self.not_under and self.depth > 0
		        self.depth -= is_recorded and filter["depth"] is not None
		        return is_recorded

		    @staticmethod
		    def is_chosen(filter, name):
		        return filter["calls"] and name not in filter["exclude"] and (not filter["include"] or name in filter["include"])

		def around(filter, stack):
		    if stack:
		        return stack[-1].depth, stack[-1].not_under
		    return 0 if filter["only_under"] else filter["depth"] or 4095, False

		def walk(seed, steps, program, options, initial):
		    """The begins and ends that the trace must have, in order; and how many of these a jump has left."""
		    rng = random.Random(seed)
		    session = Session(["-o", "x.fxt", *options], program)
		    filter, stack, expected, left = initial, [], [], 0

		    def begin(name):
		        stack.append(Call(filter, name, around(filter, stack)))
		        if stack[-1].is_recorded:
		            expected.append("+" + name)

		    def end():
		        call = stack.pop()
		        if call.is_recorded:
		            expected.append("-" + call.name)
		        return call

		    def end_told():
		        if stack[-1].name == "again":
		            for name in "again", "leaf":
		                begin(name)
		                end()
		        if stack[-1].name == "twin":
		            end()
		        end()

		    # From the first change on a call waits for its function's decision; before, an open one may have a frame or none.
		    assert session.client.call("SetFilter", **{kind: initial[kind] for kind in ("include", "exclude")}) == {}
		    for _ in range(steps):
		        todo = rng.choice(["leaf", "to", "to", "fro", "twins", "land", "again", "back", "back", "jump", "filter", "filter",
		                           "category"])
		        if todo in ("filter", "category"):
		            if todo == "filter":
		                given = {kind: rng.sample(NAMES, rng.choice([0, 0, 1, 2])) for kind in rng.sample(KINDS, rng.choice([1, 2]))}
		                if rng.random() < 0.3:
		                    given["depth"] = rng.choice([None, 1, 2, 3])
		                assert session.client.call("SetFilter", **given) == {}
		            else:
		                given = {"calls": rng.random() < 0.6}
		                assert session.client.call("SetCategories", categories=["func*" if given["calls"] else "sync"]) == {}
		            filter = {**filter, **given}
		            for n, call in enumerate(stack):
		                call.follow(filter, around(filter, stack[:n]))
		        elif todo == "leaf":
		            begin("leaf")
		            end()
		            session.tell("leaf")
		        elif todo == "back" and stack:
		            end_told()
		            session.tell("back")
		        elif todo == "jump" and any(call.name in ("land", "again") for call in stack):
		            while stack[-1].name not in ("land", "again"):
		                left += end().is_recorded
		            end_told()
		            session.tell("jump")
		        elif todo not in ("back", "jump"):
		            begin(todo)
		            if todo == "twins":
		                begin("twin")
		            session.tell(todo)
		    while stack:
		        end_told()
		    status, errors = session.end()
		    assert status == 0 and " 0 lost," in errors, errors
		    return expected, left

		def recorded():
		    marks = []
		    for _, _, category, name, start, end in decoded("slices", "x.fxt"):
		        if category == "function":
		            start, end = int(start), int(end)
		            marks += [(start, -start, "+" + name), (end, -start, "-" + name)]
		    dump = subprocess.run(["fxt", "dump", "x.fxt"], capture_output=True, text=True).stdout
		    return [mark[2] for mark in sorted(marks)], len(re.findall("duration-complete.*abandoned", dump))

		nothing = {**{kind: [] for kind in KINDS}, "depth": None, "calls": True}
		for options, initial in ([], nothing), (["--exclude=to"], {**nothing, "exclude": ["to"]}), (["-t", "0us"], nothing), \
		        (["-t", "0us", "--include=fro"], {**nothing, "include": ["fro"]}), \
		        (["--only-under=to", "--depth=2"], {**nothing, "only_under": ["to"], "depth": 2}), \
		        (["-t0us", "-Nfro"], {**nothing, "not_under": ["fro"]}), \
		        (["--buffering-mode=circular"], nothing), (["--exclude=leaf", "--buffering-mode=oneshot"], \
		        {**nothing, "exclude": ["leaf"]}), (["--categories=sync"], {**nothing, "calls": False}):
		    # A jump that no library sees is seen by the next hook called from as
		    # high; all hooks are called only where none is patched.
		    for program, more, seed in ("./told", [], 1), ("./told", [], 2), ("./untold", ["--no-patch"], 1), \
		            ("./untold", ["--no-patch"], 2):
		        expected, left = walk(seed, 400, program, options + more, initial)
		        got, abandoned = recorded()
		        assert abandoned == left > 0, (program, options, seed, abandoned, left)
		        assert got == expected, (program, options, seed, [x for x in zip(expected, got) if x[0] != x[1]][:3], len(expected), len(got))
		        assert not faults("x.fxt"), faults("x.fxt")
	END
}

@test "patterns changed while threads call, and in children: functions that they always record are complete" {
	timeout 200 python3 - <<-'END'
		from control import *
		import fcntl
		for options in [], ["--exclude=leaf"], ["-t", "0us"]:
		    session = Session(["-o", "x.fxt", *options], os.environ["steps"])
		    assert session.tell("run") == ["running"]
		    for n in range(15):
		        for given in {"exclude": ["leaf"]}, {"exclude": []}, {"include": ["out*"], "exclude": ["file:/nowhere*"]}, \
		                {"include": []}, {"only_under": ["outer"], "depth": 1}, {"only_under": []}, {"not_under": ["leaf"]}, \
		                {"not_under": [], "depth": None}:
		            assert session.client.call("SetFilter", **given) == {}
		    made = sum(map(int, session.tell("")))
		    status, errors = session.end()
		    assert status == 0 and " 0 lost," in errors, errors
		    recorded = collections.Counter()
		    for (thread, name), count in calls("x.fxt").items():
		        recorded[name] += count
		    assert 3 * recorded["outer"] == made, (options, recorded, made)
		    assert 0 < recorded["leaf"] < 2 * recorded["outer"], (options, recorded)
		    assert not faults("x.fxt"), faults("x.fxt")

		gate, opener = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in os.pipe()]
		os.dup2(gate, 7, inheritable=True)
		for options, given in ([], {"exclude": ["leaf"]}), (["--exclude=outer"], {"exclude": [], "depth": 1}):
		    session = Session(["-o", "x.fxt", *options], os.environ["steps"])
		    session.tell("call 10")
		    assert session.client.call("SetFilter", **given) == {}
		    if session.tell("fork") != ["half"]:
		        assert session.process.stdout.readline() == "half\n"
		    else:
		        session.process.stdout.readline()
		    assert session.client.call("SetFilter", exclude=[], not_under=["outer"], depth=None) == {}
		    assert session.client.call("SetFilter", exclude=["outer"], not_under=[]) == {}
		    os.write(opener, b"x")
		    assert session.end()[0] == 0
		    by_process = collections.Counter()
		    for process, _, category, name, *_ in decoded("slices", "x.fxt"):
		        by_process[process, name] += category == "function"
		    parent, child = sorted({process for process, name in by_process if name in ("leaf", "outer")}, key=int)
		    assert by_process[parent, "outer"] == (0 if options else 20) and by_process[parent, "leaf"] == 40, by_process
		    assert by_process[child, "outer"] == 500 and by_process[child, "leaf"] == 1000, by_process
	END
}

# A slow system call: the one by which the agent unblocks signals after it has registered a
# function.
@test "functions that are seen first after a change: each is decided on before its first call, however soon the decision comes" {
	python3 - >many.c <<-'END'
		print("#include <stdio.h>", "__attribute__((no_instrument_function)) int main(void) { puts(\"ready\"); fflush(stdout); getchar();", sep="\n")
		print(*(f"void f{n}(void); f{n}();" for n in range(10)), "return 0; }", sep="\n")
		print(*(f"void f{n}(void) {{}}" for n in range(10)), sep="\n")
	END
	cc -g -finstrument-functions -o many many.c
	timeout 200 python3 - <<-'END'
		from control import *
		session = Session(["-o", "x.fxt"], "strace", "-f", "-o", "/dev/null", "-e", "inject=rt_sigprocmask:delay_exit=10000", "./many")
		assert session.client.call("SetFilter", exclude=["f*"]) == {}
		session.tell("")
		assert session.end()[0] == 0
		assert not calls("x.fxt"), calls("x.fxt")
	END
}

# Each wait of the agent's helper, in which it hears of a change, takes a second and a half
# longer.
@test "fxtctl waits for a running process, however late it follows a change" {
	timeout 100 python3 - <<-'END'
		from control import *
		session = Session(["-o", "x.fxt"], "strace", "-f", "-o", "/dev/null", "-e", "inject=futex:delay_exit=1500000", os.environ["steps"])
		session.tell("call 1")
		assert session.client.call("SetFilter", exclude=["leaf"]) == {}
		session.tell("call 10")
		assert session.end()[0] == 0
		recorded = collections.Counter()
		for (thread, name), count in calls("x.fxt").items():
		    recorded[name] += count
		assert recorded == {"outer": 22, "leaf": 4}, recorded
	END
}

@test "a snapshot and a recovered trace have what each filter allows; a stopped process follows a change when it goes on" {
	timeout 200 python3 - <<-'END'
		from control import *
		import signal
		def has(trace, **expected):
		    recorded = collections.Counter()
		    for (thread, name), count in calls(trace).items():
		        recorded[name] += count
		    assert dict(recorded) == expected, (trace, recorded)

		session = Session(["-o", "x.fxt", "--exclude=outer", "--buffering-mode=circular"], os.environ["steps"])
		session.tell("call 10")
		assert session.client.call("SetFilter", exclude=["leaf"]) == {}
		session.tell("call 10")
		session.client.call("Snapshot", path=os.getcwd() + "/y.fxt")
		has("y.fxt", outer=20, leaf=40)
		assert session.end()[0] == 0
		has("x.fxt", outer=20, leaf=40)

		session = Session(["-o", "x.fxt", "--exclude=outer"], os.environ["steps"])
		session.tell("call 10")
		assert session.client.call("SetFilter", exclude=["leaf"]) == {}
		session.tell("call 10")
		job = session.process.pid
		os.kill(int(open(f"/proc/{job}/task/{job}/children").read().split()[0]), signal.SIGKILL)
		errors = session.end()[1]
		assert "recovered: " in errors, errors
		has("x.fxt", outer=20, leaf=40)

		session = Session(["-o", "x.fxt"], os.environ["steps"])
		session.tell("call 1")
		program = session.client.call("GetState")["program_pid"]
		os.kill(program, signal.SIGSTOP)
		while any(open(f"/proc/{program}/task/{thread}/stat").read().rsplit(")")[1].split()[0] != "T"
		          for thread in os.listdir(f"/proc/{program}/task")):
		    pass
		assert session.client.call("SetFilter", exclude=["leaf"]) == {"late": 1}
		os.kill(program, signal.SIGCONT)
		assert session.client.call("SetFilter", exclude=["leaf"]) == {}
		session.tell("call 10")
		assert session.end()[0] == 0
		has("x.fxt", outer=22, leaf=4)
	END
}

@test "fxtctl takes patterns as fxtrun does, and refuses wrong ones; the trace has the filters" {
	timeout 100 python3 - <<-'END'
		from control import *
		session = Session(["-o", "x.fxt", "--exclude=nothing"], os.environ["steps"])
		open("f", "w").write("# calls\n\nexclude leaf\nexclude file:*/no such\n")
		def filter(*words, status=0):
		    run = subprocess.run(["fxtctl", "filter", *words], capture_output=True, text=True)
		    assert run.returncode == status, run
		    return run.stderr
		session.tell("call 1")
		filter("--include=l*", "--include", "/^outer$/")
		filter("--filter-file=f", "--include=")
		session.tell("call 10")
		filter("--exclude=")
		session.tell("call 3")
		filter("-F", "outer", "-D1")
		session.tell("call 1")
		filter("--only-under=", "--not-under=outer", "--depth=any")
		session.tell("call 1")
		filter("-Nouter", "-N", "leaf", "--depth=2")
		filter("-D", "any", "-N=")
		filter("-D", "any", "-N", "")
		assert "--depth=0: must be a number of calls, from 1 to 4094, or any" in filter("--depth=0", status=2)
		assert "/(/" in filter("--exclude=/(/", status=1)
		assert "-t is" not in filter("--include=leaf", "-t1ms", status=1)
		open("f", "w").write("exclude leaf\nexcept outer\n")
		assert "f: line 2 must begin with" in filter("--filter-file=f", status=2)
		assert "no/file: No such" in filter("--filter-file=no/file", status=2)
		for given in {"include": "leaf"}, {"exclude": [1]}, {"exclude": [""]}, {"depth": 0}, \
		        {"depth": 4095}, {"depth": "1"}, {"only_under": None}:
		    assert session.client.call("SetFilter", **given) == -32602, given
		assert session.end()[0] == 0
		recorded = collections.Counter()
		for (thread, name), count in calls("x.fxt").items():
		    recorded[name] += count
		assert recorded == {"outer": 30, "leaf": 16}, recorded
		told = subprocess.run(["fxt", "dump", "x.fxt"], capture_output=True, text=True).stdout
		changes = [line.split('"')[-2] for line in told.splitlines() if "fxt: filter" in line]
		assert changes == ["--exclude=nothing --include=l* --include=/^outer$/", "--exclude=leaf --exclude=file:*/no such",
		                   "all calls", "--depth=1 --only-under=outer", "--not-under=outer",
		                   "--depth=2 --not-under=outer --not-under=leaf", "--not-under==", "all calls"], changes
		session = Session(["-o", "x.fxt", "--raw"], os.environ["steps"])
		assert "names of functions, which --raw leaves out" in filter("--exclude=leaf", status=1)
		assert session.end()[0] == 0
	END
}
