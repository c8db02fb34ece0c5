#!/usr/bin/env bats
# fxt check --fail-if: verdicts on a trace whose numbers are known, and none on one that has lost what they depend on.

load helpers

# made NAME LOST: 100 calls of f of 1 to 100 us, and so many records that were lost.
made()
{
	python3 -c '
import struct, sys
words = [0x0016547846040010, 0x21, 10**9, 0x33 | 1 << 16, 1, 1]
for index, text in enumerate((b"function", b"f", b"fxt", b"records"), 1):
    words += [2 | 2 << 4 | index << 16 | len(text) << 32, *struct.unpack("<Q", text.ljust(8, b"\0"))]
for i in range(1, 101):
    words += [4 | 3 << 4 | 4 << 16 | 1 << 24 | 1 << 32 | 2 << 48, 10**6 * i, 10**6 * i + 1000 * i]
lost = int(sys.argv[2])
if lost:
    words += [4 | 6 << 4 | 4 << 16 | 1 << 20 | 1 << 24 | 3 << 32 | (0x8000 | 4) << 48, 10**9,
              *struct.unpack("<Q", b"lost\0\0\0\0"), 4 | 2 << 4 | 4 << 16, lost, 10**9 + 1]
open(sys.argv[1], "wb").write(struct.pack(f"<{len(words)}Q", *words))' "$@"
}

# verdict STATUS FILE RULE
verdict()
{
	local got=0

	fxt check --csv --fail-if="$3" "$2" >table || got=$?
	[ "$got" = "$1" ] || { echo "$3: $got, not $1" && cat table && return 1; }
	case $1 in
	0) grep -q '"ok"' table ;;
	3) grep -q '"unknown"' table ;;
	4) grep -q '"failed"' table ;;
	esac
}

@test "every metric and operator on both sides of its limit" {
	made trace.fxt 0
	for rule in 'f.calls > 100' 'calls(f) < 100' 'f.total > 5050us' 'f.self < 5050us' 'f.avg > 50501ns' 'f.max > 100us' \
		'f.min < 1us' 'f.p50 > 52us' 'f.p50 < 48us' 'f.p90 > 93us' 'f.p99<95us' 'max([e-g])>100us'; do
		verdict 0 trace.fxt "$rule"
	done
	for rule in 'f.calls >= 100' 'calls(f) <= 100' 'f.total > 5049us' 'f.self <= 5050us' 'f.avg > 50499ns' 'f.max >= 100us' \
		'f.min < 1001ns' 'f.p50 > 48us' 'f.p50 < 52us' 'f.p90 > 87us' 'f.p99<103us'; do
		verdict 4 trace.fxt "$rule"
	done
	verdict 3 trace.fxt 'g.max > 1s'
	says 2 "fxt check: 'f.p98 > 1s' names no metric: calls, total, self, avg, p50, p90, p99, min or max of a function; see fxt check --help" \
		fxt check --fail-if='f.p98 > 1s'
	says 2 "fxt check: 'f.max > 1' has no duration with a unit behind its operator, as 5ms; see fxt check --help" \
		fxt check --fail-if='f.max > 1'
}

@test "records were lost: what is certain even so is told, all else is unknown" {
	made trace.fxt 3
	verdict 4 trace.fxt 'f.calls > 99'
	verdict 3 trace.fxt 'f.calls > 100'
	verdict 0 trace.fxt 'f.calls < 100'
	verdict 3 trace.fxt 'f.calls < 101'
	verdict 4 trace.fxt 'f.max > 99us'
	verdict 3 trace.fxt 'f.max > 101us'
	verdict 4 trace.fxt 'f.min < 2us'
	verdict 3 trace.fxt 'f.min < 1us'
	verdict 3 trace.fxt 'f.p99 > 1s'
	verdict 3 trace.fxt 'f.p99 > 1us'
}

@test "of several rules and files the worst verdict counts" {
	made trace.fxt 0
	cp trace.fxt other.fxt
	status=0
	fxt check --fail-if='f.max > 1s' --fail-if='g.max > 1s' --fail-if='f.max > 1us' trace.fxt other.fxt >out || status=$?
	[ $status = 4 ]
	[ "$(grep -c '^ok ' out) $(grep -c '^unknown ' out) $(grep -c '^failed ' out)" = "2 2 2" ]
}
