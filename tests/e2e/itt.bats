#!/usr/bin/env bats
# Programs with calls of Intel's ITT API. The truth is what the program says it called, and
# tests/independent/saiddecode.py reads the traces.

load helpers

setup_file()
{
	${CC:-cc} -O2 -pthread -o "$BATS_FILE_TMPDIR/program" "$root/tests/programs/itt/program.c" -ldl
	export PATH=$BATS_FILE_TMPDIR:$PATH
	unset INTEL_LIBITTNOTIFY64
}

# said COMMAND TRACE: see tests/independent/saiddecode.py.
said()
{
	python3 "$root/tests/independent/saiddecode.py" "$@"
}

@test "tasks, regions, frames, markers, metadata, counters and names of threads: each call is an event, in threads and a child" {
	[ "$(program)" = "no collector" ]
	fxtrun --heap=off --no-sched -o x.fxt program >called 2>err
	grep " 0 lost," err
	fxt check x.fxt
	[ "$(wc -l <called)" = 4223 ]
	said events x.fxt | sort >recorded
	sort called | diff - recorded
	fxt dump x.fxt | grep -q 'name="itt thread"'
}

@test "--categories chooses domains; a collector that the user names stays" {
	fxtrun --heap=off --categories=other -o x.fxt program >called 2>err
	[ -z "$(said events x.fxt)" ]
	INTEL_LIBITTNOTIFY64=/nowhere fxtrun --heap=off -o x.fxt program >called 2>err
	[ "$(cat called)" = "no collector" ]
}

@test "oneTBB: its bodies are tasks, and neither environ nor a child's has the variable that leads it to the agent" {
	${CXX:-c++} -O0 -std=c++17 -DTBB_USE_PROFILING_TOOLS=1 -o graph "$root/tests/programs/itt/graph.cc" -ltbb ||
		skip "there is no oneTBB"
	fxtrun --heap=off --no-sched -o x.fxt ./graph 2>err
	fxt check x.fxt
	said counts x.fxt | grep -P '\tbody\t' | diff <(printf 'begin\ttbb.flow\tbody\t10\nend\ttbb.flow\tbody\t10\n') -
}
