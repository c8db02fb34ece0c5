#!/usr/bin/env bats
# Categories are changed while a program runs. The truth is what the program did between two
# changes, by order of the test.

load helpers
load steps

# python: runs its standard input with the modules it needs; ./kinds does things of each
# kind as often as it is asked to.
python()
{
	compiled sessions/kinds.c
	{
		cat <<-'PYTHON'
			from control import *
			KINDS = "function", "heap", "process", "sync"

			class Kinds(Session):
			    """Counts in .done what it has done, by category; recorded() counts the same in a trace."""
			    def __init__(self, *options):
			        super().__init__(["-o", "x.fxt", "--heap=objects", *options], "./program")
			        self.done = collections.Counter()
			        self.pid = self.client.call("GetState")["program_pid"]

			    def do(self, times, kinds):
			        assert self.tell(str(times)) == ["done"]
			        self.done.update({kind: times for kind in kinds})

			SHOWN = ('category="function" name="leaf"', 'category="heap" name="allocate"', 'category="process" name="child exited"',
			         'category="sync" name="usleep"')

			def recorded(process):
			    """How many events of each category, and what the process tells of changes."""
			    lines = subprocess.run(["fxt", "dump", "x.fxt"], capture_output=True, text=True).stdout.splitlines()
			    of_category = {kind: sum(shown in line for line in lines) for kind, shown in zip(KINDS, SHOWN)}
			    return of_category, [line.split('"')[-2] for line in lines if "fxt: filter" in line and f"thread={process}/" in line]
		PYTHON
		cat
	} >test.py
	timeout 200 python3 test.py
}

@test "categories changed between phases: each has the events of its phases, in children too; the trace reports the changes" {
	python <<-'END'
		import itertools, random
		random.seed(1)
		for options, first in ([], KINDS), (["--categories=sync,heap"], ("sync", "heap")), \
		        (["--categories=process", "-t", "0us"], ("process",)), (["--exclude=nothing"], KINDS), (["--depth=9"], KINDS):
		    session, told = Kinds(*options), []
		    session.do(3, first)
		    for times in range(4, 16):
		        kinds = [kind for kind in KINDS if random.random() < 0.5] or ["heap"]
		        assert session.client.call("SetCategories", categories=kinds) == {}
		        told.append("--categories=" + ",".join(kinds))
		        session.do(times, kinds)
		    status, errors = session.end()
		    assert status == 0 and " 0 lost," in errors, errors
		    got, changes = recorded(session.pid)
		    session.done["function"] *= 2  # those of the children
		    assert got == {kind: session.done[kind] for kind in KINDS}, (options, got, session.done)
		    assert [change.split(" ")[0] for change in changes] == told, (changes, told)
		    assert not faults("x.fxt"), faults("x.fxt")
	END
}

@test "calls turned off: open ones end as they began; while threads call, and on again; before a start" {
	python <<-'END'
		steps = os.environ["steps"]

		def named(name):
		    return [line for line in decoded("slices", "x.fxt") if line[2] == "function" and line[3] == name]
		for options in [], ["-t", "0us"], ["--only-under=waits", "--only-under=outer"]:
		    session = Session(["-o", "x.fxt", *options], steps)
		    call = session.client.call
		    session.tell("call 10")
		    for kinds in ["sync"], ["function"], ["heap"], ["*"]:
		        assert session.tell("wait") == ["waiting"]
		        assert call("SetCategories", categories=kinds) == {}
		        session.tell("")
		        session.tell("call 100")
		    assert session.tell("run") == ["running"]
		    for _ in range(4):
		        for kinds in ["sync"], ["function", "sync"], ["process"], ["*"]:
		            assert call("SetCategories", categories=kinds) == {}
		    made = sum(map(int, session.tell("")))
		    call("SetCategories", categories=["process"])
		    session.tell("call 1000")
		    assert "provider_stats" in call("StopTracing")
		    assert call("SetCategories", categories=["process", "sync"]) == {}
		    assert call("StartTracing", additional_categories=["function"]) == {}
		    session.tell("call 1")
		    assert call("StopTracing") and call("StartTracing") == {}
		    session.tell("call 1000")
		    assert call("SetCategories", categories=["func*"]) == {}
		    session.tell("call 1")
		    status, errors = session.end()
		    assert status == 0 and " 0 lost," in errors, errors
		    waits = named("waits")
		    assert len(waits) == 2, waits
		    outer, leaf = len(named("outer")), len(named("leaf"))
		    least = 2 * (10 + 200 + 2)
		    assert least < outer < made // 3 and 2 * least < leaf < made // 3 * 2, (options, outer, leaf, made)
		    wrong = set(faults("x.fxt"))
		    assert not wrong, faults("x.fxt")
		# The counts are exact if nothing was made while calls were off.
		session = Session(["-o", "x.fxt", "--categories=sync", "--start=paused"], steps)
		assert session.client.call("SetCategories", categories=["function"]) == {}
		session.tell("call 100")
		assert session.client.call("StartTracing") == {}
		session.tell("call 7")
		assert session.end()[0] == 0
		assert len(named("outer")) == 14 and len(named("leaf")) == 28
	END
}

@test "fxtctl categories: its output, its changes, and its errors" {
	compiled sessions/kinds.c
	start()
	{
		exec 7> >(exec fxtrun --session=srv "$@" ./program >out 2>err)
		recorder=$!
		await ready out
	}
	ends()
	{
		exec 7>&-
		wait $recorder
	}
	start -o x.fxt
	[ "$(fxtctl categories | wc -l)" = 4 ]
	says 2 'fxtctl: categories: must be names with one comma between two of them' fxtctl categories function,,sync
	says 2 'fxtctl: more than one command given; fxtctl --help lists the commands' fxtctl categories function sync
	[ -z "$(fxtctl categories 'sy*,lock')" ]
	[ "$(fxtctl --json categories heap,lock)" = '{}' ]
	ends
	[ "$(grep -c 'fxtrun: no event has the category lock; there are function, heap, process and sync' err)" = 1 ]
	[ "$(fxt dump x.fxt | grep -c 'fxt: filter.*--categories=sy\*,lock"')" = 1 ]
	start -o x.fxt --raw
	says 1 'fxtctl: session srv: filters need the names of functions, which --raw leaves out' fxtctl categories function
	ends
	start --start=idle
	says 1 'fxtctl: session srv: no recording is being made; fxtctl record has options for the next one' \
		fxtctl categories function
	ends
}
