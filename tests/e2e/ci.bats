#!/usr/bin/env bats
# What CI services read: verdicts as JUnit's XML, tables as Markdown, and the shell lines of
# doc/manual/ci.md.

load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	export PATH=$build:$PATH XDG_RUNTIME_DIR=$PWD GITHUB_STEP_SUMMARY=$PWD/summary.md
	for trace in trace old; do
		zstd -dq "$root/doc/manual/$trace.fxt.zst" -o $trace.fxt
	done
}

# A program that calls parse() as often as it is told by a file.
bench()
{
	echo '#include <stdio.h>
		__attribute__((noinline)) void parse(void) { __asm__(""); }
		int main(void)
		{
			int calls = 0;
			FILE *file = fopen("calls", "r");
			if (!file || fscanf(file, "%d", &calls) != 1) return 1;
			for (int i = 0; i < calls; i++) parse();
			return 0;
		}' >bench.c
	gcc -O2 -g -finstrument-functions -o bench bench.c
}

# lines SERVICE: the shell lines of the snippet.
lines()
{
	sed -n "/^## $1/,/^## /p" "$root/doc/manual/ci.md" | case $1 in
	GitHub*) awk '/run: \|/ { on = 1; next } /^    - / { on = 0 } on && /^        / { print substr($0, 9) }' ;;
	*) sed -n '/^      script:/,/^      artifacts:/s/^        - //p' ;;
	esac
}

# in_ci SERVICE CALLS: a build whose program calls parse() that often; the job's status.
in_ci()
{
	echo "$2" >calls
	lines "$1" >job
	sh -e job
}

@test "the snippets for GitHub and GitLab: a build passes, and the next fails if it makes one call more" {
	bench
	for service in GitHub GitLab; do
		rm -f old.fxt fxt.xml
		in_ci $service 20
		[ "$(wc -l <job)" -ge 5 ]
		in_ci $service 20
		grep -q 'failures="0" errors="0"' fxt.xml
		status=0
		in_ci $service 21 || status=$?
		[ "$status" = 4 ]
		grep -q '<failure message="21">calls(parse) &gt; +0%: measured 21 (before 20)</failure>' fxt.xml
		# The trace of the build that failed is not what the next is compared with.
		in_ci $service 20
	done
	grep -qx '| 20 | .* | parse |' summary.md
}

@test "JUnit's XML has a case for each verdict of --json, and its counts are theirs" {
	rules=(--fail-if='total(check_ledger) > +5%' --fail-if='calls(no <"&> such) > 3' --fail-if='calls(add_up) > 100')
	fails fxt check "${rules[@]}" --against=old.fxt --junit=fxt.xml --json trace.fxt old.fxt >verdicts.json
	python3 - <<-'END'
		import json
		import xml.etree.ElementTree as tree
		root = tree.parse("fxt.xml").getroot()
		assert root.tag == "testsuites"
		suites = list(root)
		traces = json.load(open("verdicts.json"))["traces"]
		assert len(suites) == len(traces) == 2
		total = [0, 0, 0]
		for suite, trace in zip(suites, traces):
		    rows = trace["tables"][0]["rows"]
		    assert suite.get("name") == trace["file"]
		    assert [case.get("name") for case in suite] == [row["rule"] for row in rows]
		    kinds = {"ok": [], "failed": ["failure"], "unknown": ["error"]}
		    assert [[child.tag for child in case] for case in suite] == [kinds[row["verdict"]] for row in rows]
		    counts = [len(rows)] + [sum(row["verdict"] == kind for row in rows) for kind in ("failed", "unknown")]
		    assert [int(suite.get(key)) for key in ("tests", "failures", "errors")] == counts
		    total = [a + b for a, b in zip(total, counts)]
		assert [int(root.get(key)) for key in ("tests", "failures", "errors")] == total == [6, 1, 2]
	END
	fails fxt check "${rules[@]}" --against=old.fxt --junit=no/such/place trace.fxt
	says 2 "fxt check: --json, --csv, --markdown, --junit and the choice of a part need --fail-if; see fxt check --help" fxt check --junit=x.xml trace.fxt
}

@test "Markdown: the rows are those of --csv, and names are no markup" {
	cat >names.cc <<-'END'
		struct t { int a_b; };
		__attribute__((noinline)) int operator|(t a, t b) { return a.a_b | b.a_b; }
		__attribute__((noinline)) int operator*(t a, t b) { return a.a_b * b.a_b; }
		template <class T> __attribute__((noinline)) int of(T a) { return a.a_b; }
		__attribute__((noinline)) int a$and$b(t a) { return a.a_b; }
		int main() { return (t{1} | t{2}) + t{1} * t{0} + of(t{0}) + a$and$b(t{0}) - 3; }
	END
	g++ -O2 -finstrument-functions -o names names.cc
	fxtrun -o names.fxt ./names 2>/dev/null
	for trace in names trace; do
		fxt report --full-names --csv $trace.fxt >table.csv 2>/dev/null
		fxt report --full-names --markdown $trace.fxt >page.md
		fxt diff --csv old.fxt $trace.fxt >diff.csv 2>/dev/null
		fxt diff --markdown old.fxt $trace.fxt >diff.md
		python3 - <<-'END'
			import csv
			import re
			def cells(line):
			    assert not re.search(r"(?<!\\)[*_<>`$]", line), line
			    return [re.sub(r"\\(.)", r"\1", cell).strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
			for table, page in (("table.csv", "page.md"), ("diff.csv", "diff.md")):
			    blocks = [block.splitlines() for block in open(page).read().split("\n\n") if block.startswith("|")]
			    shown = [[cells(line) for line in block] for block in blocks]
			    asked = {}
			    for row in csv.reader(open(table)):
			        if row[0] != "table":
			            asked.setdefault(row[0], []).append(row)
			    assert len(shown) == len(asked) > 0
			    for rows, raw in zip(shown, asked.values()):
			        assert all(len(row) == len(rows[0]) for row in rows)
			        assert all(re.fullmatch("---:?", cell) for cell in rows[1])
			        assert len(rows) - 2 == len(raw)
			        for row, values in zip(rows[2:], raw):
			            assert re.sub(r" \(.* not ended\)$", "", row[-1]) in values or "only" in row[-1], (row, values)
		END
	done
	fxt report --full-names --markdown names.fxt | grep -qF 'operator\|(t, t)'
}
