#!/usr/bin/env bats
# Programs that say more by <fxt/trace.h> than there is room for names. The truth is the decoder
# in tests/independent/saiddecode.py, and a counter in the program.

load helpers

# said COMMAND TRACE: see tests/independent/saiddecode.py.
said()
{
	python3 "$root/tests/independent/saiddecode.py" "$@"
}

@test "131,072 sites with 100,000 names, and signals inside: each is recorded with its name, or told as lost" {
	local recorded lost

	${CC:-cc} -O2 -I"$root/include" -o crowd "$root/tests/programs/trace_h/crowd.c"
	fxtrun --heap=off --no-sched -o x.fxt ./crowd 131072 >made 2>err
	grep " 0 lost," err
	fxt check x.fxt
	said counts x.fxt >counts
	[ "$(awk -F'\t' '{ n += $4 } END { print n }' counts)" = "$(cat made)" ]
	grep -c '	name [0-9]*	[12]$' counts | grep -x 100000
	fxtrun --heap=off --no-sched --buffering-mode=oneshot --buffer-size=1 -o x.fxt ./crowd 131072 >made 2>err
	fxt check x.fxt
	recorded=$(said counts x.fxt | awk -F'\t' '{ n += $4 } END { print n + 0 }')
	lost=$(said lost x.fxt)
	echo "made $(cat made), recorded $recorded, told as lost $lost"
	[ "$lost" -gt 0 ]
	[ "$((recorded + lost))" = "$(cat made)" ]
}
