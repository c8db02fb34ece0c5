#!/usr/bin/env bats
# What programs write to their logs (fxtrun --log). The truth is what they have written, and
# tests/independent/saiddecode.py reads the traces.

load helpers

setup_file()
{
	local source

	for source in lines odd messages; do
		${CC:-cc} -O2 -pthread -o "$BATS_FILE_TMPDIR/$source" "$root/tests/programs/logs/$source.c"
	done
	${CC:-cc} -O0 -finstrument-functions -pthread -I"$root/include" -o "$BATS_FILE_TMPDIR/inside" \
		"$root/tests/programs/logs/inside.c"
	export PATH=$BATS_FILE_TMPDIR:$PATH
}

# said COMMAND TRACE: see tests/independent/saiddecode.py.
said()
{
	python3 "$root/tests/independent/saiddecode.py" "$@"
}

# recorded OPTION... PROGRAM: runs it, and has the lines of its log in `recorded`.
recorded()
{
	fxtrun --heap=off --no-sched -o x.fxt "$@" >out 2>err
	fxt check x.fxt
	said logs x.fxt | cut -f2 >recorded
}

@test "lines of several threads, of handlers and of a child: the records are the lines, on the thread that wrote them" {
	recorded --log=stderr sh -c 'exec lines 4 200 2>written'
	grep " 0 lost," err
	[ "$(wc -l <written)" = 3065 ]
	said logs x.fxt | sed -E 's/^[0-9]+ ([0-9]+)\t/\1\t/' | sort >with_threads
	sed -E 's/^([0-9]+) .*/\1\t&/' written | sort | diff - with_threads
}

@test "lines in pieces, without an end, longer than a record, not in UTF-8: as bare, and each is one record" {
	odd >bare 2>bare.err
	recorded --log=stderr sh -c 'exec odd 2>written'
	cmp bare.err written
	cmp bare out
	grep -v "^to the standard" recorded | sort >sorted
	diff sorted <(sort <<-END
		in 3 pieces of €

		one
		two
		three
		not UTF-8: \\xff\\xc3
		\\x7b{{reset}}}
		$(printf 'x%.0s' {1..2000}) [3000 bytes more]
		a thread's line without an end
		before a thread, after it
		in the child
		at the child's end
		before a child, after it
		at the end
	END
	)
}

@test "--log=stdout,stderr has both; without --log nothing of it is recorded" {
	recorded --log=stdout,stderr odd
	grep -x "to the standard output" recorded
	grep -x "before a thread, after it" recorded
	recorded odd
	[ ! -s recorded ]
}

@test "streams of C++: a line is one record, however it was put together" {
	printf '#include <iostream>\nint main() { std::cerr << "a " << 1 << std::endl << 2.5 << " b\\n"; std::clog << "c" << std::endl; }\n' >streams.cc
	${CXX:-c++} -O2 -o streams streams.cc
	recorded --log=stderr sh -c 'exec ./streams 2>written'
	diff written recorded
}

@test "--log=syslog: each message is a record, and those that a mask holds back are none" {
	messages 2>bare
	recorded --log=syslog sh -c 'exec messages 2>written'
	cmp bare written
	sed 's/^messages: //' written | diff - recorded
	[ "$(wc -l <recorded)" = 3 ]
}

@test "a value of --log that is no log is refused" {
	says 125 "fxtrun: --log=stdin: must be stderr, stdout or syslog, or several with a comma between them" \
		fxtrun --log=stdin true
}

@test "fxt replay shows each line in the call that wrote it, and fxt last the last ones of each thread" {
	recorded --log=stderr inside
	[ "$(wc -l <recorded)" = 454 ]
	fxt replay --json x.fxt >replay.json
	fxt last --json -n 3 x.fxt >last.json
	said logs x.fxt >lines
	python3 - <<-'END'
		import collections, json
		written = collections.defaultdict(list)
		for line in open("lines"):
		    who, text = line.rstrip("\n").split("\t")
		    written[int(who.split()[1])].append(text)
		tables = lambda name: json.load(open(name))["traces"][0]["tables"]
		shown, around = collections.defaultdict(list), collections.defaultdict(dict)
		for row in tables("replay.json")[0]["rows"]:
		    if row["kind"] == "log":
		        inside = around[row["koid"]][row["depth"] - 1]
		        assert inside["what"].split("(")[0] == row["what"].split()[0], (inside, row)
		        assert inside["start_ns"] <= row["start_ns"] <= inside["start_ns"] + inside["time_ns"] + 1, (inside, row)
		        shown[row["koid"]].append(row["what"])
		    elif row["kind"] == "call":
		        around[row["koid"]][row["depth"]] = row
		assert shown == written, (shown, written)
		assert len(shown) == 4
		last = [[row["text"] for row in table["rows"]] for table in tables("last.json") if table["name"] == "log"]
		assert sorted(last) == sorted(lines[:-4:-1] for lines in written.values()), last
	END
	fxt replay x.fxt | grep -E '/\* log: leaf [0-2] 99 \*/$'
	[ "$(fxt replay -f leaf --json x.fxt | grep -c '"kind": "log"')" = 0 ]
	[ "$(fxt replay -t 0 --json x.fxt 2>&1 | grep -c '"kind": "log"')" = 0 ]
}
