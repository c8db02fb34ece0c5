#!/usr/bin/env bats
# Calls that end without returning: whatever way they are left, they end there, and what is
# called later is never taken for a part of them.

load helpers

setup_file()
{
	local programs=$BATS_TEST_DIRNAME/../programs/jumps

	for name in longjmp contexts ends; do
		${CC:-cc} -O2 -g -finstrument-functions -pthread -o "$BATS_FILE_TMPDIR/$name" "$programs/$name.c"
	done
	g++ -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/exceptions" "$programs/exceptions.cc"
	clang++ -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/exceptions_clang" "$programs/exceptions.cc" || true
}

# all_calls PROGRAM: as it is bare, sound, and with as many calls as the program counted.
all_calls()
{
	same_as_bare "$BATS_FILE_TMPDIR/$1"
	sound trace.fxt
	diff <(calls_by_name trace.fxt) traced.out
}

# "caller<tab>function" for every pair there is, sorted; the caller of outermost calls is
# "-".
callers()
{
	decode slices trace.fxt | awk -F'\t' -v OFS='\t' '
		$3 != "function" { next }
		$2 != thread { thread = $2; depth = 0 }
		{
			while (depth && ends[depth] <= $5)
				depth--
			print depth ? names[depth] : "-", $4
			names[++depth] = $4
			ends[depth] = $6
		}' | sort -u
}

@test "longjmp over any number of frames, and into recursion" {
	all_calls longjmp
	[ "$(fxt dump trace.fxt | grep -c 'duration-complete.*abandoned')" = "$(cat bare.err)" ]
	diff <(callers) - <<-END
		-	land
		-	recurse
		-	stay
		fall	fall
		land	after
		land	fall
		leap	leap
		recurse	after
		recurse	recurse
		stay	after
		stay	leap
	END
}

@test "exceptions through any number of frames" {
	for program in exceptions exceptions_clang; do
		[ -x "$BATS_FILE_TMPDIR/$program" ] || continue
		all_calls "$program"
		diff <(callers) - <<-END
			-	hold(int)
			again(int)	after()
			again(int)	dive(int)
			dive(int)	dive(int)
			hold(int)	after()
			hold(int)	again(int)
		END
	done
}

@test "pthread_exit, cancellation and exit in nested calls" {
	all_calls ends
	[ "$(fxt dump trace.fxt | grep -c 'duration-complete.*category="function".*abandoned')" = $((4 * 8)) ]
	# A thread's calls end before it does.
	fxt dump trace.fxt | sed -En '
		s/.* instant thread=([0-9/]+) time=([0-9]+) .*name="thread ends".*/\1 over \2/p
		s/.* duration-complete thread=([0-9/]+) .* end=([0-9]+) .*name="(sink|wait_for_ever)".*/\1 call \2/p' | awk '
		$2 == "over" { over[$1] = $3; threads++ }
		$2 == "call" && $3 > last[$1] { last[$1] = $3 }
		END { for (thread in over) bad += !last[thread] || last[thread] > over[thread]; exit threads != 2 || bad }'
}

@test "coroutines: calls are never given to the thread that resumed them" {
	all_calls contexts
	diff <(callers) - <<-END
		-	assembled
		-	consume
		-	produce
		-	resume
		-	trade
		assembled	assembled_help
		produce	help
		produce	produce
	END
	[ "$(decode threads trace.fxt | cut -f4 | grep -c '^contexts coroutine [1-8]$')" = 8 ]
	# The coroutine that is never resumed.
	[ "$(fxt dump trace.fxt | grep -c 'name="trade".*{abandoned')" = 1 ]
}

# own_tree PROGRAM [ARGUMENT]: the callers that the trace says are those of the program's
# own account, call for call.
own_tree()
{
	echo "# $*"
	fxtrun -o trace.fxt "$@" >own 2>said || { cat said && return 1; }
	sound trace.fxt
	diff <(sort own) <(pairs | sort)
}

# "calls<tab>caller<tab>function"; what is inherited is a caller, and no call.
pairs()
{
	decode slices trace.fxt | awk -F'\t' -v OFS='\t' '
		$3 != "function" && $3 != "inherited" { next }
		$2 != thread { thread = $2; depth = 0 }
		{
			while (depth && ends[depth] <= $5)
				depth--
			if ($3 == "function")
				calls[(depth ? names[depth] : "-") OFS $4]++
			names[++depth] = $4
			ends[depth] = $6
		}
		END { for (pair in calls) print calls[pair], pair }'
}

@test "signal stacks and coroutines' stacks in arrays of functions: each call is inside its caller" {
	for compiler in gcc clang; do
		CC=$compiler compiled jumps/inner_stacks.c
		for case in signals disarming fibers inner handlers turns threads; do
			own_tree ./program "$case"
		done
	done
}

@test "destructors that run while the stack is unwound are called by the functions that have them" {
	for compiler in g++ clang++; do
		type "$compiler" >/dev/null 2>&1 || continue
		for level in -O0 -O2; do
			echo "# $compiler $level"
			"$compiler" $level -g -finstrument-functions -pthread -o program "$root/tests/programs/jumps/unwinding.cc"
			for case in exceptions threads terminate; do
				own_tree ./program "$case"
			done
		done
	done
}

@test "more coroutines than tracks: each call is recorded once, inside its caller" {
	compiled jumps/many.c
	for threads in 1 4; do
		own_tree ./program 3000 "$threads"
		[ "$(decode threads trace.fxt | wc -l)" -le $((2050 + threads)) ]
		grep -q ' 0 lost' said
		[ "$(fxt dump trace.fxt | grep -c '{abandoned')" = 0 ]
	done
}

@test "fibers that a signal preempts inside of hooks: each call is recorded once, and slices nest" {
	compiled jumps/preempted.c
	# Without and with calls that may wait: the agent's own records are interrupted too.
	for file in "" "" /dev/null /dev/null; do
		./program 8 20000 $file >bare 2>/dev/null
		timeout 60 fxtrun -o trace.fxt ./program 8 20000 $file >made 2>said
		diff <(grep -v on_alarm bare) <(grep -v on_alarm made)
		grep ', 0 lost, ' said
		calls_by_name trace.fxt | grep -v '^fxt' | diff - made
		decode check trace.fxt
	done
}
