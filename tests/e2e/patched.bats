#!/usr/bin/env bats
# Hook calls of excluded functions are patched out of the program's code. The truth is in
# the program's own counts, and in its code as the kernel shows it.

load helpers
load steps

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir sockets
	cc -O2 -g -finstrument-functions -pthread -o steps "$BATS_TEST_DIRNAME/../programs/sessions/steps.c"
	patched_programs -finstrument-functions
}

# changes PROGRAM COUNT ARGUMENT...: record_under_changes() of patched.py; sites are patched
# meanwhile.
changes()
{
	timeout 300 python3 - "$BATS_FILE_TMPDIR/$1" "${@:2}" <<-'END'
		import patched
		import sys
		lines = patched.record_under_changes(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
		begun, ended = (sum(kind in line and "fxt: call sites erased" in line for line in lines) for kind in ("async-begin", "async-end"))
		assert 0 < begun and ended <= begun, (begun, ended)
	END
}

@test "four threads call while sites are patched and restored: functions that are never excluded are exact, gcc" {
	changes gcc 600 4
}

@test "the same with handlers, clang" {
	changes clang 600 4 signals
}

@test "the same in forked children, whose calls are theirs alone" {
	changes gcc 300 3 forks
}

@test "the same while a library is loaded and unloaded" {
	changes gcc 300 3 plugin "$BATS_FILE_TMPDIR/plugged.so"
}

@test "all of that at once, clang" {
	changes clang 300 2 signals forks plugin "$BATS_FILE_TMPDIR/plugged.so"
}

# erased PROGRAM FUNCTIONS COUNT OPTION...: which bytes of the functions are not their
# file's, while the program runs, once there are so many, or after a second if there are to
# be none.
erased()
{
	timeout 100 python3 - "$BATS_FILE_TMPDIR/$1" "${@:2}" <<-'END'
		from control import *
		from patched import Code
		import sys
		program, functions, count, *options = sys.argv[1:]
		session = Session(["--heap=off", "-o", "x.fxt", *options], program, "1")
		code = Code(program, *functions.split())
		print(*("%02x-%02x" % pair for pair in code.await_changed(int(count) or 1, 20 if int(count) else 1)))
		if int(count):
		    assert session.client.call("SetFilter", exclude=[]) == {}
		print(*code.changed())
		session.process.communicate(timeout=100)
	END
}

@test "one byte a site, put back when the function is recorded again; none with --no-patch" {
	[ "$(uname -m)" = x86_64 ] || skip "not on this machine"
	run erased gcc "leaf tail" 4 --exclude=leaf --exclude=tail
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "e8-a9 e8-a9 e8-a9 e9-c3" ]
	[ "${#lines[@]}" -eq 1 ]
	run erased gcc "leaf tail" 0 --exclude=leaf --exclude=tail --no-patch
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "a function into which another is inlined is patched, whether the other one is excluded or not" {
	[ "$(uname -m)" = x86_64 ] || skip "not on this machine"
	for compiler in gcc clang; do
		for options in "--exclude=deep --exclude=rare" --exclude=deep; do
			# shellcheck disable=SC2086
			run erased "$compiler" deep 2 $options
			[ "$status" -eq 0 ]
			[ "${#lines[@]}" -eq 1 ]
			[ "$(wc -w <<<"${lines[0]}")" -ge 2 ]
		done
	done
}

@test "functions that share hook calls inside another one: recorded ones are exact" {
	[ "$(uname -m)" = x86_64 ] || skip "not on this machine"
	for compiler in gcc clang; do
		timeout 200 python3 - "$BATS_FILE_TMPDIR/$compiler" <<-'END'
			from control import *
			from patched import Code
			import itertools
			import re
			import sys
			names, changed = {"one", "other", "both"}, 0
			for left_out in itertools.chain(itertools.combinations(names, 1), itertools.combinations(names, 2)):
			    session = Session(["--heap=off", "-o", "x.fxt", *("--exclude=" + name for name in left_out)], sys.argv[1], "1")
			    changed += len(Code(sys.argv[1], "both").await_changed(2, 1))
			    printed, errors = session.process.communicate(timeout=100)
			    assert " 0 lost," in errors, errors
			    made = {name: int(calls) for name, calls in re.findall(r"(\w+) (\d+)", printed) if name in names}
			    recorded = {name: count for (_, name), count in calls("x.fxt").items() if name in names}
			    assert recorded == {name: made[name] for name in names - set(left_out)}, (left_out, recorded, made)
			    dump = subprocess.run(["fxt", "dump", "x.fxt"], capture_output=True, text=True).stdout
			    assert "abandoned=" not in dump, left_out
			assert changed > 0
		END
	done
}

@test "while nothing is recorded all are taken out; from the reply to a start on every call is recorded" {
	[ "$(uname -m)" = x86_64 ] || skip "not on this machine"
	for compiler in gcc clang; do
		"$compiler" -Os -g -finstrument-functions -pthread -o steps "$BATS_TEST_DIRNAME/../programs/sessions/steps.c"
		timeout 100 python3 - "$PWD/steps" <<-'END'
			from control import *
			from patched import Code
			import sys
			session = Session(["--heap=off", "--start=paused", "-o", "x.fxt"], sys.argv[1])
			code, recorded = Code(sys.argv[1], "leaf", "outer"), 0
			for cycle in range(20):
			    assert len(code.await_changed(4, do=lambda: session.tell("call 100"))) >= 4
			    assert session.client.call("StartTracing") == {}
			    assert code.changed() == []
			    session.tell(f"call {100 + cycle}")
			    recorded += 6 * (100 + cycle)
			    session.client.call("StopTracing")
			status, said = session.end()
			assert status == 0 and " 0 lost," in said, said
			count = sum(calls("x.fxt").values())
			assert count == recorded, (count, recorded)
		END
		fxt check x.fxt
	done
}

@test "a child that is forked while sites are erased: every call that a later filter lets be recorded" {
	[ "$(uname -m)" = x86_64 ] || skip "not on this machine"
	compiled filters/noise.c
	timeout 100 python3 - "$PWD/program" <<-'END'
		from control import *
		from patched import Code
		import sys
		session = Session(["--heap=off", "--exclude=hot", "-o", "x.fxt"], sys.argv[1])
		code = Code(sys.argv[1], "hot")
		assert len(code.await_changed(2, do=lambda: session.tell("go 1"))) == 2
		assert session.tell("fork") == ["0"]
		assert len(code.changed()) == 2  # of the parent, which waits
		assert session.client.call("SetFilter", exclude=[]) == {}
		session.tell("go 3")
		status, said = session.end()
		assert status == 0 and " 0 lost," in said, said
		hot = [count for (_, function), count in calls("x.fxt").items() if function == "hot"]
		assert hot == [3 * 2000], hot
	END
	fxt check x.fxt
}

@test "without the category function all are taken out, and the trace says since when" {
	[ "$(uname -m)" = x86_64 ] || skip "not on this machine"
	timeout 100 python3 - "$steps" <<-'END'
		from control import *
		from patched import Code
		import sys
		session = Session(["--heap=off", "--categories=process", "-o", "x.fxt"], sys.argv[1])
		code = Code(sys.argv[1], "leaf", "outer")
		assert len(code.await_changed(4, do=lambda: session.tell("call 100"))) >= 4
		status, said = session.end()
		assert status == 0, said
	END
	[ "$(fxt dump x.fxt | grep -c 'async-begin.*"fxt: call sites erased"')" -eq 1 ]
}

@test "under valgrind nothing is changed; a breakpoint at a site stays, and stops the program" {
	[ "$(uname -m)" = x86_64 ] || skip "not on this machine"
	if command -v valgrind >/dev/null; then
		sleep 3 | timeout 200 fxtrun --heap=off -o x.fxt --exclude=leaf valgrind -q "$BATS_FILE_TMPDIR/gcc" 1 >printed
		[ "$(fxt dump x.fxt | grep -c "fxt: call sites erased")" -eq 0 ]
		kept=$(sed -n 's/^kept //p' printed)
		fxt report --csv x.fxt | grep "^functions,$kept,.*,\"kept\","
	fi
	command -v gdb >/dev/null || skip "gdb is not installed"
	at=$(objdump -d --no-show-raw-insn "$BATS_FILE_TMPDIR/gcc" | sed -n '/<leaf>:/,/^$/s/^ *\([0-9a-f]*\):.*__cyg_profile_func_exit.*/\1/p' | tail -1)
	begin=$(nm "$BATS_FILE_TMPDIR/gcc" | sed -n 's/ t leaf$//p')
	sleep 8 | timeout 100 fxtrun --heap=off -o x.fxt --exclude=leaf gdb -q -batch -ex "break *(leaf+$((0x$at - 0x$begin)))" \
		-ex "ignore 1 1000" -ex run -ex "x/i \$pc" -ex kill --args "$BATS_FILE_TMPDIR/gcc" 1 >printed 2>&1 || true
	grep "=>.*call.*__cyg_profile_func_exit" printed
}
