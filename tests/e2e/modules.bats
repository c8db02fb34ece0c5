#!/usr/bin/env bats
# Modules that come and go while a program runs: names are those of the module that was
# there at the time of the call.

load helpers

setup_file()
{
	local programs=$BATS_TEST_DIRNAME/../programs/modules

	cd "$BATS_FILE_TMPDIR"
	${CC:-cc} -O2 -g -o alternate "$programs/alternate.c" -ldl
	for name in red green; do
		${CC:-cc} -O2 -g -finstrument-functions -fPIC -shared -DFIRST=${name}_first -DSECOND=${name}_second \
			-DLAST=${name}_last -o $name.so "$programs/plugin.c"
	done
}

@test "two plugins that alternate at one address" {
	cd "$BATS_FILE_TMPDIR"
	same_as_bare "$PWD/alternate" "$PWD/red.so" "$PWD/green.so"
	[ "$(cat bare.err)" = 1 ]
	sound trace.fxt
	diff <(calls_by_name trace.fxt) - <<-END
		green_first	20
		green_last	10
		green_second	10
		red_first	10
		red_last	10
		red_second	10
	END
}

@test "the same, and in a forked child that is not born when it unloads" {
	cd "$BATS_FILE_TMPDIR"
	same_as_bare "$PWD/alternate" "$PWD/red.so" "$PWD/green.so" fork
	sound trace.fxt
	diff <(calls_by_name trace.fxt) - <<-END
		green_first	25
		green_last	11
		green_second	11
		red_first	15
		red_last	11
		red_second	11
	END
}

@test "a library in a link namespace of its own runs as without fxt, and is not recorded there" {
	compiled modules/namespace.c -ldl
	${CC:-cc} -O1 -g -finstrument-functions -fPIC -shared -pthread -o plugin.so "$root/tests/programs/modules/namespace_plugin.c"
	options=--heap=objects same_as_bare "$PWD/program" "$PWD/plugin.so"
	fxt check trace.fxt
	[ "$(calls_of trace.fxt namespace_plugin)" = 50 ]
	# One of each thread, and of the destructor of the library that is recorded.
	[ "$(calls_of trace.fxt inner)" = 56 ]
}
