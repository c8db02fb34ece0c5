# Helpers of tests of call paths: `load paths`, after helpers.

# "path<tab>calls<tab>total<tab>self" of `fxt tree --csv --fold=0`, in microseconds,
# whatever is folded added up.
tree_paths()
{
	python3 -c '
import csv, sys
path = []
for row in csv.DictReader(sys.stdin):
    del path[int(row["depth"]):]
    path.append(row["name"])
    assert row["folded"] == "0"
    print(";".join(path), row["calls"], *(int(row[key]) // 1000 for key in ("total_ns", "self_ns")), sep="\t")' | sort
}

# The same of the independent decoder, all threads together.
decoded_paths()
{
	decode paths "$1" | python3 -c '
import collections, sys
sums = collections.defaultdict(lambda: [0, 0, 0])
for line in sys.stdin:
    _, _, _, path, calls, _, total, self_, *_ = line.rstrip("\n").split("\t")
    for i, number in enumerate((calls, total, self_)):
        sums[path][i] += int(number)
for path, (calls, total, self_) in sums.items():
    print(path, calls, total // 1000, self_ // 1000, sep="\t")' | sort
}

# alike LEFT RIGHT: the same lines, to within a microsecond in times.
alike()
{
	[ "$(wc -l <"$1")" = "$(wc -l <"$2")" ]
	paste "$1" "$2" | awk -F'\t' '
		function far(a, b) { return a - b > 1 || b - a > 1 }
		$1 != $5 || $2 != $6 || far($3, $7) || far($4, $8) { print; bad = 1 } END { exit bad || NR < 5 }'
}
