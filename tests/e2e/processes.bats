#!/usr/bin/env bats
# Children and new images of a program belong to its trace, and it notices nothing of that.

load helpers

setup_file()
{
	for name in family children ends lasting tree many; do
		${CC:-cc} -O2 -g -D_GNU_SOURCE -finstrument-functions -pthread -o "$BATS_FILE_TMPDIR/$name" \
			"$BATS_TEST_DIRNAME/../programs/processes/$name.c"
	done
}

# joined HOW: the new image has an environment without anything of ours, and is in the trace
# all the same.
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

@test "forked children: calls, exit statuses, a kill, a daemon in another root, forks inside a thread's calls" {
	same_as_bare "$BATS_FILE_TMPDIR/children"
	fxt check trace.fxt
	# A killed child's calls stay open.
	[ -z "$(decode check trace.fxt | grep -v -e ^0 -e calls:left_open)" ]
	[ "$(calls_of trace.fxt 'in_child')" = $((6 * 10 + 50)) ]
	[ "$(id -u)" != 0 ] || [ "$(calls_of trace.fxt in_daemon)" = 1 ]
	fxt dump trace.fxt >dump
	[ "$(grep -c 'name="fork"' dump)" = 56 ]
	[ "$(grep -c 'instant.*name="child exited"' dump)" = 55 ]
	grep -q 'instant.*name="child killed".*signal=int32:9' dump
	grep -q 'instant.*name="child exited".*status=int32:5' dump
}

@test "forked children without instrumented code that wait: each wait is in the trace, and children that wait for nothing are not" {
	${CC:-cc} -O2 -g -D_GNU_SOURCE -pthread -o waiters "$root/tests/programs/processes/waiters.c"
	fxtrun ./waiters >made
	fxt check trace.fxt
	# Their parent waits for them.
	fxt dump trace.fxt | sed -n 's/.*duration-complete thread=\([0-9]*\)\/.* category="sync" name="\([a-z_]*\)".*/\2 \1/p' |
		grep -v -e '^wait ' -e '^waitpid ' | sort | uniq -c | awk '{ print $2, $3, $1 }' >recorded
	awk '$1 != "nothing" { print $0, 3 }' made | sort | diff - recorded
	[ "$(grep -c ' 3$' recorded)" = 9 ]
	# Without waits in the trace none of them is.
	fxtrun --categories=function -o calls.fxt ./waiters >made 2>err
	grep -q ', 1 process,' err
}

# ended HOW REPORT: the trace reports, at its end, how the program ended; the calls that
# were open are there.
ended()
{
	echo "# $1"
	same_as_bare "$BATS_FILE_TMPDIR/ends" "$1"
	fxt check trace.fxt
	fxt dump trace.fxt >dump
	[ "$(grep -o 'instant .*category="process".*' dump | sed 's|thread=\([0-9]*\)/\(.*\)koid:\1 "ends"}|\2koid}|; s/.* name="\([a-z]*\)" {/"\1" {/')" = "$2" ]
	[ "$(calls_of trace.fxt end)" = 1 ]
}

@test "how a program ended: its exit status, or the signal that killed it" {
	ended exit '"exit" {status=int32:3}'
	ended _exit '"exit" {status=int32:4}'
	ended _Exit '"exit" {status=int32:5}'
	ended return '"exit" {status=int32:6}'
	ended abort '"killed" {signal=int32:6, name="SIGABRT", code="SI_TKILL", origin="itself", sender=koid}'
	ended segv '"killed" {signal=int32:11, name="SIGSEGV", code="SEGV_MAPERR", address=pointer:0x8}'
	ended term '"killed" {signal=int32:15, name="SIGTERM", code="SI_USER", origin="itself", sender=koid}'
}

@test "a descendant's end, if only its parent learns the status: an exit ends its open calls, a signal does not" {
	for how in exit _exit _Exit abort segv term; do
		echo "# $how"
		fxtrun -o trace.fxt sh -c '"$@"; exit 0' sh "$BATS_FILE_TMPDIR/ends" "$how"
		fxt check trace.fxt
		[ "$(calls_of trace.fxt end)" = 1 ]
		left_open=$(decode check trace.fxt | sed -n 's/\tcalls:left_open$//p')
		case $how in
		*xit) [ "$left_open" = 0 ] ;;
		*) [ "$left_open" = 1 ] ;;
		esac
	done
}

@test "a call that is open at an exit or an exec lasts until then, by the program's own clock" {
	${CC:-cc} -O2 -D_GNU_SOURCE -static -o static "$BATS_TEST_DIRNAME/../programs/processes/lasting.c"
	for how in exit _exit _Exit "$PWD/static"; do
		fxtrun -o trace.fxt "$BATS_FILE_TMPDIR/lasting" "$how" >out
		read -r least most <out
		duration=$(decode slices trace.fxt | awk -F'\t' '$4 == "last_call" { print $6 - $5 }')
		echo "# $how: from $least to $most ns, and in the trace $duration"
		# The trace's clock may be off by a little of what was measured.
		[ "$duration" -ge $((least - least / 1000 - 1000)) ]
		[ "$duration" -le $((most + most / 1000 + 1000)) ]
	done
}

# ends_in_the_viewer TRACE: where slices end of processes that died: the death is the
# trace's own instant, which other tests hold against the program's word.
ends_in_the_viewer()
{
	viewer "$1" "WITH dead AS (SELECT upid, max(ts) AS ts FROM slice JOIN thread_track t ON t.id = track_id
			JOIN thread USING (utid) WHERE slice.name IN ('killed', 'process ends') GROUP BY upid)
		SELECT s.category, s.name, CASE WHEN s.dur < 0 THEN 'open' WHEN s.ts + s.dur = dead.ts THEN 'death'
			WHEN s.ts + s.dur < dead.ts THEN 'before' ELSE 'later' END
		FROM slice s JOIN thread_track t ON t.id = s.track_id JOIN thread USING (utid) JOIN dead USING (upid)
		WHERE s.category IN ('function', 'inherited')" |
		sort >got
	cat <<-'END' | if [[ $options == --exclude* ]]; then grep -v _outside; else cat; fi | sort | diff - got
		function	become	before
		function	crash_beside	death
		function	crash_inside	death
		function	crash_inside	death
		function	crash_outside	death
		function	crash_outside	death
		function	stay	death
		function	main	death
		function	stop_inside	death
		function	stop_outside	death
		inherited	main	before
		inherited	main	death
		inherited	main	death
	END
	[ -z "$(viewer "$1" 'SELECT name, value FROM stats WHERE value > 0 AND severity != "info"')" ]
	fxt check "$1"
}

@test "the viewer: open calls of a killed process end at its death, whatever others do later; fxt says that they did not end" {
	needs_viewer
	compiled processes/left_open.c
	for options in '' '--exclude=*_outside' --heap=off; do
		fxtrun $options ./program
		ends_in_the_viewer trace.fxt
		# Whether the waking thread is back from its write by then is not known.
		[ "$(decode slices trace.fxt | awk -F'\t' '$3 != "sync" && $6 == ""' | wc -l)" = "$(grep -c death got)" ]
		fxt report --csv trace.fxt | rows functions name calls not_ended | grep -Px 'crash_inside\t2\t2'
	done
	fxtrun -o other.fxt true
	fxt merge -o both.fxt other.fxt trace.fxt
	ends_in_the_viewer both.fxt
	fxt cut --time=0s.. -o part.fxt both.fxt
	ends_in_the_viewer part.fxt
}

# The manager had all of those, and the process that finishes its trace has only the trace
# itself.
@test "the viewer: the manager is killed after such processes: their open calls end at their deaths" {
	needs_viewer
	compiled processes/left_open.c
	mkfifo byte
	fxtrun ./program waits <>byte >out 2>said 3>&- &
	job=$!
	await waits out
	kill -KILL $(recorder_of $job)
	await 'was killed by signal 9' said
	echo >byte
	wait $job || [ $? = 137 ]
	fxt info trace.fxt | grep '^recovered: '
	options=
	ends_in_the_viewer trace.fxt
}

@test "the viewer knows the system, the session, command lines and parents, and opens where the program begins" {
	needs_viewer
	cat >parent.c <<-'END'
		#include <sys/wait.h>
		#include <unistd.h>
		static void in_child(const char *image)
		{
			execl(image, image, "the child's own", NULL);
			_exit(1);
		}
		int main(int count, char **arguments)
		{
			if (count == 3 && fork() == 0)
				in_child(arguments[0]);
			wait(NULL);
			return 0;
		}
	END
	${CC:-cc} -O1 -finstrument-functions -o parent parent.c
	fxtrun --session="of-$$" --buffering-mode=circular --buffer-size=4M -o trace.fxt ./parent --an 'argument of two lines
		and more'
	viewer trace.fxt "SELECT p.cmdline, parent.pid = p.pid, parent.name FROM process p LEFT JOIN process parent
		ON parent.upid = p.parent_upid WHERE p.cmdline IS NOT NULL ORDER BY p.start_ts IS NULL, p.upid" | tee processes
	grep -A1 -Pzo "parent --an argument of two lines\n\t\tand more\t" processes >/dev/null
	grep -P "^parent the child's own\t0\tparent$" processes
	metadata="SELECT str_value FROM metadata WHERE name ="
	[ "$(viewer trace.fxt "$metadata 'system_release'")" = "$(uname -r)" ]
	[ "$(viewer trace.fxt "$metadata 'system_machine'")" = "$(uname -m)" ]
	[ "$(viewer trace.fxt "$metadata 'tracing_service_version'")" = "$(fxtrun --version)" ]
	[ "$(viewer trace.fxt "$metadata 'unique_session_name'")" = "of-$$" ]
	viewer trace.fxt "$metadata 'trace_config_pbtxt'" | tr -d ' \n' | grep -F 'size_kb:4096fill_policy:RING_BUFFER'
	began="(SELECT int_value FROM metadata WHERE name = 'all_data_source_started_ns')"
	[ "$(viewer trace.fxt "SELECT min(ts) >= $began FROM slice WHERE category <> 'sched'")" = 1 ]
	# The kernel's events include the time of loading.
	[ "$(viewer trace.fxt "SELECT ifnull(min(ts) < $began, 1) FROM sched")" = 1 ]
}

@test "how children ended, by every way to wait for them" {
	same_as_bare "$BATS_FILE_TMPDIR/ends" waits
	fxt check trace.fxt
	fxt dump trace.fxt | sed -En 's/.*instant .*name="(child .*)" \{child=koid:[0-9]+( "ends")?, (.*)\}$/\1 \3/p' | diff traced.out -
}

@test "a process tree: shell, make, shells, and what they run side by side" {
	cat >Makefile <<-'END'
		all: $(addprefix job,1 2 3 4 5 6 7 8)
		job%: ; @sh -c '"$$tree" $*00 told; exit'
	END
	export tree=$BATS_FILE_TMPDIR/tree
	timeout 120 fxtrun --heap=off sh -c 'make -j4; exit' 2>err
	sound trace.fxt
	[ "$(calls_of trace.fxt in_worker)" = 3600 ]
	[ "$(calls_of trace.fxt in_child)" = 3600 ]
	PYTHONPATH=$root/tests/independent python3 -c '
import fxtdecode
trace = fxtdecode.Trace("trace.fxt")
for thread in trace.names:
    print(*thread, *trace.thread_name(thread), sep="\t")' | grep -v -e None -e ': page faults$' | sort >threads
	# Every thread, by what it says of itself.
	[ "$(wc -l <told)" = 24 ]
	[ -z "$(sort told | comm -23 - threads)" ]
	# The others too have names: a make, the first shell, and that of each job.
	[ "$(cut -f 3 threads | sort | uniq -c | tr -s ' \n' ' ')" = " 1 make 9 sh 24 tree " ]
	[ "$(awk -F'\t' '$3 != "tree" && $3 == $4' threads | wc -l)" = 10 ]
	grep -E '^fxtrun: [0-9,]+ events, 34 threads, 26 processes, 0 lost, [^(]*$' err
	# No arrow has an end in another process that numbers its own alike.
	fxt dump trace.fxt | sed -nE 's/.* flow-begin thread=([0-9]+)\/.* id=([^ ]+) .*/\2 \1/p' | sort -u >flows
	[ "$(wc -l <flows)" -ge 8 ]
	[ -z "$(cut -d ' ' -f 1 flows | uniq -d)" ]
}

# many COUNT ALIVE OPTION...: COUNT children, ALIVE at a time, and all end as they should.
# Leaves the messages of fxtrun in the file said, and its highest memory use in kilobytes in
# the file memory.
many()
{
	[ "$(python3 -c '
import resource, subprocess, sys
status = subprocess.call(["timeout", "600", "fxtrun", "-o", "trace.fxt"] + sys.argv[1:])
open("memory", "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
print(status)' "${@:3}" "$BATS_FILE_TMPDIR/many" "$1" "$2" 2>said | tr '\n' ' ')" = "$1 7 " ]
	cat said
	fxt check trace.fxt
}

@test "ten thousand children: each has a trace of its own, and costs little memory once it has ended" {
	many 10000 4
	grep -x 'fxtrun: [0-9,]* events, 10,001 threads, 10,001 processes, 0 lost, [^(]*' said
	fxt report trace.fxt >report
	grep -E '^ *10000 .*  work$' report
	[ "$(cat memory)" -lt 45000 ]
}

@test "three hundred children at a time are all traced" {
	many 300 300 --buffer-size=256K
	grep -x 'fxtrun: [0-9,]* events, 301 threads, 301 processes, 0 lost, [^(]*' said
	[ "$(calls_of trace.fxt work)" = 300 ]
}

@test "more buffers than half of the memory: as many processes as have room are traced, and the others are reported" {
	local megabytes=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)
	local size=$((megabytes / 5 < 4096 ? megabytes / 5 : 4096))
	local traced=$((megabytes / 2 / size))

	[ $traced -lt 5 ] || skip "too much memory here"
	many 4 4 --buffer-size=$size
	[ "$(grep -c "runs untraced: the buffers of all processes would take more than half of this machine's memory" said)" = 1 ]
	grep -x "fxtrun: [0-9,]* events, $traced threads, $traced processes, 0 lost, .* ($((5 - traced)) ran untraced)" said
	[ "$(calls_of trace.fxt work)" = $((traced - 1)) ]
}
