# Every end-to-end test begins with `load helpers`.
#
# FXT_BUILD is the build directory (default: build/ of this tree); each test has an empty
# directory of its own as its working directory, which is removed afterwards.

root=$(cd "${BATS_TEST_DIRNAME}/../.." && pwd)
build=${FXT_BUILD:-$root/build}
programs=$build/programs
PATH=$build:$PATH
export PYTHONDONTWRITEBYTECODE=1 # the tree stays as it is

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Kills the processes that a failed test began and did not end, with all their descendants;
# otherwise they stay, and are in the way of the next test. A file with a teardown of its
# own calls this there. Nothing is forked here, because the new process would be found too.
# Bats' own process that ends a test which takes too long, $killer_pid of bats, stays: bats
# reports its death in five lines.
end_all()
{
	local all=("$BASHPID") child children file i

	for ((i = 0; i < ${#all[@]}; i++)); do
		for file in "/proc/${all[i]}"/task/*/children; do
			children=()
			{ read -ra children <"$file"; } 2>/dev/null || true
			for child in "${children[@]}"; do
				[ "$child" = "${killer_pid:-}" ] || all+=("$child")
			done
		done
	done
	[ ${#all[@]} = 1 ] || kill -KILL "${all[@]:1}" 2>/dev/null || true
}

teardown()
{
	end_all
}

# no_sockets: for the teardown of tests that share a directory of sockets: there are none
# left. The sockets of a failed test are removed.
no_sockets()
{
	local left

	left=$(find "$BATS_FILE_TMPDIR/sockets" ! -type d)
	end_all
	rm -rf "$BATS_FILE_TMPDIR/sockets"/*
	[ -z "$left" ]
}

# has_counter: the kernel trusts the processor's counter, so calls are timed by it.
has_counter()
{
	grep -qE 'tsc|arch_sys_counter' /sys/devices/system/clocksource/clocksource0/current_clocksource
}

# without_counter COMMAND...: runs it where the kernel seems to keep its time by something
# that programs cannot read. Skips the test where there are no private mounts.
without_counter()
{
	echo hpet >"$BATS_TEST_TMPDIR/source"
	unshare -m true 2>"$BATS_TEST_TMPDIR/mounts" || skip "no private mounts here: $(cat "$BATS_TEST_TMPDIR/mounts")"
	unshare -m sh -c 'mount --bind "$0" /sys/devices/system/clocksource/clocksource0/current_clocksource && exec "$@"' \
		"$BATS_TEST_TMPDIR/source" "$@"
}

# compiled SOURCE OPTION...: tests/programs/SOURCE as ./program
compiled()
{
	local source=$root/tests/programs/$1

	shift
	${CC:-cc} -O2 -g -D_GNU_SOURCE -finstrument-functions -pthread -o program "$source" "$@"
}

# compiled_for_all SOURCE...: setup_file's: these of tests/programs, without their .c, where
# all tests of the file find them.
compiled_for_all()
{
	local source

	for source; do
		${CC:-cc} -O2 -g -D_GNU_SOURCE -finstrument-functions -pthread -o "$BATS_FILE_TMPDIR/${source##*/}" \
			"$root/tests/programs/$source.c"
	done
	export PATH=$BATS_FILE_TMPDIR:$PATH
}

# only FILE PATTERN...: each line of what was printed matches one of the patterns, and each
# pattern a line. Whether the kernel allows context switches is another matter.
only()
{
	local file=$1 pattern joined

	shift
	sed -i '/^fxtrun: no context switches in the trace: /d; /^$/d' "$file"
	joined=$(printf '|%s' "$@")
	! grep -vxE -e "${joined#|}" "$file" || { echo "$file: nobody expects these lines" && return 1; }
	for pattern; do
		grep -qxE -e "$pattern" "$file" || { echo "$file: no line $pattern" && cat "$file" && return 1; }
	done
}

# says STATUS LINE COMMAND...: the command ends with that status, and LINE is all it says.
says()
{
	local status=$1 line=$2 got=0

	shift 2
	"$@" >said.out 2>said.err </dev/null || got=$?
	[ "$got" = "$status" ] || { echo "exit status $got, not $status" && cat said.err && return 1; }
	[ ! -s said.out ]
	echo "$line" | diff - said.err
}

# fails COMMAND...: it does. A shell that ends at a command that fails does not end at `!
# COMMAND`.
fails()
{
	! "$@"
}

# await PATTERN FILE: until a line of the file, which is being written, matches; prints the
# line. tail may miss what is written to a file that comes to be while it starts.
await()
{
	: >>"$2"
	timeout 120 tail -n +1 -f "$2" | grep -m 1 -E "$1"
}

# needs_copies: a machine on which a process may have the kernel copy its own memory, as the
# recorder has it copy texts.
needs_copies()
{
	python3 -c 'import ctypes, os
class Part(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]
memory = [ctypes.create_string_buffer(text, 4) for text in (b"old", b"new")]
to, source = (Part(ctypes.addressof(buffer), 4) for buffer in memory)
copied = ctypes.CDLL(None).process_vm_readv(os.getpid(), ctypes.byref(to), 1, ctypes.byref(source), 1, 0)
raise SystemExit(copied != 4 or memory[0].value != b"new")' || skip "process_vm_readv does not work here"
}

# events_of FILE...: the number of their event records, by the format's framing alone.
events_of()
{
	python3 -c 'import struct, sys
events = 0
for name in sys.argv[1:]:
    data, at = open(name, "rb").read(), 0
    while at < len(data):
        header, = struct.unpack_from("<Q", data, at)
        events += header & 15 == 4
        at += 8 * (header >> 4 & (0xffffffff if header & 15 == 15 else 0xfff))
print(events)' "$@"
}

# until_clocks_agree RUN JUDGE: does RUN, and asks JUDGE, which compares the trace with a
# program's own clocks. Other work of the machine, and a host that takes its processors
# away, change those clocks without the program. The test passes when one run is right. It
# fails after ten wrong runs in which the host took nothing.
until_clocks_agree()
{
	local undisturbed=0 before

	for run in {1..20}; do
		before=$(stolen)
		$1
		[ "$before" != "$(stolen)" ] || : $((undisturbed++))
		! $2 || return 0
		[ "$undisturbed" -lt 10 ] || return 1
	done
	skip "the host took processors away in $((20 - undisturbed)) of 20 runs"
}

# How much of the processors' time a host of this virtual machine took for others so far, in
# ticks of the kernel.
stolen()
{
	awk '$1 == "cpu" { print $9 }' /proc/stat
}

# recorder_of PID: of fxtrun's two processes the one that records, PID being the one that a
# shell waits for.
recorder_of()
{
	cat "/proc/$1/task/$1/children"
}

# peak COMMAND...: prints its highest memory use in KiB, or nothing if it fails. Its output
# is dropped.
peak()
{
	python3 -c 'import os, sys
nothing = (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[nothing])
_, status, usage = os.wait4(pid, 0)
if status == 0:
    print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))' "$@"
}

# decode WHAT TRACE: the independent decoder; WHAT is one of the words that
# tests/independent/fxtdecode.py lists.
decode()
{
	python3 "$root/tests/independent/fxtdecode.py" "$@"
}

# viewer TRACE SQL: what the Perfetto viewer's importer understood; a line a row, the
# columns separated by tabs. A test that asks it begins with needs_viewer.
viewer()
{
	node "$root/tests/judges/ask.mjs" "$build/judges" "$@"
}

needs_viewer()
{
	[ -e "$build/judges/trace_processor.wasm" ] || skip "Perfetto's importer is not here"
}

# rows TABLE COLUMN...: these columns of a table that a command of fxt prints with --csv,
# separated by tabs.
rows()
{
	python3 "$root/tests/e2e/rows.py" "$@"
}

# sound TRACE: whole, nested, complete, nothing lost and nothing a viewer would drop, to the
# independent decoder and to our own; and both count the same calls.
sound()
{
	local checks

	checks=$(decode check "$1") || { sed '/^0	/d' <<<"$checks"; return 1; }
	fxt check "$1" && diff <(calls_by_name "$1") <(reported_calls "$1")
}

# "function<tab>calls" over all threads, sorted: by the independent decoder, and by fxt
# report.
calls_by_name()
{
	decode calls "$1" | awk -F'\t' '{ n[$3] += $4 } END { for (f in n) print f "\t" n[f] }' | sort
}

# Functions that share a name count as one: the decoder knows names alone.
reported_calls()
{
	fxt report --library --csv "$1" | rows functions name calls | sed -E '/ \[clone /!s/ \[[^]]*\]\t/\t/' |
		awk -F'\t' '{ n[$1] += $2 } END { for (f in n) print f "\t" n[f] }' | sort
}

# calls_of TRACE FUNCTION: how often FUNCTION was called, over all threads.
calls_of()
{
	calls_by_name "$1" | awk -F'\t' -v name="$2" '$1 == name { n = $2 } END { print n + 0 }'
}

# same_as_bare PROGRAM ARGUMENT...: runs it bare and under fxtrun (with $options), each in a
# directory of its own; the trace is left in trace.fxt. Output, errors and exit status must
# be the same; fxtrun's own lines on standard error begin with "fxtrun:".
options=
same_as_bare()
{
	local bare=0 traced=0

	mkdir -p bare traced
	(cd bare && exec "$@") >bare.out 2>bare.err </dev/null || bare=$?
	(cd traced && exec timeout 120 fxtrun $options -o ../trace.fxt "$@") >traced.out 2>traced.err </dev/null || traced=$?
	[ "$bare" = "$traced" ] || { echo "exit status $traced, bare $bare" && cat traced.err && return 1; }
	diff bare.out traced.out
	grep -v '^fxtrun: ' traced.err | diff bare.err -
}
