#!/usr/bin/env bats
# Children and new images of a program belong to its trace, and it notices nothing of that.

load helpers

setup_file()
{
	for name in family children; do
		${CC:-cc} -O2 -g -D_GNU_SOURCE -finstrument-functions -pthread -o "$BATS_FILE_TMPDIR/$name" \
			"$BATS_TEST_DIRNAME/../programs/processes/$name.c"
	done
}

# joined HOW: the new image has an environment without anything of ours, and is in the trace all the same.
joined()
{
	same_as_bare "$BATS_FILE_TMPDIR/family" "$1"
	diff traced.out - <<-END
		first
		second kept bare
	END
	sound trace.fxt
	[ "$(calls_of trace.fxt second_image)" = 1 ]
	[ "$(calls_of trace.fxt fail_to_become)" = 1 ]
}

@test "every way to exec with a cleared environment" {
	for how in execve execl execvpe fexecve execveat execv execvp execlp 'plain execl'; do
		echo "# $how"
		joined "$how"
		[ "$(calls_of trace.fxt become)" = 1 ]
	done
}

@test "posix_spawn and vfork with a cleared environment" {
	for how in posix_spawn posix_spawnp vfork; do
		echo "# $how"
		joined "$how"
		[ "$(calls_of trace.fxt have_child)" = 1 ]
	done
}

@test "forked children: calls, exit statuses, a kill, a daemon in another root, forks amid a thread's calls" {
	same_as_bare "$BATS_FILE_TMPDIR/children"
	fxt check trace.fxt
	# A killed child's calls stay open.
	! decode check trace.fxt | grep -v -e ^0 -e calls:left_open
	[ "$(calls_of trace.fxt 'in_child')" = $((6 * 10 + 50)) ]
	[ "$(id -u)" != 0 ] || [ "$(calls_of trace.fxt in_daemon)" = 1 ]
	fxt dump trace.fxt >dump
	[ "$(grep -c 'name="fork"' dump)" = 56 ]
	[ "$(grep -c 'instant.*name="child exited"' dump)" = 55 ]
	grep -q 'instant.*name="child killed".*signal=int32:9' dump
	grep -q 'instant.*name="child exited".*status=int32:5' dump
}
