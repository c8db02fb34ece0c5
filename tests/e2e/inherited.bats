#!/usr/bin/env bats
# A forked child's calls are inside those it was made in, which are its parent's and counted
# only there. The program counts its calls by itself; the independent decoder and the
# viewer's importer say which call is inside which.

load helpers
load paths

setup_file()
{
	${CC:-cc} -O2 -g -D_GNU_SOURCE -fno-optimize-sibling-calls -finstrument-functions -pthread \
		-o "$BATS_FILE_TMPDIR/inherit" "$BATS_TEST_DIRNAME/../programs/processes/inherit.c"
}

# inherits HOW [OPTION...]: a trace of the program in which every call is counted once.
inherits()
{
	local how=$1

	shift
	timeout 120 fxtrun --no-sched "$@" -o trace.fxt "$BATS_FILE_TMPDIR/inherit" "$how" >counted 2>said
	fxt check trace.fxt
}

# The outermost paths, by name, of all threads: "path<tab>calls", of functions alone.
outermost()
{
	decode paths trace.fxt | awk -F'\t' '$3 == "function" && $4 !~ /;/ { n[$4] += $5 } END { for (p in n) print p "\t" n[p] }' | sort
}

# calls_on PATH: how often the last function of the path was called there.
calls_on()
{
	decode paths trace.fxt | awk -F'\t' -v path="$1" '$3 == "function" && $4 == path { n += $5 } END { print n + 0 }'
}

@test "however a child leaves the calls it was made in, they are around its own and count for the parent alone" {
	for how in return exit killed jump twice thread again forkpty unhandled; do
		echo "# $how"
		inherits "$how"
		sort counted | diff - <(calls_by_name trace.fxt)
		diff <(calls_by_name trace.fxt) <(reported_calls trace.fxt)
		[ -z "$(decode check trace.fxt | grep -v -e ^0 -e calls:left_open)" ]
		[ "$how" = killed ] || decode check trace.fxt
		outermost | grep -v in_thread | diff - <(printf 'main\t1\n')
		[ "$(calls_on 'main;serve;serve;serve;handle')" = "$(awk '$1 == "handle" { print $2 }' counted)" ]
		fxt tree --csv --fold=0 trace.fxt | tree_paths >paths
		decoded_paths trace.fxt >decoded
		alike decoded paths
	done
}

@test "they are open from the child's birth until it returns from them, or until it is left with them open" {
	inherits return
	decode slices trace.fxt | python3 -c '
import sys
rows = [line.rstrip("\n").split("\t") for line in sys.stdin]
child, = {row[1] for row in rows if row[2] == "inherited"}
parent = {row[3]: row for row in rows if row[1] != child}
inherited = [row for row in rows if row[1] == child and row[2] == "inherited"]
assert [row[3] for row in inherited] == ["main", "serve", "serve", "serve", "begin_child"], inherited
calls = {row[3]: row for row in rows if row[1] == child and row[2] == "function"}  # work: the last of them
start = lambda row: int(row[4])
end = lambda row: int(row[5])
fork = parent["fork"]
assert all(start(fork) < start(row) < start(calls["handle"]) for row in inherited)
assert end(inherited[4]) <= start(calls["handle"])
assert all(end(calls["handle"]) < end(row) <= start(calls["work"]) for row in inherited[1:4])
assert end(calls["work"]) <= end(inherited[0])'
	inherits killed
	[ "$(decode slices trace.fxt | awk -F'\t' '$3 == "inherited" && $6 == "" { print $4 }' | xargs)" = "main serve serve serve" ]
	fxt last trace.fxt | grep -c '  serve (inherited)' | grep -qx 3
	inherits exec
	[ "$(decode slices trace.fxt | awk -F'\t' '$3 == "inherited" && $6 != ""' | wc -l)" = 5 ]
	[ "$(outermost)" = $'main\t2' ]
}

@test "in a child whose first call is that of a library's fork handler, inherited calls begin before it" {
	compiled processes/handlers.c -fPIC -shared
	mv program handlers.so
	compiled processes/inherit.c -Wl,--no-as-needed ./handlers.so
	fxtrun --no-sched -o trace.fxt ./program return
	fxt check trace.fxt
	decode slices trace.fxt | awk -F'\t' '
		$4 == "fork" { begin = $5 }
		$3 == "inherited" { n++; if ($5 < first || n == 1) first = $5 }
		$3 == "inherited" && $5 > last { last = $5 }
		$4 == "in_child" { calls++; called = $5 }
		END { exit !(n == 5 && calls == 1 && first > begin && last < called) }'
}

@test "a child of the clone() that a program makes by itself has none" {
	inherits raw
	sort counted | diff - <(calls_by_name trace.fxt)
	decode check trace.fxt
	outermost | diff - <(printf 'handle\t1\nmain\t1\nwork\t1\n')
	decode slices trace.fxt | fails grep inherited
}

@test "filters by caller apply inside inherited calls too" {
	inherits return --only-under=handle
	[ "$(outermost)" = $'handle\t1' ]
	inherits return --only-under=begin_child
	[ "$(outermost)" = $'begin_child\t1' ]
	inherits return --only-under=serve
	[ "$(calls_by_name trace.fxt | xargs)" = "begin_child 1 handle 1 serve 3 work 3" ]
	[ "$(calls_on 'serve;serve;serve;handle;work')" = 3 ]
	inherits return --not-under=serve
	[ "$(calls_by_name trace.fxt | xargs)" = "main 1 work 1" ]
	[ "$(calls_on 'main;work')" = 1 ]
	inherits return --depth=3
	[ "$(calls_by_name trace.fxt | xargs)" = "main 1 serve 2 work 1" ]
	inherits return --depth=5
	[ "$(calls_by_name trace.fxt | xargs)" = "begin_child 1 handle 1 main 1 serve 3 work 1" ]
	inherits return --exclude=serve
	[ "$(calls_by_name trace.fxt | xargs)" = "begin_child 1 handle 1 main 1 work 4" ]
	[ "$(calls_on 'main;handle;work')" = 3 ]
}

@test "short elided calls are counted once, inside inherited calls too" {
	inherits many --min-duration=1ms
	sort counted | diff - <(decode whole trace.fxt | cut -f 1,2 | sort)
	[ "$(outermost)" = $'main\t1' ]
	# Calls that are short themselves, with nothing recorded inside them, are not shown.
	inherits return --min-duration=100s
	[ "$(calls_by_name trace.fxt | xargs)" = "begin_child 1 main 1 serve 3" ]
	decode slices trace.fxt | fails grep inherited
}

@test "recorded and lost calls are those that were made: inherited ones are neither" {
	for mode in --buffering-mode=oneshot --buffering-mode=circular --on-full=drop; do
		echo "# $mode"
		inherits many "$mode" --buffer-size=1
		made=$(awk '{ n += $2 } END { print n }' counted)
		recorded=$(calls_by_name trace.fxt | awk -F'\t' '{ n += $2 } END { print n }')
		missing=$(grep -o '[0-9,]* \(lost\|overwritten\)' said | tr -d , | awk '{ n += $1 } END { print n }')
		echo "# $made made, $recorded recorded, $missing missing"
		[ "$missing" -gt 0 ] || [ "$mode" = --on-full=drop ] # the disk may be quick enough
		[ $((recorded + missing)) = "$made" ]
	done
}

@test "blocks allocated inside inherited calls have their path" {
	inherits allocate --heap=objects
	sort counted | diff - <(calls_by_name trace.fxt)
	fxt export --to=folded --cost=allocated -o - trace.fxt >folded
	[ "$(grep -c 'main;serve;serve;serve 1000$' folded)" = 1 ]
	[ "$(grep -c 'main;serve;serve;serve;handle;work 3000$' folded)" = 1 ]
}

@test "every command shows inherited calls as context, and counts none" {
	inherits return
	fxt info trace.fxt | grep -q '^10 calls,'
	fxt sql --csv 'select count(*) from calls' trace.fxt | grep -qx rows,10
	fxt sql --csv "select caller_function from calls where function = 'handle'" trace.fxt | grep -q '^rows,"*serve"*$'
	fxt sql --csv "select count(*) from slices where category = 'inherited'" trace.fxt | grep -qx rows,5
	fxt report --callers=handle --csv trace.fxt | rows callers name calls | diff - <(printf 'serve\t1\n')
	fxt slow begin_child trace.fxt | grep -q 'begin_child: one call'
	fxt export --to=folded --cost=calls -o - trace.fxt | awk '{ n += $NF } END { exit n != 10 }'
	fxt export --to=folded --cost=calls -o - trace.fxt | grep -q '^main;serve;serve;serve;handle;work 3$'
	fxt replay trace.fxt | grep -c '/\* serve \*/ {' | grep -qx 3
}

@test "the viewer has a child's calls inside inherited ones" {
	needs_viewer
	inherits return
	[ "$(viewer trace.fxt "select c.name, p.name, p.category from slice c join slice p on c.parent_id = p.id where c.name = 'handle'" | tail -1)" = $'handle\tserve\tinherited' ]
	[ "$(viewer trace.fxt "select count(*) from slice where category = 'inherited' and dur >= 0" | tail -1)" = 5 ]
	[ "$(viewer trace.fxt "select count(*) from stats where value > 0 and severity != 'info'" | tail -1)" = 0 ]
}
