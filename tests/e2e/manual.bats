#!/usr/bin/env bats
# The examples of the manual page: what stands below each command is what it prints.

load helpers

@test "each example prints what the manual page shows; make manual writes it anew" {
	"$root/tests/manual" "$build" "$root/doc/fxt.1"
}

@test "an answer that is not the page's is told, with the command" {
	sed 's/^trace.fxt: 1302 calls/trace.fxt: 1303 calls/' "$root/doc/fxt.1" >page
	fails "$root/tests/manual" "$build" page >out
	grep -q '^-trace.fxt: 1303 calls of 11 functions' out
	grep -q '^+trace.fxt: 1302 calls of 11 functions' out
	"$root/tests/manual" "$build" --write page
	diff page "$root/doc/fxt.1"
}

@test "every command has an example, but for two that print nothing" {
	fxt --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | grep -vx -e tui -e view >commands
	[ "$(wc -l <commands)" -gt 15 ]
	while read -r command; do
		grep -q "^\$ fxt $command\b" "$root/doc/fxt.1" || { echo "no example of fxt $command" && false; }
	done <commands
}

@test "the traces are those of the program that is said to have made them" {
	for trace in trace old; do
		zstd -dq "$root/doc/manual/$trace.fxt.zst" -o $trace.fxt
		diff <(calls_by_name $trace.fxt) <(reported_calls $trace.fxt)
		calls_by_name $trace.fxt | cut -f 1 >functions
		[ "$(wc -l <functions)" = 11 ]
		while read -r function; do
			grep -q "^[a-z].*\b$function(" "$root/doc/manual/shop.c"
		done <functions
	done
	cp "$root/doc/manual/shop.c" .
	sh -ec "$(sed -n 's/^ \* *\(gcc .*\)/\1/p' shop.c)"
	[ -x shop ]
}
