#!/usr/bin/env bats
# Calls that end without returning: whatever way they are left, they end there, and what is called later is never
# taken for a part of them.

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

# "caller<tab>function" for every pair there is, sorted; the caller of outermost calls is "-".
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
	# Those of a thread end before it does.
	fxt dump trace.fxt | sed -En '
		s/.* instant thread=([0-9/]+) time=([0-9]+) .*name="thread ends".*/\1 over \2/p
		s/.* duration-complete thread=([0-9/]+) .* end=([0-9]+) .*name="(sink|wait_for_ever)".*/\1 call \2/p' | awk '
		$2 == "over" { over[$1] = $3; threads++ }
		$2 == "call" && $3 > last[$1] { last[$1] = $3 }
		END { for (thread in over) bad += !last[thread] || last[thread] > over[thread]; exit threads != 2 || bad }'
}

@test "coroutines: calls are never given to whoever resumed them" {
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
	# The one that nobody goes on with.
	[ "$(fxt dump trace.fxt | grep -c 'name="trade".*{abandoned')" = 1 ]
}

@test "more coroutines than there can be rows: every call is recorded or counted as lost, and those of others are right" {
	${CC:-cc} -O2 -g -finstrument-functions -o many "$root/tests/programs/jumps/many.c"
	fxtrun -o trace.fxt ./many >counted 2>said
	fxt check trace.fxt
	local recorded=$(decode slices trace.fxt | awk -F'\t' '$3 == "function"' | wc -l)
	local lost=$(sed -En 's/^fxtrun: .*, ([0-9,]+) lost, .*/\1/p' said | tr -d ,)
	echo "$recorded recorded, $lost lost, $(cat counted) counted"
	[ "$lost" -gt 0 ]
	[ $((recorded + lost)) = "$(cat counted)" ]
	# Of the main thread none is lost, and each lies within its caller.
	[ "$(decode calls trace.fxt | awk -F'\t' '$2 == "many" || $2 ~ /^[0-9]+$/ { n[$1 FS $2] += $4 } END { for (r in n) print n[r] }' | sort -n | tail -1)" = $((1 + 3 * 2600 * 4)) ]
	[ "$(fxt dump trace.fxt | grep -c '{abandoned')" = 0 ]
}
