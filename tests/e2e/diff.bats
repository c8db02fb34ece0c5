#!/usr/bin/env bats
# fxt diff: numbers and verdicts on traces with known calls.

load helpers

# made CHANGE LOST: traces before0.fxt ... before4.fxt and after0.fxt ... after4.fxt. In
# each, main calls parse ten times and send five times; they take longer by numbers that
# both sides have alike, in another order. After, each call of parse takes CHANGE ns more,
# old is not called any more, and new is. The first trace from after has lost LOST records.
made()
{
	python3 -c '
import struct, sys
change, lost = map(int, sys.argv[1:])
def put(path, calls, lost):
    names = ["function", "fxt", "records", "main", *dict(calls)]
    words = [0x0016547846040010, 0x21, 10**9, 0x33 | 1 << 16, 1, 1]
    for index, text in enumerate(names, 1):
        words += [2 | 2 << 4 | index << 16 | len(text) << 32, *struct.unpack("<Q", text.encode().ljust(8, b"\0"))]
    def call(name, start, end):
        words.extend([4 | 3 << 4 | 4 << 16 | 1 << 24 | 1 << 32 | names.index(name) + 1 << 48, start, end])
    at = begin = 10**6
    for name, length in calls:
        call(name, at + 30, at + 30 + length)
        at += 30 + length
    call("main", begin, at + 10)
    if lost:
        words.extend([4 | 6 << 4 | 4 << 16 | 1 << 20 | 1 << 24 | 2 << 32 | (0x8000 | 4) << 48, at + 20,
                      *struct.unpack("<Q", b"lost\0\0\0\0"), 4 | 2 << 4 | 3 << 16, lost, at + 21])
    open(path, "wb").write(struct.pack(f"<{len(words)}Q", *words))
for i in range(5):
    j = (2 * i + 1) % 5
    put(f"before{i}.fxt", [("parse", 1000 + i)] * 10 + [("send", 2000 + j)] * 5 + [("old", 500)] * bool(change), 0)
    put(f"after{i}.fxt", [("parse", 1000 + j + change)] * 10 + [("send", 2000 + i)] * 5 + [("new", 500)] * bool(change),
        0 if i else lost)
' "$@"
}

# functions COLUMN...: of the table that was printed last.
functions()
{
	rows functions "$@" <table
}

@test "five traces a side that are alike: all is noise, or the same" {
	made 0 0
	for figure in self total calls avg p50 p90 p99; do
		fxt diff --compare=$figure --csv before?.fxt -- after?.fxt >table
		[ "$(functions name | sort | tr '\n' ' ')" = "main parse send " ]
		functions verdict | fails grep -vE '^(noise|same)$'
	done
	fxt diff before?.fxt -- after?.fxt >text
	grep -Eq '^10\.020 us +10\.020 us +0\.0% .* noise +parse$' text
}

@test "a change is found, and how large it is; the rest is noise" {
	made 300 0
	fxt diff --csv before?.fxt -- after?.fxt >table
	diff - <(functions name verdict self_before_ns self_after_ns calls_before calls_after only) <<-END
		parse	more	10020	13020	10	10	
		new	more	0	500	0	1	after
		old	less	500	0	1	0	before
		main	same	490	490	1	1	
		send	noise	10010	10010	5	5	
	END
	fxt diff --csv after?.fxt -- before?.fxt >table
	[ "$(functions name verdict | sed -n 1p)" = "parse	less" ]
	fxt diff --csv --compare=p99 --function=parse --limit=1 before?.fxt -- after?.fxt >table
	[ "$(functions name verdict p99_before_ns p99_after_ns p)" = "parse	more	1002	1302	0.00793650793650794" ]
	fxt diff before?.fxt -- after?.fxt >text
	grep -Eq ' more +new \(only after\)$' text
	grep -Eq ' less +old \(only before\)$' text
}

# Five functions take times of their own in each trace, within a fiftieth, by seeds and not
# by a clock. For equal traces all ways to deal out ten of them are compared: at most one in
# twenty may report a change. In a change the third function takes a tenth more.
@test "traces that are alike: 19 of 20 comparisons find no difference; a change is found in all" {
	python3 - <<-'END'
		import csv, itertools, random, struct, subprocess
		def put(path, lengths):
		    names = ["function", "main", *(f"f{i}" for i in range(5))]
		    words = [0x0016547846040010, 0x21, 10**9, 0x33 | 1 << 16, 1, 1]
		    for index, text in enumerate(names, 1):
		        words += [2 | 2 << 4 | index << 16 | len(text) << 32, *struct.unpack("<Q", text.encode().ljust(8, b"\0"))]
		    at = begin = 10**6
		    for i, length in enumerate(lengths):
		        words += [4 | 3 << 4 | 4 << 16 | 1 << 24 | 1 << 32 | i + 3 << 48, at + 30, at + 30 + length]
		        at += 30 + length
		    words += [4 | 3 << 4 | 4 << 16 | 1 << 24 | 1 << 32 | 2 << 48, begin, at + 10]
		    open(path, "wb").write(struct.pack(f"<{len(words)}Q", *words))
		    return path
		def traces(numbers, side, count, third):
		    return [put(f"{side}{n}.fxt", [int(10000 * (i + 1) * numbers.uniform(1, 1.02) * (third if i == 2 else 1))
		                                   for i in range(5)]) for n in range(count)]
		def differences(before, after):
		    said = subprocess.run(["fxt", "diff", "--csv", *before, "--", *after], capture_output=True, text=True, check=True)
		    lines = list(csv.reader(said.stdout.splitlines()))
		    head = next(line for line in lines if "verdict" in line)
		    rows = [dict(zip(head, line)) for line in lines[lines.index(head) + 1:] if len(line) == len(head)]
		    assert len(rows) == 6, said.stdout
		    return [(row["name"], row["verdict"]) for row in rows if row["verdict"] in ("more", "less")]
		alike = traces(random.Random(0), "alike", 10, 1)
		dealt = [(alike[:1] + [*rest], [a for a in alike[1:] if a not in rest]) for rest in itertools.combinations(alike[1:], 4)]
		found = sum(differences(before, after) != [] for before, after in dealt)
		assert len(dealt) == 126 and found * 20 <= len(dealt), found
		for seed in range(1, 21):
		    numbers = random.Random(seed)
		    found = differences(traces(numbers, "before", 5, 1), traces(numbers, "after", 5, 1.1))
		    assert ("f2", "more") in found, (seed, found)
	END
}

@test "one trace a side: a line says that it does not tell a change from noise; differences are small or unsure" {
	made 300 0
	fxt diff before0.fxt after0.fxt >text
	cat text
	sed -n 2p text | diff - <(echo "so few traces do not tell a change from noise: a difference is small, less than a tenth, or unsure")
	grep -E ' (more|less|noise) +[a-z]+$' text | fails grep .
	grep -E '^ *10.000 us +13.010 us +30.1% .* unsure +parse$' text
	grep -E '^ *10.005 us +10.000 us +-0.0% .* small +send$' text
	grep -E ' same +main$' text
	tail -1 text | diff - <(echo "no verdict: 1 trace before and 1 after cannot tell a change from noise; 5 on each side can: BEFORE... -- AFTER...")
	cp after0.fxt trace.fxt
	fxt diff --csv before0.fxt >table 2>/dev/null
	[ "$(functions name self_before_ns self_after_ns verdict p | sed -n 1p)" = "parse	10000	13010	unsure	" ]
}

@test "too few traces for so many functions say so" {
	made 300 0
	fxt diff --csv -f parse -f send before[0-3].fxt -- after[0-3].fxt >table 2>notes
	[ "$(functions name verdict | sed -n 1p)" = "parse	unsure" ]
	diff notes - <<-END
		fxt: after3.fxt: 4 traces before and 4 after are too few to tell a change of one among 2 functions from noise; 5 on each side can, or choose fewer with --function
	END
	fxt diff --csv --function=parse before[0-3].fxt -- after[0-3].fxt >table 2>notes
	[ "$(functions name verdict)" = "parse	more" ]
	[ ! -s notes ]
}

@test "missing records, wrong options and missing files are reported" {
	made 300 3
	fxt diff --json before?.fxt -- after?.fxt >answer
	python3 - <<-END
		import json
		answer = json.load(open("answer"))
		trace, = answer["traces"]
		traces, functions = trace["tables"]
		assert answer["schema"] == "fxt.diff/1"
		assert [row["records_lost"] for row in traces["rows"]] == [0] * 5 + [3] + [0] * 4
		assert [row["side"] for row in traces["rows"]] == ["before"] * 5 + ["after"] * 5
		assert functions["rows"][0]["name"] == "parse" and functions["rows"][0]["verdict"] == "more"
		assert functions["rows"][1]["self_change"] is None and functions["rows"][1]["only"] == "after"
		assert trace["notes"][0].startswith("1 of the traces is incomplete"), trace["notes"]
	END
	says 2 "fxt diff: no earlier trace is given; see fxt diff --help" fxt diff
	says 2 "fxt diff: no trace file given, and there is no trace.fxt here; see fxt diff --help" fxt diff before0.fxt
	says 2 "fxt diff: which of 3 traces are the earlier ones? BEFORE... -- AFTER...; see fxt diff --help" fxt diff before[01].fxt after0.fxt
	says 2 "fxt diff: cannot compare 'size'; see fxt diff --help" fxt diff --compare=size before0.fxt after0.fxt
	says 2 "fxt: before0.fxt: no function is named 'pars'; did you mean 'parse'?" fxt diff -f pars before0.fxt after0.fxt
	says 2 "fxt: nowhere.fxt: cannot be opened: No such file or directory" fxt diff before0.fxt nowhere.fxt
	fxt diff -f new before0.fxt after0.fxt >text
	grep -q "^before0.fxt: no function is named 'new'" text
	head -c 410 after0.fxt >cut.fxt
	status=0
	fxt diff before0.fxt cut.fxt >text 2>errors || status=$?
	[ $status = 1 ]
	grep -q '^fxt: cut.fxt: offset 0x' errors
	tail -1 text | grep -q '^1 of the traces is incomplete'
}
