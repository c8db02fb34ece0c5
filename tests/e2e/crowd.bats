#!/usr/bin/env bats
# 40,000 threads and 40,000 functions in one trace: more than the format has indices for, and
# each has its name.

load helpers

# Repeats the compiler's output for one function 40,000 times, because compiling as many
# functions takes long.
setup_file()
{
	local source=$BATS_TEST_DIRNAME/../programs/engine/crowd.c

	cd "$BATS_FILE_TMPDIR" || return 1
	${CC:-cc} -O0 -finstrument-functions -fno-asynchronous-unwind-tables -DFUNCTION -S -o function.s "$source"
	sed -E '/\.(file|ident)/d; s/\.L[A-Za-z_]+[0-9]+/&_NNNNN/g' function.s | awk '
		{ text = text $0 "\n" }
		END {
			parts = split(text, part, "NNNNN")
			for (n = 0; n < 40000; n++)
				for (i = 1; i <= parts; i++)
					printf i < parts ? "%s%05d" : "%s", part[i], n
			print "\t.data\n\t.balign 8\n\t.globl functions\nfunctions:"
			for (n = 0; n < 40000; n++)
				printf "\t.quad f%05d\n", n
			print "\t.quad 0"
		}' >functions.s
	${CC:-cc} -O2 -g -finstrument-functions -pthread -o crowd "$source" functions.s
}

# crowd OPTIONS: leaves the calls in the file calls, "number" a line, once it was found that
# thread and function of each have that number in their names.
crowd()
{
	fxtrun $1 -o trace.fxt "$BATS_FILE_TMPDIR/crowd" 2>said
	cat said
	fxt check trace.fxt
	decode calls trace.fxt >all
	[ -z "$(grep -vE $'^crowd\tt([0-9]{5})\tf\\1\t1$' all)" ]
	sed -E 's/.*\tf([0-9]*)\t1$/\1/' all >calls
}

@test "streaming: every call, under the names of its thread and its function" {
	crowd
	decode check trace.fxt
	seq -f %05g 0 39999 | cmp - calls
}

@test "streaming through a small buffer with a full durable part" {
	crowd --buffer-size=256K
	seq -f %05g 0 39999 | cmp - calls
}

@test "circular: all that is still in the buffer has its names" {
	crowd "--buffering-mode=circular --buffer-size=4M"
	# Up to eight threads at a time are born and die in any order: except for these, the
	# last ones are left.
	local count=$(wc -l <calls)
	[ "$(sed -En 's/.*, 0 lost, ([0-9,]+) overwritten, .*/\1/p' said | tr -d ,)" = $((40000 - count)) ]
	[ "$count" -gt 1000 ]
	[ "$(head -1 calls)" -ge $((40000 - count - 8)) ]
}
