#!/bin/sh
# What a recorded pair of malloc and free costs on this machine: bench/heap.sh BUILD_DIR [ROUNDS [PAIRS]]
#
# As in run.sh the variants run in turn, and what counts is the ratio within a round: here of what each adds to the bare
# pair, to what heaptrack adds, where that is installed.
set -eu

build=$(cd "$1" && pwd)
rounds=${2:-5}
pairs=${3:-2000000}
bench=$build/bench
results=$bench/heap-results
trap 'rm -f "$bench/heap.fxt" "$bench"/heaptrack.* "$results"' EXIT

recorded()
{
	program=$1 threads=$2
	shift 2
	"$build/fxtrun" --no-perfetto-heap -o "$bench/heap.fxt" "$@" -- "$bench/$program" "$threads" "$pairs" 2>/dev/null
}

measure()
{
	case $1 in
	bare) "$bench/heap_bare" "$2" "$pairs" ;;
	off) recorded heap_bare "$2" ;;
	counters) recorded heap_bare "$2" --heap=counters ;;
	sampled) recorded heap_bare "$2" --heap=sampled:512K ;;
	shadow) recorded heap "$2" --heap=objects ;;
	unwind) recorded heap_bare "$2" --heap=objects ;;
	heaptrack) heaptrack -o "$bench/heaptrack" "$bench/heap_bare" "$2" $((pairs / 8)) 2>/dev/null | grep -E '^[0-9.]+$' ;;
	esac
}

variants="bare off counters sampled shadow unwind"
command -v heaptrack >/dev/null && variants="$variants heaptrack"
: >"$results"
for round in $(seq 0 "$rounds"); do
	for threads in 1 2; do
		for variant in $variants; do
			ns=$(measure $variant $threads)
			# Round 0 warms up.
			[ "$round" = 0 ] || echo "$round $threads $variant $ns" >>"$results"
		done
	done
done

awk -v variants="$variants" '
function median(list, n,    i, j, t) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && list[j] < list[j - 1]; j--) {
			t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
		}
	return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
{ ns[$1, $2, $3] = $4; if ($1 > rounds) rounds = $1 }
END {
	count = split(variants, variant)
	label["bare"] = "malloc and free"
	label["off"] = "fxtrun, heap off"
	label["counters"] = "fxtrun --heap=counters"
	label["sampled"] = "fxtrun --heap=sampled:512K"
	label["shadow"] = "fxtrun --heap=objects, shadow stack"
	label["unwind"] = "fxtrun --heap=objects, libunwind"
	label["heaptrack"] = "heaptrack"
	print "threads  variant                              ns a pair  added to heaptrack'"'"'s"
	for (t = 1; t <= 2; t++)
		for (v = 1; v <= count; v++) {
			known = 0
			for (r = 1; r <= rounds; r++) {
				time[r] = ns[r, t, variant[v]]
				theirs = ns[r, t, "heaptrack"] - ns[r, t, "bare"]
				if (theirs > 0) {
					known = 1
					ratio[r] = (time[r] - ns[r, t, "bare"]) / theirs
				}
			}
			printf "%7d  %-35s  %10.2f  %20s\n", t, label[variant[v]], median(time, rounds),
				known ? sprintf("%.2f", median(ratio, rounds)) : "-"
		}
}' "$results"
