#!/usr/bin/env bats
# fxt check --fail-if: verdicts on a trace with known numbers, and none on one that has lost
# the records that they depend on.

load helpers

# made NAME LOST [PERCENT]: 100 calls of f of 1 to 100 us, or so much of that, and so many
# records that were lost.
made()
{
	python3 -c '
import struct, sys
words = [0x0016547846040010, 0x21, 10**9, 0x33 | 1 << 16, 1, 1]
for index, text in enumerate((b"function", b"f", b"fxt", b"records"), 1):
    words += [2 | 2 << 4 | index << 16 | len(text) << 32, *struct.unpack("<Q", text.ljust(8, b"\0"))]
for i in range(1, 101):
    words += [4 | 3 << 4 | 4 << 16 | 1 << 24 | 1 << 32 | 2 << 48, 10**6 * i, 10**6 * i + 10 * i * int((sys.argv + ["100"])[3])]
lost = int(sys.argv[2])
if lost:
    words += [4 | 6 << 4 | 4 << 16 | 1 << 20 | 1 << 24 | 3 << 32 | (0x8000 | 4) << 48, 10**9,
              *struct.unpack("<Q", b"lost\0\0\0\0"), 4 | 2 << 4 | 4 << 16, lost, 10**9 + 1]
open(sys.argv[1], "wb").write(struct.pack(f"<{len(words)}Q", *words))' "$@"
}

# verdict STATUS FILE RULE [OPTION...]
verdict()
{
	local got=0

	fxt check --csv --fail-if="$3" "${@:4}" "$2" >table || got=$?
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
	says 2 "fxt check: 'f.max > 1' needs a duration with a unit after its operator, such as 5ms, or a share such as +5%; see fxt check --help" \
		fxt check --fail-if='f.max > 1'
}

@test "records were lost: verdicts that are certain nevertheless are given, all others are unknown" {
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
	# A missing record may have been a call that f made.
	verdict 3 trace.fxt 'f.self > 1us'
	verdict 3 trace.fxt 'f.self < 1us'
	verdict 3 trace.fxt 'f.p99 > 1us'
}

@test "records were lost: for people numbers that may be higher say so, for programs there is how many" {
	made trace.fxt 3
	fxt report trace.fxt >report
	grep '^trace.fxt: ≥ 100 calls of 1 function' report
	grep -E '^ *≥ 100 +≥ 5\.050 ms +5\.050 ms( +[0-9.]+ us){5} +≥ 100\.000 us  f$' report
	grep -E '^ *1 +1 ns.* fxt: lost$|^ *1 +1 ns.* lost$' report
	fxt tree trace.fxt | grep -E ' ≥ 5\.050 ms +5\.050 ms +≥ 100  f$'
	fxt slow f trace.fxt | grep '^f: ≥ 100 calls, '
	fxt report --json trace.fxt | python3 -c '
import json, sys
trace, = json.load(sys.stdin)["traces"]
assert trace["facts"]["records_lost"] == 3 and trace["facts"]["calls"] == 100
assert trace["tables"][0]["rows"][0]["total_ns"] == 5050000'
	made whole.fxt 0
	for command in report tree "slow f"; do
		fxt $command whole.fxt | fails grep ≥
	done
}

@test "the worst verdict of several rules and files counts" {
	made trace.fxt 0
	cp trace.fxt other.fxt
	status=0
	fxt check --fail-if='f.max > 1s' --fail-if='g.max > 1s' --fail-if='f.max > 1us' trace.fxt other.fxt >out || status=$?
	[ $status = 4 ]
	[ "$(grep -c '^ok ' out) $(grep -c '^unknown ' out) $(grep -c '^failed ' out)" = "2 2 2" ]
}

@test "beside an earlier trace: a change relative to it, or to the median of several" {
	made trace.fxt 0
	made same.fxt 0
	made less.fxt 0 90
	made least.fxt 0 50
	made more.fxt 0 120
	for rule in 'f.total > +0%' 'f.calls <= -1%' 'total(f) >= +0.5%' 'f.p50 < -4%' 'f.max > +1%'; do
		verdict 0 trace.fxt "$rule" --against=same.fxt
	done
	grep '"ok","5.050 ms (before 5.050 ms)"\|"ok","5.050 ms"' <(fxt check --csv --fail-if='f.total > +0%' --against=same.fxt)
	# 100 beside 90: 11.1 % more.
	verdict 4 trace.fxt 'f.total > +11%' --against=less.fxt
	verdict 0 trace.fxt 'f.total > +11.2%' --against=less.fxt
	verdict 4 less.fxt 'f.total < -9.9%' --against=trace.fxt
	verdict 0 less.fxt 'f.total < -10.1%' --against=trace.fxt
	# The median of 50, 90 and 120, and of 50, 90, 100 and 120.
	of='--against=least.fxt --against=less.fxt --against=more.fxt'
	verdict 4 trace.fxt 'f.total > +11%' $of
	verdict 0 trace.fxt 'f.total > +11.2%' $of
	verdict 4 trace.fxt 'f.total > +5.2%' $of --against=same.fxt
	verdict 0 trace.fxt 'f.total > +5.3%' $of --against=same.fxt
	[ "$(fxt check --json --fail-if='f.total > +5.3%' $of trace.fxt | python3 -c '
import json, sys
row, = json.load(sys.stdin)["traces"][0]["tables"][0]["rows"]
print(row["value"], row["before"])')" = "5050000 4545000" ]
}

@test "beside an earlier trace: a function that it lacks gets no verdict" {
	made trace.fxt 0
	made lossy.fxt 3
	# It was more than that: what is not higher now is surely not.
	verdict 0 trace.fxt 'f.calls > +1%' --against=lossy.fxt
	verdict 3 trace.fxt 'f.calls >= +0%' --against=lossy.fxt
	verdict 3 trace.fxt 'f.p50 > +50%' --against=lossy.fxt
	verdict 3 trace.fxt 'g.calls > +1%' --against=trace.fxt
	says 2 "fxt check: 'f.total > +5%' needs --against, an earlier trace; see fxt check --help" \
		fxt check --fail-if='f.total > +5%' trace.fxt
	says 2 "fxt check: --against needs a rule with a share, as --fail-if='f.total > +5%'; see fxt check --help" \
		fxt check --fail-if='f.total > 5s' --against=trace.fxt trace.fxt
	says 2 "fxt check: 'f.total > +5' needs a duration with a unit after its operator, such as 5ms, or a share such as +5%; see fxt check --help" \
		fxt check --fail-if='f.total > +5' trace.fxt
	fails fxt check --fail-if='f.total > +5%' --against=missing.fxt trace.fxt
}
