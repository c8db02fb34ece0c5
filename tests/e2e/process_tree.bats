#!/usr/bin/env bats
# fxt processes against what the processes say of themselves.

load helpers

# A shell, four compilers of which one fails and one is killed, and a maker that begins two
# linkers.
family()
{
	compiled processes/child.c
	mv program compiler
	cp compiler linker
	printf './linker 0\n./linker 3\necho "$$ $PPID maker 0" >>truth\n' >maker.sh
	cp "$(command -v dash || command -v sh)" maker
	printf '%s\n' './compiler 0' './compiler 0' './compiler 7' './compiler -9' './maker maker.sh' 'true' >build.sh
	fxtrun sh build.sh >/dev/null 2>&1
}

@test "each process: its parent, its program, and how it ended" {
	family
	fxt processes --json trace.fxt |
		jq -r '.traces[0].tables[] | select(.name == "processes") | .rows[] | select(.program != "sh") |
			"\(.process) \(.parent) \(.program) \(if .signal then -.signal else .status end)"' | sort >told
	sort truth | diff - told
}

@test "the tree: a line for all processes of one program in one program, then those that failed" {
	local shell maker killed failed linker

	family
	fxt processes trace.fxt >said
	shell=$(awk '$3 == "maker" { print $2 }' truth)
	maker=$(awk '$3 == "maker" { print $1 }' truth)
	killed=$(awk '$4 == -9 { print $1 }' truth)
	failed=$(awk '$4 == 7 { print $1 }' truth)
	linker=$(awk '$4 == 3 { print $1 }' truth)
	sed -E 's/ +[0-9.]+ ([mun]?s) +[0-9.]+ ([mun]?s)/ T/; s/ +$//' said >shape
	cat >expected <<-END
		trace.fxt: 8 processes, 3 failed

		1 0 T 0 sh $shell
		4 2 T 4   compiler
		1 0 T 0   maker $maker
		2 1 T 2     linker
		process $failed "compiler": exit status 7, begun by process $shell
		process $killed "compiler": killed by SIGKILL (9), begun by process $shell
		process $linker "linker": exit status 3, begun by process $maker
	END
	[ "$(sed -n 1p shape)" = "$(sed -n 1p expected)" ]
	# The program with the longest total comes first.
	diff <(sed 1,2d expected | tr -s ' ' | sort) <(sed '1,3d; /^$/d' shape | tr -s ' ' | sed 's/^ //' | sort)
	[ "$(sed -n 3p said | tr -s ' ')" = "processes failed total longest calls program" ]
	awk '$8 == "sh" { print "sh at", index($0, "sh") } $8 == "linker" { print "linker at", index($0, "linker") }' said >places
	[ "$(awk '$1 == "linker" { l = $3 } $1 == "sh" { s = $3 } END { print l - s }' places)" = 4 ]
}

@test "a thousand processes are two lines" {
	compiled processes/child.c
	printf 'i=0; while [ $i -lt 1000 ]; do ./program; i=$((i + 1)); done\n' >many.sh
	fxtrun --heap=off sh many.sh >/dev/null 2>&1
	fxt processes trace.fxt >said
	grep -xE 'trace.fxt: 1001 processes, 0 failed' said
	[ "$(grep -cE '^ +(1|1000) ' said)" = 2 ]
	[ "$(awk '$8 == "program" { print $1, $2, $7 }' said)" = "1000 0 1000" ]
}

@test "parents in a circle, and a parent that is itself, end the tree" {
	python3 - <<-'END'
		import struct
		words = [0x0016547846040010]
		def text(s):
		    return struct.unpack('<%dQ' % ((len(s) + 7) // 8), s.ljust((len(s) + 7) // 8 * 8, b'\0'))
		def inline(s):
		    return 0x8000 | len(s)
		def begun(process, thread, child, at):
		    category, name, key = b'process', b'fork', b'child'
		    argument = [8 | 3 << 4 | inline(key) << 16, *text(key), child]
		    body = [at, process, thread, *text(category), *text(name), *argument, at + 10]
		    return [4 | (1 + len(body)) << 4 | 4 << 16 | 1 << 20 | inline(category) << 32 | inline(name) << 48, *body]
		for process, child in (1, 2), (2, 3), (3, 1), (4, 4):
		    words += begun(process, process, child, 100 * process)
		open('circle.fxt', 'wb').write(struct.pack('<%dQ' % len(words), *words))
	END
	timeout 60 fxt processes circle.fxt >said
	grep '^circle.fxt: 4 processes, 0 failed' said
}
