#!/usr/bin/env bats
# Calls that are excluded, by name, source file or module. The truth is the same program's
# whole trace, from which the calls are picked by their names afterwards.

load helpers

setup_file()
{
	local programs=$BATS_TEST_DIRNAME/../programs/filters

	cd "$BATS_FILE_TMPDIR"
	${CXX:-c++} -O2 -g -finstrument-functions -o shop "$programs/shop.cc" -ldl
	${CC:-cc} -O2 -g -finstrument-functions -fPIC -shared -o plugin.so "$programs/plugin.c"
}

# whole COMMAND...: what every test begins with, its trace without a filter.
whole()
{
	command=("$@")
	fxtrun -o whole.fxt "$@" >out 2>err || true
	[ -s whole.fxt ]
}

# leaves AWK-CONDITION OPTION...: with these options the trace has the calls of those
# functions $1 alone that the condition holds for, each as often as it was called.
leaves()
{
	local condition=$1

	shift
	fxtrun -o some.fxt "$@" "${command[@]}" >out 2>err || true
	grep -q ' 0 lost, ' err
	decode check some.fxt >checked || [ "$(grep -v '^0' checked | cut -f2)" = calls:left_open ]
	fxt check some.fxt
	diff <(calls_by_name whole.fxt | awk -F'\t' "$condition") <(calls_by_name some.fxt)
	fails grep 'matches no function' err
}

shop()
{
	whole "$BATS_FILE_TMPDIR/shop" "$@"
}

@test "C++: names in full, without parameters, without template arguments; regular expressions; exclude wins" {
	shop rounds 1000
	leaves '$1 == "parse(int)" || $1 == "walk(int)"' --include=parse --include=walk
	leaves '$1 ~ /Cart<.*::put/' --include=put
	leaves '$1 ~ /^shop::Cart/ && $1 !~ /::operator[+]=/' --include='shop::Cart*' --exclude='operator+='
	leaves '$1 ~ /operator</' --include='operator<'
	leaves '$1 !~ /hidden/' --exclude='shop::(anonymous namespace)::hidden*'
	leaves '$1 ~ /double/' --include='/<double>/'
	leaves '$1 == "walk(int)"' --include='/^(walk|parse)/' --exclude='/^parse/'
}

@test "a file of patterns; by source file and by module, one of them loaded late" {
	shop plugin "$BATS_FILE_TMPDIR/plugin.so" 1000
	cat >patterns <<-END
		# what is of interest
		include *parse*
		 exclude   parse(int)
	END
	leaves '$1 == "parse"' --filter-file=patterns
	leaves '$1 ~ /^(parse|helper|plugin_work)$/' --include=file:plugin.c
	leaves '$1 !~ /^(parse|helper|plugin_work)$/' --exclude=module:plugin.so
	leaves '$1 == "helper"' --include=module:/plugin/ --exclude='p*'
}

@test "in buffers of every mode and the smallest size, in forked children" {
	shop fork 3000
	leaves '$1 == "walk(int)" || $1 == "main"' --include=walk --include=main
	leaves '$1 ~ /main|round/' --include='*round*' --include=main --buffer-size=64K
	leaves '$1 ~ /main|round/' --include='*round*' --include=main --buffering-mode=oneshot --buffer-size=16M
	leaves '$1 ~ /main|round/' --include='*round*' --include=main --buffering-mode=circular --buffer-size=16M
	leaves '$1 != "walk(int)"' --exclude=walk --no-sched --heap=objects
}

@test "killed: open calls of excluded functions are not written" {
	shop kill 10
	calls_by_name whole.fxt | grep -q 'walk'
	leaves '$1 == "parse(int)"' --include=parse
	leaves '$1 !~ /walk/' --exclude='*walk*'
}

@test "a circular buffer keeps the calls of the functions that are recorded, not those of the busy rest" {
	shop rounds 100000
	fxtrun -o some.fxt --buffering-mode=circular --buffer-size=256K --include=main --include=rounds "${command[@]}" 2>err
	diff <(calls_by_name some.fxt) <(printf 'main\t1\nrounds(int)\t1\n')
}

@test "lua: by name, and by source file" {
	[ -x "$build/real/lua" ] || skip "no source package of lua could be reached"
	whole "$build/real/lua" "$root/tests/real/queens.lua"
	leaves '$1 ~ /^luaH_/' --include='luaH_*'
	leaves '$1 !~ /^lua[VD]_/' --exclude='/^lua[VD]_/'
	nm -l "$build/real/lua" | sed -n 's|^[0-9a-f]* [tT] \([^ ]*\)\t.*/lgc\.c:.*|\1|p' >of_gc
	[ "$(wc -l <of_gc)" -gt 20 ]
	fxtrun -o some.fxt --include=file:lgc.c "${command[@]}" >out
	diff <(calls_by_name whole.fxt | awk -F'\t' 'NR == FNR { gc[$1]; next } $1 in gc' of_gc -) <(calls_by_name some.fxt)
}

@test "sqlite: a list of functions" {
	[ -x "$build/real/sqlite3" ] || skip "no source package of sqlite3 could be reached"
	whole "$build/real/sqlite3" shop.db ".read $root/tests/real/shop.sql"
	calls_by_name whole.fxt | awk -F'\t' 'NR % 3 == 0 { print "exclude " $1 }' >patterns
	[ "$(wc -l <patterns)" -gt 100 ]
	rm -f shop.db
	fxtrun -o some.fxt --filter-file=patterns "${command[@]}" >out || true
	diff <(calls_by_name whole.fxt | awk -F'\t' 'NR % 3') <(calls_by_name some.fxt)
}

@test "messages: patterns that are wrong or match nothing, names that are not available" {
	says 125 "fxtrun: --include=/[/: Invalid regular expression" fxtrun --include='/[/' true
	says 125 "fxtrun: --exclude=file:: is empty" fxtrun --exclude=file: true
	says 125 "fxtrun: --filter-file=none: No such file or directory" fxtrun --filter-file=none true
	printf 'include a\n\nomit b\n' >patterns
	says 125 "fxtrun: --filter-file=patterns: line 3 must begin with include, exclude, only-under or not-under" fxtrun --filter-file=patterns true
	says 125 "fxtrun: filters need the names of functions, which --raw leaves out: use one or the other" \
		fxtrun --raw --include=a true
	fxtrun --include=main --exclude=sorce "$BATS_FILE_TMPDIR/shop" rounds 1 >out 2>err
	grep -qx 'fxtrun: --exclude=sorce matches no function that was called' err
	LD_PRELOAD=$build/libfxtagent.so FXT_EXCLUDE=main FXT_OUTPUT=alone.fxt "$BATS_FILE_TMPDIR/shop" rounds 1 >out 2>err
	grep -qx 'fxt: FXT_EXCLUDE needs fxtrun, which knows the names of functions (fxtrun --include, --exclude); all are recorded' err
	[ "$(calls_of alone.fxt main)" = 1 ]
}

# inside OPTION...: with these options, the trace has the calls that the filter of the whole
# trace leaves. Their patterns are regular expressions for tests/independent/filter.py, and
# go to fxtrun between slashes.
inside()
{
	local arguments=() option

	for option; do
		case $option in -[FN]) arguments+=("$option") ;; -D) arguments+=(-D) ;; [0-9]*) arguments+=("$option") ;;
		*) arguments+=("/^($option)\$/") ;; esac
	done
	decode slices whole.fxt >slices
	python3 "$root/tests/independent/filter.py" slices "$@" | sort >expected
	fxtrun -o some.fxt $options "${arguments[@]}" "${command[@]}" >out 2>err || true
	grep -q ' 0 lost, ' err
	decode check some.fxt >checked || [ "$(grep -v '^0' checked | cut -f2)" = calls:left_open ]
	fxt check some.fxt
	diff expected <(calls_by_name some.fxt)
}

@test "only under functions, not under functions, to a depth, and together" {
	shop rounds 300
	inside -F 'walk.int.'
	inside -N 'walk.int.'
	inside -D 1
	inside -D 3
	inside -F 'round_of_calls.*|parse.*' -D 2
	inside -F 'walk.*' -D 1
	inside -F 'rounds.*' -N '.*put.*' -D 4
	inside -N 'main'
	[ ! -s expected ]
	options=--buffer-size=64K inside -F 'walk.*' -D 2
	options=--buffering-mode=oneshot inside -F '.*lambda.*'
}

@test "the same in forked children, in a process that kills itself, in threads" {
	shop fork 100
	inside -F 'round_of_calls.*' -D 2
	shop kill 3
	inside -F 'walk.*' -N '.*parse.*'
	inside -D 2
	whole "$build/examples/raytracer"
	inside -F 'shade.*' -D 3
	inside -N 'shade.*'
}

@test "the same where calls are left by longjmp and made in coroutines: lua" {
	[ -x "$build/real/lua" ] || skip "no source package of lua could be reached"
	whole "$build/real/lua" "$root/tests/real/jumps.lua"
	inside -D 5
	inside -F 'luaV_execute' -D 3
	inside -N 'luaD_call.*'
}

@test "a call in a coroutine has its time, even if the thread is in an excluded call of that function" {
	compiled filters/resumed.c
	fxtrun --not-under=hidden -o some.fxt ./program
	decode times some.fxt | awk -F'\t' '$4 == "resume_or_work" { calls++; time = $6 } END { exit !(calls == 1 && time >= 1900000) }'
}
