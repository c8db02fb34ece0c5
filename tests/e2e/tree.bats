#!/usr/bin/env bats
# fxt tree against the independent decoder: every path of calls, with its calls and times.

load helpers
load paths

@test "top-down: every path of a ray tracer's threads, with its calls, total and self" {
	fxtrun "$build/examples/raytracer" >/dev/null
	fxt tree --csv --fold=0 >tree.csv
	tree_paths <tree.csv >paths
	decoded_paths trace.fxt >decoded
	alike decoded paths
}

@test "folded or bottom-up, no time is lost, and no call" {
	fxtrun "$build/examples/raytracer" >/dev/null
	for options in --fold=0 --fold=20 --bottom-up "--bottom-up --fold=20" --by=thread; do
		fxt tree --json $options >tree.json
		python3 -c '
import json
trace, = json.load(open("tree.json"))["traces"]
table, = trace["tables"]
rows = table["rows"]
assert abs(sum(row["total_ns"] for row in rows if row["depth"] == 0) - trace["facts"]["whole_ns"]) < 100
if table["name"] == "tree":
    self_times = sum(row["self_ns"] or 0 for row in rows if not row["folded"])
    folded = sum(row["total_ns"] for row in rows if row["folded"])
    assert abs(self_times + folded - trace["facts"]["whole_ns"]) < 2000
    calls = sum(row["calls"] or 0 for row in rows if not row["folded"])
    assert calls <= trace["facts"]["calls"] + 100'
	done
}

@test "bottom-up: a function's self time is the report's, and its callers have all of it" {
	fxtrun "$build/examples/raytracer" >/dev/null
	fxt report --csv >report.csv
	fxt tree --csv --bottom-up --fold=0 >tree.csv
	fxt tree --csv --fold=0 >paths.csv
	python3 -c '
import collections, csv
paths = collections.Counter(row["name"] for row in csv.DictReader(open("paths.csv")))
rows = list(csv.DictReader(open("tree.csv")))
top = {row["name"]: (row["calls"], row["total_ns"]) for row in rows if row["depth"] == "0"}
count = 0
for row in csv.DictReader(open("report.csv")):
    if row["table"] == "functions":
        assert top[row["name"]][0] == row["calls"]
        # The time of each path is rounded to a nanosecond.
        assert abs(int(top[row["name"]][1]) - int(row["self_ns"])) <= paths[row["name"]] + 1, row
        count += 1
assert count > 10
at = next(i for i, row in enumerate(rows) if row["depth"] == "0" and row["name"] == "dot(vec, vec)")
callers = []
for row in rows[at + 1:]:
    if row["depth"] == "0":
        break
    if row["depth"] == "1":
        callers.append(row)
assert {row["name"] for row in callers} == {"sphere::intersect(vec, vec) const", "unit(vec)", "trace_ray(vec, vec, int)"}
assert sum(int(row["calls"]) for row in callers) == int(rows[at]["calls"])'
}

@test "memory: a million calls 1,000 deep take no more than their paths" {
	cat >deep.c <<-'END'
		static volatile int sum;
		static void deep(int depth)
		{
			if (depth > 0)
				deep(depth - 1);
			sum++;
		}
		int main(void)
		{
			for (int i = 0; i < 500; i++)
				deep(1000);
		}
	END
	${CC:-cc} -O1 -fno-optimize-sibling-calls -finstrument-functions -o deep deep.c
	fxtrun ./deep
	fxt tree --csv --fold=0 >tree.csv
	[ "$(rows tree calls <tree.csv | sort | uniq -c | awk '{ print $1 "x" $2 }' | tr '\n' ' ')" = "1x1 1001x500 " ]
	fxt tree --bottom-up --csv --fold=0 >up.csv
	[ "$(rows bottom_up depth <up.csv | sort -n | tail -1)" = 64 ]
}
