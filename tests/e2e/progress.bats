#!/usr/bin/env bats
# The progress line of reading a trace: what a terminal shows during and after it, and that
# no other output gets any of it. The clock is made to advance a second at each call.

load helpers

setup_file()
{
	${CC:-cc} -shared -fPIC -o "$BATS_FILE_TMPDIR/clock.so" "$root/tests/programs/terminal/fast_clock.c"
	# Prints the contents of a terminal of one line each time that its line is complete,
	# and at the end.
	cat >"$BATS_FILE_TMPDIR/shown.py" <<-'END'
		import re, sys
		line, at = "", 0
		for piece in re.findall(r"\r|\n|\x1b\[[0-9;]*[A-Za-z]|[^\r\n\x1b]+", sys.stdin.buffer.read().decode()):
		    if piece == "\r":
		        at = 0
		    elif piece == "\x1b[K":
		        line = line[:at]
		        sys.argv[1:] and print(line, file=sys.stderr)
		    elif piece == "\n":
		        print(line)
		        line, at = "", 0
		    elif piece[0] != "\x1b":
		        line = line[:at] + piece + line[at + len(piece):]
		        at += len(piece)
		print(line, end="")
	END
	# 200,000 calls of main, which takes half of the time.
	python3 - "$BATS_FILE_TMPDIR/many.fxt" <<-'END'
		import struct, sys
		words = [0x0016547846040010, 0x21, 10**9, 0x33 | 1 << 16, 1, 1, 0x22 | 1 << 16 | 1 << 32, ord("f"),
		         0x22 | 2 << 16 | 4 << 32, int.from_bytes(b"main", "little")]
		for number in range(200000):
		    words += [4 | 3 << 4 | 4 << 16 | 1 << 24 | 1 << 32 | 2 << 48, 10 * number, 10 * number + 5]
		open(sys.argv[1], "wb").write(struct.pack(f"<{len(words)}Q", *words))
	END
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	ln -s "$BATS_FILE_TMPDIR/many.fxt" trace.fxt
}

# on_terminal COLUMNS COMMAND: what a terminal of that width gets.
on_terminal()
{
	TERM=${TERM_IS-xterm} PAGER=${PAGER_IS-cat} NO_COLOR=1 LD_PRELOAD=$BATS_FILE_TMPDIR/clock.so \
		script -qec "stty cols $1 rows 50; $2" /dev/null </dev/null
}

# shown: what it shows then, and in `lines` each line that stood there for a while.
shown()
{
	python3 "$BATS_FILE_TMPDIR/shown.py" all 2>lines
}

@test "a terminal shows how far it is, how fast and how long it will take, and at the end the answer alone" {
	for columns in 80 40 20; do
		on_terminal $columns 'fxt report 2>&2' | shown >screen
		[ "$(grep -cE '^reading +[0-9]+%' lines)" -gt 10 ]
		[ "$(grep -cE '^reading again +[0-9]+%' lines)" -gt 10 ]
		awk -v columns=$columns 'length > columns - 1 { exit 1 }' lines
		# Nothing of it is left.
		[ "$(grep -c reading screen)" = 0 ]
		grep '^200000 ' screen
	done
	on_terminal 80 'fxt report' | shown >screen
	# A piece has a quarter of a megabyte, and each took a second.
	grep -E '^reading  49% \[#{16} +\] 262 kB/s, [0-9]+ s left$' lines
	sed -n 's/^reading  *\([0-9]*\)%.*/\1/p' lines | sort -nc
}

@test "a short wait shows no progress line, and neither do pipes, files and terminals without cursor control" {
	LD_PRELOAD= TERM=xterm PAGER=cat script -qec 'fxt report' /dev/null </dev/null >got
	fails grep -q reading got
	LD_PRELOAD=$BATS_FILE_TMPDIR/clock.so fxt report >out 2>err
	[ ! -s err ]
	fails grep -q reading out
	on_terminal 80 'fxt report 2>err' >got
	[ ! -s err ]
	fails grep -q reading got
	TERM_IS=dumb on_terminal 80 'fxt report' >got
	fails grep -q reading got
	# Only the answer is piped: the user waits in front of the terminal.
	on_terminal 80 'fxt report | cat >out' | shown >screen
	grep -q '^reading  *49%' lines
	[ ! -s screen ]
	grep -E '^200000 .* main$' out
}

@test "every command that reads for long shows its progress" {
	for command in report tree 'slow main' 'why main' last locks threads html flamegraph suggest check info heap \
		'export --to=folded' 'export --to=chrome-json' 'cut --time=1ms.. -o part.fxt' 'symbolize -o named.fxt' 'diff trace.fxt' \
		'sql "select count(*) from calls"' "check --fail-if='main.max > 1s'"; do
		on_terminal 80 "fxt $command trace.fxt" | shown >screen
		[ "$(grep -c '^reading.*%' lines)" -ge 3 ] || { echo "fxt $command tells nothing" && false; }
		[ "$(grep -c '^reading.*%' screen)" = 0 ]
	done
}

@test "output that is printed while a trace is read removes the progress line" {
	for command in dump 'replay -n 3000' 'export --to=folded -o -' 'sql "select start from calls"'; do
		on_terminal 80 "fxt $command trace.fxt" >got
		shown <got >screen
		[ -s screen ]
		# Text shown before the first progress line is in the line.
		[ "$(tail -n +2 got | grep -c 'reading.*%')" = 0 ]
		fails grep '^reading.*%' screen
	done
}

@test "a pager begins when there is something to be shown, and errors are not beside the line" {
	PAGER_IS='sed s/^/paged:/' on_terminal 80 'fxt report' | shown >screen
	grep -q '^reading again' lines
	grep -E '^paged:200000 .* main$' screen
	fails grep -q '^paged:.*reading' screen
	# The trace ends within a record.
	head -c 3000001 trace.fxt >short.fxt
	on_terminal 80 'fxt report short.fxt' | shown >screen
	grep -q '^reading  *[0-9]*%' lines
	grep -E '^fxt: short.fxt: .*truncated inside a record$' screen
}

@test "output piped to a program that controls the terminal shows no progress line" {
	on_terminal 80 'stty raw; fxt report | cat >out; stty sane' >got
	fails grep -q reading got
	grep -E '^200000 .* main$' out
}

@test "the progress shows how much of a pipe was read, and which part of a compressed file" {
	on_terminal 80 'cat trace.fxt | fxt report -' | shown >screen
	grep -qE '^copying [0-9.]+ [kM]B' lines
	grep -E '^200000 .* main$' screen
	gzip -c trace.fxt >trace.fxt.gz
	on_terminal 80 'fxt report trace.fxt.gz' | shown >screen
	grep -qE '^decompressing +[0-9]+%' lines
	grep -E '^200000 .* main$' screen
}

@test "a file that has grown since it was opened is read to its end" {
	cat "$root/tests/programs/terminal/fast_clock.c" - >clock.c <<-'END'
		#include <sys/stat.h>
		/* Of files with a name: an eighth of what they have when they are read. */
		int fstat(int fd, struct stat *file)
		{
			int status = (int)syscall(SYS_newfstatat, fd, "", file, 0x1000); /* AT_EMPTY_PATH */

			if (status == 0 && S_ISREG(file->st_mode) && file->st_nlink > 0)
				file->st_size = file->st_size / 8 + 1;
			return status;
		}
	END
	${CC:-cc} -shared -fPIC -o clock.so clock.c
	gzip -1 -c trace.fxt >trace.fxt.gz
	TERM=xterm PAGER=cat NO_COLOR=1 LD_PRELOAD=$PWD/clock.so \
		script -qec 'stty cols 80 rows 50; fxt report trace.fxt.gz' /dev/null </dev/null | shown >screen
	grep -qE '^decompressing +100% \[#+\]' lines
	grep -E '^200000 .* main$' screen
}

# The heap is read again at the end. The clock begins to go faster then: when that file is
# mapped.
@test "fxtrun: the progress of a long end is shown on the terminal, and nowhere else" {
	cat >pairs.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		void *volatile block;
		int main(void)
		{
			for (int i = 0; i < 50000; i++) {
				block = malloc(16);
				free(block);
			}
			puts("all pairs");
			return 0;
		}
	END
	${CC:-cc} -O2 -o pairs pairs.c
	sed 's/+= ++asked/+= is_read ? ++asked : 0/; s/^int clock/static int is_read;\n&/' "$root/tests/programs/terminal/fast_clock.c" >clock.c
	cat >>clock.c <<-'END'
		int madvise(void *from, size_t bytes, int how)
		{
			is_read |= how == 2; /* MADV_SEQUENTIAL */
			return (int)syscall(SYS_madvise, from, bytes, how);
		}
	END
	${CC:-cc} -shared -fPIC -o clock.so clock.c
	rm trace.fxt
	TERM=xterm LD_PRELOAD=$PWD/clock.so script -qec 'stty cols 80 rows 50; fxtrun --heap=objects -o trace.fxt ./pairs' /dev/null </dev/null |
		shown >screen
	cat screen
	[ "$(grep -cE '^reading +[0-9]+% \[' lines)" -ge 2 ]
	[ "$(grep -c reading screen)" = 0 ]
	[ "$(head -n 1 screen)" = 'all pairs' ]
	grep -q '^fxtrun: 100,.* events, .*: trace.fxt$' screen
	LD_PRELOAD=$PWD/clock.so fxtrun --heap=objects -o trace.fxt ./pairs >out 2>err
	[ "$(cat out)" = 'all pairs' ]
	[ "$(wc -l <err)" = 1 ]
	fails grep reading err
}
