#!/usr/bin/env bats
# Programs of the world, Lua, SQLite, sed, ninja and redis, built from the sources of this
# Debian release: traced, they do what they do bare, and every call of every function is in
# the trace, by an independent count (tests/real/counter.c, or what the program counts
# itself). The viewer's importer and fxt agree about them.

load helpers
load heap

# counted PROGRAM ARGUMENT...: "function<tab>calls" for every function of the program that
# is called, sorted.
counted()
{
	mkdir -p counted
	(cd counted && COUNTER_OUTPUT=$BATS_TEST_TMPDIR/counts LD_PRELOAD=$build/real/counter.so "$@") \
		</dev/null >/dev/null 2>&1 || true
	nm "$1" | awk '
		FILENAME == "-" && $2 ~ /^[tTwW]$/ { name[$1] = $3 }
		FILENAME != "-" { calls[$1 in name ? name[$1] : $1] += $2 }
		END { for (f in calls) print f "\t" calls[f] }' - counts | sort
}

# every_call PROGRAM ARGUMENT...: as it is bare, sound, and every call recorded.
every_call()
{
	[ -x "$1" ] || skip "no source package of ${1##*/} could be reached"
	same_as_bare "$@"
	sound trace.fxt
	counted "$@" >expected
	[ "$(wc -l <expected)" -gt 100 ]
	diff expected <(calls_by_name trace.fxt)
}

@test "lua, n queens: every call" {
	every_call "$build/real/lua" "$root/tests/real/queens.lua"
}

@test "lua, strings: every call" {
	every_call "$build/real/lua" "$root/tests/real/strings.lua"
}

@test "lua, garbage collection: every call" {
	every_call "$build/real/lua" "$root/tests/real/garbage.lua"
}

@test "lua, errors and coroutines (longjmp): every call" {
	every_call "$build/real/lua" "$root/tests/real/jumps.lua"
}

@test "lua, a script that fails: status, message and every call" {
	echo 'local t = {} ; t.x.y = 1' >broken.lua
	every_call "$build/real/lua" "$BATS_TEST_TMPDIR/broken.lua"
	grep -q 'attempt to index' bare.err
}

@test "sqlite, a shop: every call" {
	every_call "$build/real/sqlite3" shop.db ".read $root/tests/real/shop.sql"
	grep -q 'UNIQUE constraint failed' bare.err
}

@test "sqlite, a shop, in a buffer that fills and is saved hundreds of times: every call" {
	options=--buffer-size=64K
	every_call "$build/real/sqlite3" shop.db ".read $root/tests/real/shop.sql"
}

# in_the_viewer TRACE: every arrow that the viewer draws leads from a cause to its effect,
# and its heaps are fxt heap's.
in_the_viewer()
{
	needs_viewer
	[ "$(viewer "$1" "SELECT count(*) FROM flow JOIN slice o ON o.id = slice_out JOIN slice i ON i.id = slice_in
		WHERE o.ts > i.ts OR i.name NOT IN ('woken', 'thread begins')")" = 0 ]
	heaps_in_the_viewer "$1"
}

@test "sed, regular expressions: every call, and its heap" {
	printf 'hello world\nfoo bar\n%.0s' $(seq 20) >"$BATS_TEST_TMPDIR/lines"
	options=--heap=objects
	every_call "$build/real/sed" -n -e 's/\(o\)\(.\)/\2\1/gp;$=' "$BATS_TEST_TMPDIR/lines"
	in_the_viewer trace.fxt
}

@test "ninja, a build of 24 files: a child for each, by its own and the trace's count" {
	[ -x "$build/real/ninja" ] || skip "no source package of ninja could be reached"
	{
		echo 'rule copy'
		echo '  command = cp $in $out'
		for i in $(seq 24); do
			echo "build $i: copy $((i % 4 ? i - 1 : 0))"
		done
	} >rules
	: >0
	same_as_bare sh -c "cp ../rules build.ninja; : >0; '$build/real/ninja' -j 1; '$build/real/ninja' -n; ls"
	sound trace.fxt
	grep -qF '[24/24]' bare.out
	[ "$(calls_by_name trace.fxt | grep '^Subprocess::Start(' | cut -f 2)" = 24 ]
	fxtrun --heap=objects -o heap.fxt "$build/real/ninja" -f rules -t graph >graph
	[ "$(grep -c 'label=" copy"' graph)" = 24 ]
	in_the_viewer heap.fxt
}

@test "redis under load, with a child that saves and threads that free: each command that it counted" {
	[ -x "$build/real/redis/redis-server" ] || skip "no source package of redis could be reached"
	PATH=$build/real/redis:$PATH
	fxtrun --heap=objects -o trace.fxt redis-server --port 0 --unixsocket "$PWD/socket" --save '' >out 2>err 3>&- &
	await 'ready to accept connections' out
	redis-benchmark -s socket -n 300 -c 10 -q -t set,lpush,lrange_100 >/dev/null
	redis-cli -s socket bgsave
	await 'Background saving terminated with success' out
	redis-cli -s socket flushall async
	redis-cli -s socket info commandstats | sed -nE 's/^cmdstat_(set|lpush|lrange):calls=([0-9]+),.*/\1Command\t\2/p' | sort >counted
	redis-cli -s socket shutdown nosave || true
	wait $!
	grep -q ' 2 processes, 0 lost' err
	[ "$(wc -l <counted)" = 3 ]
	sound trace.fxt
	calls_by_name trace.fxt | grep -E '^(set|lpush|lrange)Command\b' | diff counted -
	in_the_viewer trace.fxt
	# Its three threads for the background waited for work, and two got some.
	[ "$(viewer trace.fxt "SELECT count(*) > 0 FROM flow JOIN slice i ON i.id = slice_in JOIN slice w ON w.id = i.parent_id
		WHERE w.name = 'pthread_cond_wait'")" = 1 ]
}
