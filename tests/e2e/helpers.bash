# What every end-to-end test starts with: `load helpers`.
#
# FXT_BUILD is the build directory (default: build/ of this tree); each test has an empty directory of its own as its
# working directory, which is removed afterwards.

root=$(cd "${BATS_TEST_DIRNAME}/../.." && pwd)
build=${FXT_BUILD:-$root/build}
programs=$build/programs
PATH=$build:$PATH

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
}

# decode calls|threads|check TRACE: the independent decoder.
decode()
{
	python3 "$root/tests/independent/fxtdecode.py" "$@"
}

# sound TRACE: whole, nested, complete, nothing lost and nothing a viewer would drop, to the independent decoder and
# to our own.
sound()
{
	decode check "$1" && fxt check "$1"
}

# calls_of TRACE FUNCTION: how often FUNCTION was called, over all threads.
calls_of()
{
	decode calls "$1" | awk -F'\t' -v function_name="$2" '$3 == function_name { n += $4 } END { print n + 0 }'
}

# same_as_bare PROGRAM ARGUMENT...: runs it bare and under fxtrun, each in a directory of its own; the trace is left in
# trace.fxt. Output, errors and exit status must be the same; fxtrun's own lines on standard error begin with "fxtrun:".
same_as_bare()
{
	local bare=0 traced=0

	mkdir -p bare traced
	(cd bare && exec "$@") >bare.out 2>bare.err </dev/null || bare=$?
	(cd traced && exec timeout 120 fxtrun -o ../trace.fxt "$@") >traced.out 2>traced.err </dev/null || traced=$?
	[ "$bare" = "$traced" ] || { echo "exit status $traced, bare $bare" && cat traced.err && return 1; }
	diff bare.out traced.out
	grep -v '^fxtrun: ' traced.err | diff bare.err -
}
