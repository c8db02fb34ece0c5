#!/bin/sh
# What a recorded call costs on this machine: bench/run.sh BUILD_DIR [ROUNDS [CALLS]]
#
# The variants run in turn, ROUNDS times over; a ratio is the median of the ratios within a round, so that what slows
# the machine down for a while slows down both sides of it. Absolute times differ between machines; the ratios to the
# floor (two clock reads and one store of 24 bytes in the hooks) hardly do.
set -eu

build=$(cd "$1" && pwd)
rounds=${2:-9}
calls=${3:-10000000}
bench=$build/bench
trace=$bench/calls.fxt
results=$bench/results
trap 'rm -f "$trace" "$results"' EXIT

measure()
{
	case $1 in
	bare) "$bench/calls_bare" "$2" "$calls" ;;
	empty) LD_PRELOAD=$bench/hooks_empty.so "$bench/calls" "$2" "$calls" ;;
	floor) LD_PRELOAD=$bench/hooks_floor.so "$bench/calls" "$2" "$calls" ;;
	fxt) "$build/fxtrun" -o "$trace" "$bench/calls" "$2" "$calls" 2>"$bench/fxtrun.err" ;;
	esac
}

# A virtual machine may have given its free pages back to its host: the first to touch them would pay for it.
head -c 1000000000 /dev/zero >"$trace"
rm -f "$trace"

: >"$results"
for round in $(seq 0 "$rounds"); do
	for threads in 1 2; do
		for variant in bare empty floor fxt; do
			ns=$(measure $variant $threads)
			# Round 0 warms up.
			[ "$round" = 0 ] || echo "$round $threads $variant $ns" >>"$results"
		done
	done
done
# Each of the two threads warms up with 100,000 calls more.
bytes=$(awk -v size="$(stat -c %s "$trace")" -v calls="$calls" 'BEGIN { printf "%.2f", size / 2 / (calls + 100000) }')

awk -v bytes="$bytes" '
function median(list, n,    i, j, t) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && list[j] < list[j - 1]; j--) {
			t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
		}
	return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
{ ns[$1, $2, $3] = $4; if ($1 > rounds) rounds = $1 }
END {
	split("bare empty floor fxt", variant)
	label["bare"] = "not instrumented"
	label["empty"] = "empty hooks"
	label["floor"] = "floor: two clock reads, 24 bytes"
	label["fxt"] = "fxtrun, streaming to a file"
	print "threads  variant                           ns a call  to the floor"
	for (t = 1; t <= 2; t++)
		for (v = 1; v <= 4; v++) {
			for (r = 1; r <= rounds; r++) {
				time[r] = ns[r, t, variant[v]]
				ratio[r] = time[r] / ns[r, t, "floor"]
			}
			printf "%7d  %-32s  %9.2f  %12.2f\n", t, label[variant[v]], median(time, rounds), median(ratio, rounds)
		}
	print "bytes a call in the file: " bytes
}' "$results"
