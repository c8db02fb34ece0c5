#!/usr/bin/env bats
# Systems and programs that do not let calls of hooks be taken out of the code, or not be put back: the filter holds all the same. The
# truth is what the program counted itself, and its own code as it sees it.

load helpers

setup_file()
{
	cc -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/refused" "$BATS_TEST_DIRNAME/../programs/filters/refused.c"
}

# A directory that an ordinary user can enter: /proc/self/mem is never refused to root.
setup()
{
	place=$(mktemp -d /tmp/fxt-refused-XXXXXX)
	cd "$place" || return 1
	cp "$BATS_FILE_TMPDIR/refused" .
	export XDG_RUNTIME_DIR=$place PYTHONPATH=$BATS_TEST_DIRNAME
	if [ "$(id -u)" = 0 ]; then
		chown -R 65534:65534 "$place"
		user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	fi
}

teardown()
{
	end_all
	rm -r "$place"
}

# holds: runs the script on standard input as a user, with a session of the program, in
# which nothing is taken out yet. In the end the trace must have `kept` and `hot` calls of
# all processes together, and fxtrun must tell `lost` calls. Leaves what fxtrun said in
# ./said.
holds()
{
	cat >script.py
	run timeout 100 $user /usr/bin/python3 - "$PWD/refused" 3>&- <<-'END'
		from control import *
		import platform
		import sys
		import time

		SITES = 2 if platform.machine() == "x86_64" else 0
		session = Session(["--heap=off", "--no-sched", "-o", "x.fxt"], sys.argv[1])

		def tell(line):
		    """The program's counts: calls of kept(), of hot(), bytes of its code that are others."""
		    said = session.tell(line)
		    if said == ["none"]:
		        print("none")
		        session.end()
		        sys.exit()
		    return tuple(map(int, said))

		def exclude(*names):
		    assert session.client.call("SetFilter", exclude=names) == {}

		def erase():
		    """Until the calls of hot()'s hooks are out; the counts."""
		    until = time.monotonic() + 20
		    while (said := tell("call 1000"))[2] != SITES:
		        assert time.monotonic() < until, said
		    return said

		def stay():
		    """Calls for longer than the helper takes to look at new sites. None may go; the counts."""
		    until = time.monotonic() + 0.5
		    while (said := tell("call 1000"))[2] == 0 and time.monotonic() < until:
		        time.sleep(0.005)
		    assert said[2] == 0, said
		    return said

		def stays(how):
		    """Has it refuse like that: nothing is taken out any more. How many calls are to be recorded."""
		    _, hot, _ = tell("call 1000")
		    tell(how)
		    exclude("hot")
		    _, before, _ = stay()
		    exclude()
		    kept, after, _ = tell("call 1000")
		    return kept, hot + after - before

		def put_back(how):
		    """Has it refuse like that when calls are out: they are put back. How many calls are to be recorded."""
		    exclude("hot")
		    erase()
		    tell(how)
		    _, before, _ = erase()
		    exclude()
		    kept, hot, changed = tell("call 1000")
		    assert changed == 0
		    return kept, hot - before

		lost = 0
		exec(open("script.py").read())
		status, said = session.end()
		assert status == 0 and f" {lost:,} lost," in said, said
		count = collections.Counter()
		for (_, function), n in calls("x.fxt").items():
		    count[function] += n
		assert (count["kept"], count["hot"]) == (kept, hot), (count, kept, hot, said)
		print(said, end="")
	END
	echo "$output" | tee said
	[ "$output" != none ] || skip "not known to this kernel"
	[ "$status" = 0 ]
}

@test "a process that is not dumpable: functions are excluded without patches" {
	holds <<<'kept, hot = stays("undumpable")'
}

@test "a process that is not dumpable any more: its patches are undone, also in a forked child" {
	holds <<-'END'
		exclude("hot")
		kept, before, _ = erase()
		tell("undumpable")
		assert tell("fork") == (0, 0, 0)
		exclude()
		child, hot, _ = tell("call 1000")
		kept += child
		exclude("hot")
		child, _, _ = stay()
		kept += child - 1000
	END
	holds <<<'kept, hot = put_back("undumpable")'
}

@test "memory that may not become executable: calls are patched and restored nevertheless" {
	holds <<-'END'
		tell("mdwe")
		exclude("hot")
		before, out, _ = erase()
		exclude()
		assert tell("call 1000") == (before + 1000, out + 10000, 0)
		exclude("hot")
		parent, _, _ = erase()
		assert tell("fork") == (0, 0, 0)
		exclude()
		kept, hot, _ = tell("call 1000")
		kept += parent
		hot += 10000
	END
}

@test "a forked child in which patches cannot be undone is not recorded and is reported; its parent is recorded" {
	holds <<-'END'
		exclude("hot")
		kept, hot = erase()[0], 0
		tell("mdwe")
		tell("undumpable")
		assert tell("fork") == (0, 0, SITES)
		tell("call 1000")
	END
	[ "$(uname -m)" != x86_64 ] || grep -F '(1 ran untraced)' said
}

@test "a seccomp filter: patches are undone before it, and no new ones are made" {
	holds <<-'END'
		exclude("hot")
		erase()
		before, _, changed = tell("sandbox")
		assert changed == 0
		kept, hot = stay()[0], 0
		# Any other clock than the counter may need the kernel, so the calls are lost.
		with open("/sys/devices/system/clocksource/clocksource0/current_clocksource") as clock:
		    if clock.read().strip() not in ("tsc", "arch_sys_counter"):
		        kept, lost = before, kept - before
	END
	[ "$(grep -c 'lacks calls' said)" = 0 ]
}

@test "a seccomp filter that no library sees and that lets no file be opened: nothing is taken out" {
	holds <<<'kept, hot = stays("unseen")'
}

@test "a seccomp filter that also lets nothing be written: patches are undone, and no new ones are made" {
	holds <<-'END'
		_, hot = put_back("unseen")
		exclude("hot")
		kept, _, _ = stay()
	END
}

@test "a seccomp filter that also lets no page be changed: patches that cannot be undone are reported" {
	holds <<-'END'
		exclude("hot")
		erase()
		tell("walled")
		before, out, _ = erase()
		exclude()
		kept, made, changed = tell("call 1000")
		assert (kept, made, changed) == (before + 1000, out + 10000, SITES)
		hot = 0 if SITES else 10000
	END
	[ "$(uname -m)" != x86_64 ] || grep 'lacks calls of some functions: .*; --no-patch leaves them there$' said
}
