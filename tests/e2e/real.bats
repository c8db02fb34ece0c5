#!/usr/bin/env bats
# Programs of the world, Lua and SQLite, built from the sources of this Debian release: traced, they do what they do
# bare, and every call of every function is in the trace, by an independent count (tests/real/counter.c).

load helpers

# counted PROGRAM ARGUMENT...: "function<tab>calls" for every function of the program that is called, sorted.
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
