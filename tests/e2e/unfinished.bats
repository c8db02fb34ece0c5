#!/usr/bin/env bats
# A trace says, and every command that reads it repeats, that its manager did not finish it,
# or that its file had no room.

load helpers

setup_file()
{
	cc -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/counted" "$BATS_TEST_DIRNAME/../programs/launcher/counted.c"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	export XDG_RUNTIME_DIR=$PWD
	counted=$BATS_FILE_TMPDIR/counted
}

# told WORD: all three report it for trace.fxt.
told()
{
	local status=0

	fxt check trace.fxt >check || status=$?
	[ $status = 1 ]
	grep "the trace is $1: " check
	fxt info trace.fxt | grep "^$1: "
	fxt report trace.fxt | grep "^the trace is $1: "
}

@test "both processes of fxtrun killed: the trace is unfinished, in every mode" {
	for mode in streaming circular oneshot; do
		fxtrun --buffering-mode=$mode "$counted" 1000 wait >out 3>&- &
		job=$!
		program=$(await ready out | cut -d ' ' -f 2)
		recorder=$(recorder_of $job)
		kill -KILL $job $recorder
		wait $job || true
		timeout 60 tail --pid=$recorder -f /dev/null
		kill -KILL "$program"
		told unfinished
		rm out trace.fxt
	done
}

# The program counts its calls in a file of its own, which says how many there were a second
# before.
@test "program, manager and supervisor killed at once: every call that had returned a second before is in the trace" {
	compiled engine/mortal.c
	for trace in trace.fxt trace.fxt.zst; do
		timeout 100 python3 - $trace <<-'END'
			import os, signal, struct, subprocess, sys, time
			THREADS = 4
			with open("counts", "wb") as file:
			    file.truncate(64 * (1 + 4 * THREADS))
			    file.seek(8)
			    file.write(b"\1")
			def made():
			    with open("counts", "rb") as file:
			        words = struct.unpack(f"{8 * (1 + 4 * THREADS)}Q", file.read())
			    return {words[at]: words[at + 1] for at in range(8, len(words), 8) if words[at]}
			def child(pid):
			    while True:
			        with open(f"/proc/{pid}/task/{pid}/children") as file:
			            children = file.read().split()
			        if children:
			            return int(children[0])
			job = subprocess.Popen(["fxtrun", "-o", sys.argv[1], "./program", "counts", str(THREADS), "40000", "pace"])
			recorder = child(job.pid)
			program = child(recorder)
			while not made():
			    time.sleep(0.01)
			time.sleep(0.7)
			before = made()
			time.sleep(1)
			for pid in program, recorder, job.pid:
			    os.kill(pid, signal.SIGKILL)
			job.wait()
			for pid in recorder, program: # their files are as they left them
			    while os.path.exists(f"/proc/{pid}/stat") and open(f"/proc/{pid}/stat").read().rsplit(")")[1].split()[0] not in "ZX":
			        time.sleep(0.01)
			with open("before", "w") as file:
			    file.writelines(f"{tid} {calls}\n" for tid, calls in before.items())
		END
		[ $trace = trace.fxt ] || zstd -dcq $trace >trace.fxt 2>/dev/null || true
		told unfinished
		grep 'all calls that had returned a second before' check
		decode slices trace.fxt | awk -F '\t' '$3 == "function" { calls[$2]++ } END { for (tid in calls) print tid, calls[tid] }' >calls
		# Up to eight calls of a thread are open, and were counted.
		while read -r tid made; do
			kept=$(awk -v tid="$tid" '$1 == tid { print $2 }' calls)
			[ $((kept + 8)) -ge "$made" ]
		done <before
		rm trace.fxt*
	done
}

@test "a trace that came to its end does not say so, however it left" {
	fxtrun "$counted" 10
	fxtrun -o - "$counted" 10 >standard.fxt
	fxtrun --buffering-mode=circular -o snapshots.fxt "$counted" 10 wait >out 3>&- &
	program=$(await ready out | cut -d ' ' -f 2)
	kill -USR1 $!
	timeout 60 sh -c 'until fxt check snapshots-1.fxt; do :; done' >/dev/null 2>&1
	kill "$program"
	wait $! || true
	for trace in *.fxt; do
		fxt check $trace
		fxt info $trace | fails grep -e ^unfinished -e ^cut
		fxt report $trace | fails grep 'the trace is'
	done
}

@test "a full disk: the file gives the number of bytes that could not be written" {
	mkdir disk
	unshare -rm true || skip "needs user namespaces"
	unshare -rm sh -e -c '
		mount -t tmpfs -o size=1m tmpfs disk
		fxtrun -o disk/trace.fxt --buffer-size=1 "$1" 100000 && exit 1
		cp disk/trace.fxt .' sh "$counted"
	told cut
	# Calls of 24 bytes: what is missing is what the program made and the trace does not
	# have.
	missing=$(fxt info trace.fxt | sed -n 's/^cut: the file had no room for \([0-9]*\) bytes of records$/\1/p')
	[ "$missing" -ge $(((100000 - $(calls_of trace.fxt leaf)) * 24)) ]
	fxt symbolize trace.fxt
	told cut
}

# The number of lost bytes in the last line of a file.
bytes_lost()
{
	tail -n 1 "$1" | sed -n 's/.* events*, \([0-9]*\) bytes lost, [0-9]* bytes$/\1/p'
}

@test "a full disk: fxtctl terminate, recover and snapshot tell as much as the file does" {
	mkdir disk
	unshare -rm true || skip "needs user namespaces"
	unshare -rm bash -e -c '
		. "$1"
		mount -t tmpfs -o size=1m tmpfs disk
		for end in terminate recover; do
			fxtrun -o disk/$end.fxt --buffer-size=1 "$2" 100000 wait >out 2>said 3>&- &
			job=$!
			program=$(await ready out | cut -d " " -f 2)
			[ $end = terminate ] || kill -KILL $(recorder_of $job)
			[ $end = terminate ] || await "was killed by signal 9" said
			fxtctl $end >$end.out
			kill $program || true
			wait $job || true
			cp disk/$end.fxt .
			rm disk/$end.fxt out said
		done
		# Processes that have ended are in a file in TMPDIR, which is what is full
		# here. The snapshot itself has room again.
		mkdir full
		mount -t tmpfs -o size=1m tmpfs full
		TMPDIR=$PWD/full fxtrun --buffer-size=1 --buffering-mode=circular \
			sh -c "\$0 100000; \$0 100000; exec \$0 10 wait" "$2" >out 2>said 3>&- &
		program=$(await ready out | cut -d " " -f 2)
		await "processes that have ended: No space left" said
		mount -o remount,size=16m full
		fxtctl snapshot -o snapshot.fxt >snapshot.out
		fxtctl --json snapshot -o other.fxt >snapshot.json
		kill $program
		wait $! || true' bash "$BATS_TEST_DIRNAME/helpers.bash" "$counted"
	for end in terminate recover snapshot; do
		cut=$(fxt info $end.fxt | sed -n 's/^cut: the file had no room for \([0-9]*\) bytes of records$/\1/p')
		[ "$cut" -gt 0 ]
		[ "$(bytes_lost $end.out)" = "$cut" ]
	done
	[ "$(jq '[.lost, .bytes_unwritten]' -c snapshot.json)" = "[0,$cut]" ]
}

@test "a full disk: a snapshot of a circular session misses nothing, as nothing was written to that disk yet" {
	mkdir disk
	unshare -rm true || skip "needs user namespaces"
	unshare -rm bash -e -c '
		. "$1"
		mount -t tmpfs -o size=64k tmpfs disk
		fxtrun -o disk/trace.fxt --buffer-size=1 --buffering-mode=circular \
			sh -c "\$0 10000; exec \$0 10 wait" "$2" >out 3>&- &
		program=$(await ready out | cut -d " " -f 2)
		fxtctl --json snapshot -o snapshot.fxt >snapshot.json
		kill $program
		wait $! || true
		cp disk/trace.fxt .' bash "$BATS_TEST_DIRNAME/helpers.bash" "$counted"
	[ "$(jq '[.lost, .bytes_unwritten]' -c snapshot.json)" = "[0,0]" ]
	[ "$(calls_of snapshot.fxt leaf)" = 10010 ]
	fxt info snapshot.fxt | fails grep ^cut
	fxt info trace.fxt | grep "^cut: "
}

@test "traces of other producers have no such record, and are not called unfinished" {
	LD_PRELOAD=$build/libfxtagent.so FXT_OUTPUT=standalone.fxt "$counted" 10
	timeout 60 sh -c 'until fxt check standalone.fxt; do :; done' >/dev/null 2>&1
	fxt info standalone.fxt | fails grep ^unfinished
}

@test "the viewer's importer takes it as it is" {
	needs_viewer
	fxtrun "$counted" 10
	[ -z "$(viewer trace.fxt "select name from stats where value > 0 and severity != 'info'")" ]
}
