# A server that is recorded again and again.

load helpers

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir sockets
	export XDG_RUNTIME_DIR=$PWD/sockets PYTHONPATH=$BATS_TEST_DIRNAME PYTHONDONTWRITEBYTECODE=1
}

@test "fifty recordings of a server among forks and deaths of its workers: each has exactly its own calls, and nothing grows" {
	compiled sessions/server.c
	for mode in streaming oneshot circular; do
		mkdir $mode
		(cd $mode && timeout 200 python3 "$BATS_TEST_DIRNAME/server.py" $mode 50 ../program)
	done
}
