# Helpers of the control socket's tests: `load steps` after `load helpers`. $steps is a
# program that follows orders, and control.py can be imported; sessions leave nothing
# behind.

setup_file()
{
	cc -O2 -g -finstrument-functions -pthread -o "$BATS_FILE_TMPDIR/steps" \
		"$BATS_TEST_DIRNAME/../programs/sessions/steps.c"
	mkdir "$BATS_FILE_TMPDIR/sockets"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	export steps=$BATS_FILE_TMPDIR/steps XDG_RUNTIME_DIR=$BATS_FILE_TMPDIR/sockets
	export PYTHONPATH=$BATS_TEST_DIRNAME
}

teardown()
{
	no_sockets
}

# patched_programs OPTION: builds tests/programs/filters/patched.c with that option, as
# ./gcc and ./clang, and the library that it loads, as ./plugged.so.
patched_programs()
{
	local programs=$BATS_TEST_DIRNAME/../programs/filters

	cc -O2 -g "$1" -pthread -rdynamic -o gcc "$programs/patched.c" -ldl
	clang -Os -g "$1" -pthread -rdynamic -o clang "$programs/patched.c" -ldl
	cc -O2 -g -fPIC -shared "$1" -o plugged.so "$programs/plugged.c"
}
