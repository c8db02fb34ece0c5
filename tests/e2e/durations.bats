#!/usr/bin/env bats
# Calls that are elided because they are short or too many, and kept as sums. The truth is
# in the program's own counts, in the rules that the times of calls always keep, and in the
# independent decoder's sums.

load helpers

setup_file()
{
	cd "$BATS_FILE_TMPDIR"
	${CC:-cc} -O2 -g -finstrument-functions -o brief "$BATS_TEST_DIRNAME/../programs/filters/brief.c" -lpthread
}

# brief LEAST OPTION...: records the program with the options. Checks that the trace is
# valid, that recorded and elided calls add up to those made, that fxt report has the sums,
# and that no call shorter than LEAST nanoseconds is there without a reason; for some
# functions the limit is that of `own`.
brief()
{
	local least=$1

	shift
	rm -f counts
	fxtrun -o some.fxt "$@" "$BATS_FILE_TMPDIR/brief" counts "${arguments[@]}" >out 2>err || true
	"$BATS_FILE_TMPDIR/brief" counts | sort >made
	decode check some.fxt >checked || [ "$(grep -v '^0' checked | cut -f2)" = calls:left_open ]
	fxt check some.fxt
	decode whole some.fxt >whole
	diff <(cut -f1,2,4,5 whole) <(fxt report --csv some.fxt 2>notes | rows functions name calls total_ns self_ns | sort)
	fxt report --json some.fxt | jq '.traces[].tables[].rows[] | select(.on_cpu_ns and .on_cpu_ns + .off_cpu_ns > .self_ns + 3)' >impossible
	[ ! -s impossible ]
	decode times some.fxt >times
	python3 "$root/tests/independent/short.py" times "$least" "${own[@]}" >short
	[ ! -s short ]
}

# brief_each TIME...: the same with each of these times; the reported sums are those of the
# calls made.
brief_each()
{
	for time; do
		brief 0 -t "$time"
		diff made <(cut -f1,2 whole)
	done
}

# A call's time is its own and that of what it calls: what wrap() calls is rec() alone. Each
# time is rounded down once.
adds_up()
{
	awk -F'\t' '
		{ total[$1] = $4; self[$1] = $5 }
		END { off = total["wrap"] - self["wrap"] - total["rec"]; exit off < -3 || off > 3 }' whole
}

@test "made = recorded + elided, by function; all times add up: in every mode, in threads" {
	arguments=(plain 3 100)
	for option in --buffer-size=64K --buffering-mode=oneshot --buffering-mode=circular; do
		brief 500000 -t 500us "$option"
		grep -q ' 0 lost, .*([0-9,]* calls elided, ' err
		diff made <(cut -f1,2 whole)
		adds_up
		awk -F'\t' '$1 == "leaf" { l = $3 } $1 == "slow" { s = $3 } END { exit l < 20000 || s != 0 }' whole
	done
	arguments=(plain 0 200)
	brief 990 --min-duration=1us # the rate of the clock is known better at the end than at the start
	diff made <(cut -f1,2 whole)
	adds_up
	brief 1000000000 -t 1h --categories=function
	diff made <(cut -f1,2 whole)
	[ -z "$(calls_by_name some.fxt)" ]
	adds_up
}

@test "made = recorded + elided with waits, jumps over calls, handlers inside hooks, forked children" {
	arguments=(mixed 2 100)
	brief_each 1us 50us 500us
}

@test "made = recorded + elided when the process kills itself" {
	arguments=(kill 0 100)
	brief_each 1us
	grep -q ' 0 lost, ' err
	brief_each 500us
	grep -q ' 0 lost, ' err
}

@test "made = recorded + elided with threads and images that come and go" {
	arguments=(ends 100 3)
	brief_each 1us 1h
}

# brief_losing OPTION...: the same as brief, with records that are lost or overwritten in
# addition: the sum is exact. Lost records may be events that are not calls.
brief_losing()
{
	rm -f counts
	fxtrun -o some.fxt "$@" "$BATS_FILE_TMPDIR/brief" counts "${arguments[@]}" >out 2>err || true
	decode whole some.fxt >whole
	lost=$(tr -d , <err | sed -nE 's/.* ([0-9]+) lost.*/\1/p')
	over=$(tr -d , <err | sed -nE 's/.* ([0-9]+) overwritten.*/\1/p')
	[ $((lost + over)) -gt 0 ]
	made=$("$BATS_FILE_TMPDIR/brief" counts | awk -F'\t' '{ n += $2 } END { print n }')
	told=$(awk -F'\t' '{ n += $2 } END { print n }' whole)
	[ $((told + lost + over)) -ge "$made" ]
	[ $((told + lost + over)) -le $((made + 40)) ]
	fxt check some.fxt
}

@test "calls nested too deep are lost in addition: the sum is exact, and no time is counted twice" {
	arguments=(deep 80 1500)
	brief_losing -t 1h --categories=function,sync
	awk -F'\t' '$5 < 0 || $4 < $5 { exit 1 }' whole
}

@test "calls are lost or overwritten in addition: the sum is exact" {
	arguments=(plain 2 2000)
	for option in oneshot circular; do
		brief_losing -t 1us --categories=function --buffering-mode=$option --buffer-size=64K
	done
	# If a trace has the end alone, the sums of the whole are reported separately.
	fxt report some.fxt | grep -q '^without the calls that fxtrun elided'
}

# is_told FUNCTION AWK-CONDITION: how many of its n calls were elided.
is_told()
{
	awk -F'\t' -v name="$1" '$1 == name { n = $2; left = $3; found = 1 } END { exit !(found && ('"$2"')) }' whole
}

@test "some functions have their own minimum, the last one that matches; beside a general one, or alone" {
	arguments=(plain 2 100)
	for option in --buffer-size=64K --buffering-mode=oneshot --buffering-mode=circular; do
		own=(slow=3600000000000 wrap=0 leaf=0)
		brief 500000 -t 500us -t 'slow:1h' -t '/^(wrap|leaf)$/:0us' "$option"
		diff made <(cut -f1,2 whole)
		adds_up
		is_told leaf 'left == 0'
		is_told wrap 'left == 0'
		is_told peek 'left > 0'
		# leaf() is inside each of these, so they are recorded, however short they
		# are.
		is_told slow 'left == 0'
		own=(leaf=3600000000000 slow=3600000000000 peek=0)
		brief 0 -t 'le?f:0us' -t 'file:brief.c:0us' -t 'module:brief:1h' -t '[!ls]*:0us' "$option"
		diff made <(cut -f1,2 whole)
		is_told leaf 'left == n'
		is_told rec 'left == 0'
		fails grep 'matches no function' err
	done
}

@test "the same with jumps, handlers and forked children, in images, when the process kills itself" {
	own=()
	for mode in 'mixed 2' 'ends 100' 'kill 0'; do
		arguments=($mode 50)
		brief 0 -t leaf:1h -t rec:20us
		diff made <(cut -f1,2 whole)
		is_told leaf 'left > n / 2'
		is_told rec 'left < n'
	done
}

# first CALLS OPTION...: the same as brief; of no function a call is there that is not among
# the first so many and has nothing inside.
first()
{
	local calls=$1

	shift
	own=()
	brief 0 "$@"
	diff made <(cut -f1,2 whole)
	python3 "$root/tests/independent/beyond.py" times "$calls" >beyond
	[ ! -s beyond ]
}

@test "the first calls of each function, the others in sums: in every mode, in threads; times add up" {
	arguments=(plain 3 100)
	for option in --buffer-size=64K --buffering-mode=oneshot --buffering-mode=circular; do
		first 20 --max-calls=20 "$option"
		grep -q ' 0 lost, .*([0-9,]* calls elided, ' err
		adds_up
		is_told leaf 'n - left == 20'
		is_told peek 'n - left >= 20' # inside of a few is a wait
		is_told rec 'n - left >= 20 && n - left < 60'
		is_told slow 'left == 0' # a wait is inside of each
	done
	first 0 --max-calls=0 --categories=function
	[ -z "$(calls_by_name some.fxt)" ]
	adds_up
	arguments=(plain 0 100)
	first 1000000 --max-calls=1000000
	is_told leaf 'left == 0'
}

@test "the first calls of some functions; together with a time" {
	arguments=(plain 1 100)
	first 1000000 --max-calls=leaf:7 --max-calls='/^re/:0'
	is_told leaf 'n - left == 7'
	is_told rec 'n - left < 1000' # leaf() is inside of the others
	is_told wrap 'left == 0'
	first 30 --max-calls=20 --max-calls='w*:1000000' --max-calls=wrap:30
	is_told leaf 'n - left == 20'
	is_told wrap 'n - left >= 30 && n - left < 90'
	first 1000000 --max-calls='leaf:20' -t 1h -t leaf:0us --categories=function
	is_told leaf 'n - left == 20'
	is_told peek 'n == left'
	[ "$(calls_by_name some.fxt | awk -F'\t' '$1 == "main" || $1 == "work"')" ] # leaf() is inside of these
	brief 0 --max-calls=leaf:20 --include=leaf --include=peek
	diff <(grep -E 'leaf|peek' made) <(cut -f1,2 whole)
	is_told leaf 'n - left == 20'
	is_told peek 'left == 0'
}

@test "the first calls of each process: with jumps, handlers and forked children, in images, when it kills itself" {
	own=()
	for mode in 'mixed 2' 'ends 100' 'kill 0'; do
		arguments=($mode 50)
		brief 0 --max-calls=10
		diff made <(cut -f1,2 whole)
		is_told leaf 'left > n / 2'
	done
	# No handler came in between in the last of these.
	python3 "$root/tests/independent/beyond.py" times 10 >beyond
	[ ! -s beyond ]
}

@test "the first calls of each recording: a start that clears restarts the count" {
	fxtrun --max-calls=100 --session=first -o end.fxt "$BATS_FILE_TMPDIR/brief" counts plain 0 1000000 >out 2>err 3>&- &
	job=$!
	until fxtctl --session=first status >status 2>&1 && grep -q STARTED status; do kill -0 "$job"; done
	for run in 1 2 3; do
		fxtctl --session=first stop --write-results
		fxtctl --session=first start
		until=$("$BATS_FILE_TMPDIR/brief" counts | awk -F'\t' '$1 == "leaf" { print $2 + 1000 }')
		until [ "$("$BATS_FILE_TMPDIR/brief" counts | awk -F'\t' '$1 == "leaf" { print $2 }')" -gt "$until" ]; do kill -0 "$job"; done
	done
	fxtctl --session=first terminate
	wait "$job" || true
	fxt check end.fxt
	[ "$(calls_of end.fxt leaf)" -ge 300 ]
	[ "$(calls_of end.fxt leaf)" -le 400 ]
}

@test "with other filters: calls that they exclude are in no sum" {
	arguments=(plain 1 50)
	brief 500000 -t 500us --exclude=leaf
	diff <(grep -v leaf made) <(cut -f1,2 whole)
	brief 500000 -t 500us -F rec
	awk -F'\t' '$1 == "slow" { s = $2 } $1 == "leaf" { l = $2 } $1 == "rec" { print } END { print "leaf\t" l - s }' made | sort >expected
	diff expected <(cut -f1,2 whole)
	brief 500000 -t 500us -D 2 -F wrap
	awk -F'\t' '$1 == "wrap" { print "rec\t" $2 "\n" $0 }' made >expected
	diff expected <(cut -f1,2 whole)
	brief 500000 -t 500us -N wrap
	awk -F'\t' '$1 == "slow" { s = $2 } $1 !~ /leaf|wrap|rec/ { print } END { print "leaf\t" s }' made | sort >expected
	diff expected <(cut -f1,2 whole)
}

@test "heap records do not keep calls; a snapshot has the sums too, and each stop that writes results its own" {
	arguments=(plain 1 50)
	brief 500000 -t 500us --heap=objects
	diff made <(cut -f1,2 whole)
	fxtrun -t 1h --buffering-mode=circular --session=durations -o end.fxt "$BATS_FILE_TMPDIR/brief" counts plain 0 1000000 >out 2>err 3>&- &
	job=$!
	until fxtctl --session=durations status >status 2>&1 && grep -q STARTED status; do kill -0 "$job"; done
	until fxtctl --session=durations snapshot -o now.fxt && decode whole now.fxt | grep -q '^rec'; do kill -0 "$job"; done
	fxt check now.fxt
	for run in 1 2 3; do
		fxtctl --session=durations stop --write-results
		fxtctl --session=durations start
	done
	fxtctl --session=durations terminate
	wait "$job" || true
	fxt check end.fxt
	# Each call of rec() and slow() calls leaf() once, except for those open when a run
	# began or ended.
	decode whole end.fxt | awk -F'\t' '{ n[$1] = $2 } END { off = n["leaf"] - n["rec"] - n["slow"]; exit n["rec"] == 0 || off < -8 || off > 8 }'
	# As many as in the end or fewer, and wrap() and rec() as often as the program calls
	# them, except for those open at that moment.
	decode whole now.fxt | awk -F'\t' '{ n[$1] = $2 } END { off = n["rec"] / n["wrap"]; exit off < 5 || off > 6 }'
}

# unknown REASON OPTION...: fxt check cannot tell whether the rule of the options is broken,
# and says why.
unknown()
{
	local reason=$1 got=0

	shift
	fxt check "$@" some.fxt >said || got=$?
	[ "$got" = 3 ]
	grep -q "^unknown .*  $reason\$" said
}

@test "messages: a time without a unit; readers report elided calls" {
	says 125 "fxtrun: --min-duration=10: must be a time with a unit, such as 10us" fxtrun -t 10 true
	says 125 "fxtrun: --min-duration=a::b: must be a pattern and a time with a unit, such as parse:10us" fxtrun -t a::b true
	says 125 "fxtrun: --min-duration=:1ms: is empty" fxtrun -t :1ms true
	says 125 "fxtrun: --min-duration=/[/:1ms: Invalid regular expression" fxtrun -t '/[/:1ms' true
	says 125 "fxtrun: filters need the names of functions, which --raw leaves out: use one or the other" fxtrun --raw -t a:1ms true
	says 125 "fxtrun: --max-calls=-1: must be a number of calls, such as 100" fxtrun --max-calls=-1 true
	says 125 "fxtrun: --max-calls=a:b: must be a pattern and a number of calls, such as parse:100" fxtrun --max-calls=a:b true
	fxtrun -o some.fxt -t sorce:1ms "$BATS_FILE_TMPDIR/brief" counts plain 0 1 2>err
	grep -qx 'fxtrun: --min-duration=sorce:1ms matches no function that was called' err
	arguments=(plain 0 20)
	brief 500000 -t 500us
	calls=$(awk -F'\t' '{ n += $3 } END { print n }' whole)
	says 2 "fxt: some.fxt lacks the cost of elided calls (fxtrun --min-duration, --max-calls); its times cannot be corrected" \
		fxt report --corrected some.fxt
	for command in report tree info check; do
		fxt $command some.fxt | grep -q "elided: $calls calls of 5 functions, "
	done
	fxt flamegraph -o some.svg some.fxt
	grep -q "Calls elided: $calls calls of 5 functions, " some.svg
	fxt html -o some.html some.fxt
	grep -qx "\"calls_left_out\": $calls," some.html
	[ "$(fxt sql --csv 'SELECT calls_left_out FROM trace' some.fxt | tail -n 1)" = "rows,$calls" ]
	fxt report --json some.fxt | grep -q "\"calls_left_out\": *$calls"
	fxt report some.fxt | awk '$NF == "leaf" && / - .* - /' | grep -q .
	unknown "its elided calls are in the trace only as sums" --fail-if='leaf.p50 > 1us'
	# It is not known which of those are in a part of the time, or under a function; but
	# none took 500 us.
	fxt check --fail-if='leaf.calls > 1000000' some.fxt
	fxt check --fail-if='slow.calls > 2' --min=500us some.fxt
	unknown "elided calls are known only as sums over the whole trace" --fail-if='slow.calls > 2' --min=1ns
	unknown "elided calls are known only as sums over the whole trace" --fail-if='slow.calls > 2' --under=main
}
