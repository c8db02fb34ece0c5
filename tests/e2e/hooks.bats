#!/usr/bin/env bats
# The instructions that the hooks execute, against tests/hooks.instructions and
# doc/hot-path.md.

load helpers

# Both are of the code of one compiler.
only_gcc_12()
{
	[ "$(uname -m)" = x86_64 ] || skip "it is of x86-64"
	readelf -p .comment "$build/libfxtagent.so" >compilers
	if grep -q clang compilers || ! grep -q 'GCC: .* 12\.' compilers; then
		skip "it is of gcc 12"
	fi
	grep -q -- ' -O2 ' "$build/flags" || skip "it is of -O2"
}

@test "the hooks execute as many instructions as tests/hooks.instructions has, no more and no less" {
	only_gcc_12
	# Only the counter is a clock that an instruction reads.
	has_counter || skip "the kernel does not trust the counter here"

	${CC:-cc} -O2 -D_GNU_SOURCE -I"$root" -o steps "$root/tests/programs/hooks/steps.c"
	fxtrun ./steps >recorded
	fxtrun --no-patch --start=paused ./steps >stopped
	fxtrun --no-patch --start=idle ./steps >idle
	fxtrun --exclude=0x400000 ./steps left-out >left_out
	fxtrun --buffering-mode=oneshot --buffer-size=64K ./steps dropped >full
	fxtrun --on-full=drop --buffer-size=64K ./steps dropped >dropped
	{
		sed 's/^/recorded\t/' recorded
		sed -n 's/^call/stopped\t&/p' stopped
		sed -n 's/^call/idle\t&/p' idle
		sed 's/^/left out\t/' left_out
		sed 's/^/dropped, oneshot\t/' full
		sed 's/^/dropped, streaming\t/' dropped
	} >counted
	diff <(grep -v '^#' "$root/tests/hooks.instructions") counted
}

# The instructions of a hook up to where it returns, by name.
hook()
{
	objdump -d --no-show-raw-insn --disassemble="__cyg_profile_func_$1" "$build/libfxtagent.so" |
		awk '/^ +[0-9a-f]+:/ { print $2; if ($2 == "ret") exit }'
}

# The instructions that doc/hot-path.md explains under a heading, by name.
explained()
{
	awk -v heading="## $1" '/^## / { inside = $0 == heading } inside && /^    [a-z]+( |$)/ { print $1 }' "$root/doc/hot-path.md"
}

@test "doc/hot-path.md explains the instructions that are there" {
	only_gcc_12
	diff <(explained Entry) <(hook enter)
	diff <(explained Exit) <(hook exit)
}
