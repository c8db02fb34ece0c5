#!/usr/bin/env bats
# Traces that fxtrun compresses: what zstd makes of them is what an independent decoder
# reads.

load helpers

setup_file()
{
	compiled_for_all launcher/counted
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	export XDG_RUNTIME_DIR=$PWD
}

# Processes that a failed test left running would keep bats waiting.
teardown()
{
	kill -KILL $job $program 2>/dev/null || true
}

# unpacked FILE CALLS: zstd finds it whole, and inside a trace that has so many calls of
# leaf(), with names.
unpacked()
{
	zstd -q -d -f -o unpacked.fxt "$1"
	[ "$(calls_of unpacked.fxt leaf)" = "$2" ]
	fxt check "$1"
	seekable "$1"
}

# complete FILE CALLS: and no call of it was left open.
complete()
{
	unpacked "$@"
	decode check unpacked.fxt
}

# seekable FILE: each frame that the table at its end lists is there, and has what it says.
seekable()
{
	python3 - "$1" <<-'END'
		import struct, subprocess, sys
		data = open(sys.argv[1], "rb").read()
		count, descriptor, magic = struct.unpack("<IBI", data[-9:])
		assert magic == 0x8F92EAB1 and descriptor == 0, "no footer"
		table = data[-9 - 8 * count:-9]
		skip, size = struct.unpack("<II", data[-17 - 8 * count:-9 - 8 * count])
		assert skip == 0x184D2A5E and size == 8 * count + 9, "no skippable frame"
		at, content = 0, b""
		for i in range(count):
		    packed, plain = struct.unpack_from("<II", table, 8 * i)
		    frame = subprocess.run(["zstd", "-dc"], input=data[at:at + packed], stdout=subprocess.PIPE, check=True).stdout
		    assert len(frame) == plain, (i, len(frame), plain)
		    at, content = at + packed, content + frame
		assert at == len(data) - 17 - 8 * count, "what the table lists is not all"
		assert content == open("unpacked.fxt", "rb").read()
	END
}

@test "-o FILE.zst: every call is in it, in every mode, and it is smaller" {
	for mode in streaming circular oneshot; do
		fxtrun --buffering-mode=$mode -o $mode.fxt.zst counted 200000 2>said
		grep '^fxtrun: .* 0 lost, ' said
		complete $mode.fxt.zst 200000
		[ $(($(stat -c %s $mode.fxt.zst) * 2)) -lt "$(stat -c %s unpacked.fxt)" ]
		diff <(fxt report --csv unpacked.fxt) <(fxt report --csv $mode.fxt.zst)
		fxt info $mode.fxt.zst | fails grep -e ^unfinished -e ^recovered
	done
}

@test "-o FILE.zst: through a link, into a pipe, with addresses, with a heap, beside what the program removes" {
	ln -s there.fxt.zst link.zst
	fxtrun -o link.zst counted 1000
	complete there.fxt.zst 1000
	mkfifo pipe.zst
	cat pipe.zst >fed.fxt.zst 3>&- &
	fxtrun -o pipe.zst counted 1000
	wait $!
	complete fed.fxt.zst 1000
	fxtrun --raw -o raw.zst counted 1000
	zstd -t raw.zst
	fxt symbolize raw.zst
	complete raw.zst 1000
	fxtrun --heap=objects -o heap.zst counted 1000
	complete heap.zst 1000
	fxtrun --heap=objects -o heap.fxt counted 1000
	diff <(fxt heap --csv heap.fxt) <(fxt heap --csv heap.zst)
	fxtrun -o removed.zst sh -c 'rm removed.zst; exec counted 1000'
	complete removed.zst 1000
}

# 72 MB of records; the queue of the compressor holds 16.
@test "all of fxtrun killed: zstd reads what there is, and the trace says that it is unfinished" {
	fxtrun --buffer-size=1 -o trace.fxt.zst counted 3000000 wait >out 3>&- &
	job=$!
	program=$(await ready out | cut -d ' ' -f 2)
	recorder=$(recorder_of $job)
	kill -KILL $job $recorder
	wait $job || true
	timeout 60 tail --pid=$recorder -f /dev/null
	zstd -dcq trace.fxt.zst >unpacked.fxt || true
	calls=$(calls_of unpacked.fxt leaf)
	[ "$calls" -gt 2000000 ]
	[ "$calls" -le 3000000 ]
	{ fxt report --csv trace.fxt.zst || true; } | rows functions name calls | grep -P "^leaf\t$calls$"
	fxt info trace.fxt.zst | grep '^unfinished: '
	[ $(($(stat -c %s trace.fxt.zst) * 2)) -lt "$(stat -c %s unpacked.fxt)" ]
}

@test "the manager killed: records that it had not compressed yet are in the trace" {
	fxtrun --session=left -o trace.fxt.zst counted 300000 wait >out 2>said 3>&- &
	job=$!
	program=$(await ready out | cut -d ' ' -f 2)
	kill -KILL $(recorder_of $job)
	await 'was killed by signal 9' said
	fxtctl recover | grep '^trace.fxt.zst: [0-9]* events, 0 lost, '
	wait $job || [ $? = 137 ]
	unpacked trace.fxt.zst 300000
	fxt info trace.fxt.zst | grep '^recovered: '
}

@test "a full disk: the trace is whole up to where it ends, and says what is missing" {
	mkdir disk
	unshare -rm true || skip "needs user namespaces"
	unshare -rm sh -e -c '
		mount -t tmpfs -o size=256k tmpfs disk
		fxtrun -o disk/trace.fxt.zst --buffer-size=1 counted 200000 && exit 1
		cp disk/trace.fxt.zst .
		dd if=/dev/zero of=disk/full bs=4k || true
		fxtrun -o disk/nothing.fxt.zst counted 1000 2>said && exit 1
		[ ! -s disk/nothing.fxt.zst ]'
	grep '(.* could not be written)$' said
	fails grep unfinished said
	zstd -dcq trace.fxt.zst >unpacked.fxt
	decode check unpacked.fxt
	missing=$(fxt info trace.fxt.zst | sed -n 's/^cut: the file had no room for \([0-9]*\) bytes of records$/\1/p')
	[ "$missing" -ge $(((200000 - $(calls_of unpacked.fxt leaf)) * 24)) ]
	[ "$missing" -gt 0 ]
}

# The last of what was recorded fits into a frame that is written a tenth of a second after
# it was taken: that this has failed nothing tells before the end.
@test "a full disk, and then the manager killed: fxtrun keeps the file, and says that it stays unfinished" {
	mkdir disk
	unshare -rm true || skip "needs user namespaces"
	unshare -rm sh -e -c '
		mount -t tmpfs -o size=1M tmpfs disk
		fxtrun -o disk/trace.fxt.zst --buffer-size=1 \
			sh -c "until [ -s disk/trace.fxt.zst ]; do :; done
				dd if=/dev/zero of=disk/full bs=4k
				exec counted 30000 wait" >out 2>said 3>&- &
		job=$!
		timeout 60 sh -c "until grep -q ready out; do sleep 0.1; done"
		sleep 1
		kill -KILL $(cat /proc/$job/task/$job/children)
		timeout 60 sh -c "until grep -q \"killed by signal 9\" said; do sleep 0.1; done"
		kill -KILL $(cut -d " " -f 2 out)
		status=0
		wait $job || status=$?
		echo $status >status
		cp disk/trace.fxt.zst .'
	[ "$(cat status)" = 137 ]
	grep 'disk/trace.fxt.zst stays unfinished: ' said
	zstd -dcq trace.fxt.zst >unpacked.fxt
	fxt info unpacked.fxt | grep '^unfinished: '
}

@test "snapshots are compressed by their names, and stay complete" {
	fxtrun --buffering-mode=circular -o last.fxt.zst counted 1000 wait >out 3>&- &
	job=$!
	program=$(await ready out | cut -d ' ' -f 2)
	fxtctl snapshot -o mine.zst
	unpacked mine.zst 1000
	fxtctl snapshot -o plain.fxt
	[ "$(calls_of plain.fxt leaf)" = 1000 ]
	fxtctl snapshot | grep "^$PWD/last-1.fxt.zst: \|^last-1.fxt.zst: "
	unpacked last-1.fxt.zst 1000
	fxtctl snapshot
	unpacked last-2.fxt.zst 1000
	fails fxtctl snapshot -o mine.gz 2>said
	grep 'path cannot be a .gz; name a .zst' said
	kill "$program"
	wait $job || true
	unpacked last.fxt.zst 1000
}

@test "a .gz is refused before the program runs" {
	says 125 "fxtrun: --output-file=trace.fxt.gz: cannot be a .gz: a gzip file cannot be changed in part later; name a .zst" \
		fxtrun -o trace.fxt.gz touch ran
	[ ! -e ran ]
}
