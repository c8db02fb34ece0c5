#!/usr/bin/env bats
# Names: every function has the one of its source, however the program was built; and fxt
# symbolize.

load helpers

symbols=$root/tests/programs/symbols

# build OUTPUT COMPILER ARGUMENT...: as a user builds a program to be traced.
build()
{
	local output=$1

	shift
	"$@" -finstrument-functions -o "$output"
}

# raw PROGRAM ARGUMENT...: leaves raw.fxt as the agent writes it. No symbolizer lies beside
# this copy of it.
raw()
{
	mkdir -p alone && cp "$build/libfxtagent.so" alone
	FXT_OUTPUT=$PWD/raw.fxt LD_PRELOAD=$PWD/alone/libfxtagent.so "$@"
}

names_in()
{
	decode calls "$1" | cut -f3 | sort -u
}

# same_names COMPILER ARGUMENT...: the names a program says it calls are all in its trace,
# and none is unknown.
same_names()
{
	cc -O1 -fPIC -c "$symbols/expect.c" -o expect.o
	build liblibrary.so "$@" -fPIC -shared "$symbols/library.cc"
	build names "$@" "$symbols/names.cc" "$symbols/others.cc" expect.o ./liblibrary.so -Wl,-rpath,"$PWD" -rdynamic
	fxtrun -o names.fxt ./names >expected
	[ "$(wc -l <expected)" = 15 ]
	names_in names.fxt >found
	[ -z "$(sort -u expected | comm -23 - found)" ]
	[ -z "$(grep -E '\+0x|^0x|\{\{\{' found)" ]
}

@test "every function has the name of its source, built by gcc" {
	same_names g++ -g -O0 -no-pie
	same_names g++ -O2 -fPIE -pie
	same_names g++ -g -O3 -flto
}

@test "every function has the name of its source, built by clang" {
	same_names clang++ -g -O0 -no-pie
	same_names clang++ -O2 -fPIE -pie
	same_names clang++ -g -O3 -flto
}

# A library gets a function's address from the loader: that of the clone, which has its own
# name.
without_clones()
{
	calls_by_name "$1" | sed 's/^\([a-z_]*in_library\)\.\(avx2\|default\)/\1/'
}

@test "functions that the loader chooses among clones have their names, by every linker" {
	cc -c "$symbols/indirect.c" -o /dev/null 2>said || skip "the compiler makes no clones: $(tail -1 said)"
	echo 'int main(void) { return 0; }' >empty.c
	for options in -fuse-ld=bfd "-fuse-ld=bfd -no-pie" "-fuse-ld=bfd -fcf-protection=full -Wl,-z,now,-z,ibtplt" \
		-fuse-ld=gold -fuse-ld=lld; do
		read -ra linker <<<"$options"
		cc "${linker[@]}" empty.c -o empty || continue
		echo "$options"
		build libindirect.so cc -O1 -fPIC -shared -DLIBRARY "$symbols/indirect.c" "${linker[0]}"
		build indirect cc -O1 "$symbols/indirect.c" ./libindirect.so -Wl,-rpath,"$PWD" "${linker[@]}"
		fxtrun -o indirect.fxt ./indirect >expected
		diff expected <(without_clones indirect.fxt)
		raw ./indirect >expected
		fxt symbolize raw.fxt
		diff expected <(without_clones raw.fxt)
	done
}

@test "calls that were open when the program was killed" {
	build ends cc -O2 -fno-inline -fno-optimize-sibling-calls "$symbols/ends.c"
	run fxtrun -o ends.fxt ./ends kill
	[ "$status" = 137 ]
	[ "$(names_in ends.fxt)" = $'innermost\nmain\noutermost' ]
}

@test "a program built again while it runs: addresses, and one line" {
	build ends cc -O2 "$symbols/ends.c"
	build again cc -O1 "$symbols/ends.c"
	fxtrun -o ends.fxt ./ends replace again ends 2>said
	# If the manager has read the file before it was replaced, the names are known.
	if grep "^fxtrun: $PWD/ends was rebuilt" said >lines; then
		[ "$(wc -l <lines)" = 1 ]
		[ -z "$(names_in ends.fxt | grep -v '^ends+0x')" ]
		[ -n "$(names_in ends.fxt)" ]
	else
		[ "$(names_in ends.fxt)" = $'innermost\nmain\noutermost' ]
	fi
}

@test "a program built again after it was recorded: addresses, and one line" {
	build ends cc -O2 "$symbols/ends.c"
	build again cc -O1 "$symbols/ends.c"
	raw ./ends replace again ends
	fxt symbolize raw.fxt 2>said
	[ "$(grep -c "^fxt: $PWD/ends was rebuilt" said)" = 1 ]
	[ -z "$(names_in raw.fxt | grep -v '^ends+0x')" ]
	[ -n "$(names_in raw.fxt)" ]
}

@test "a raw trace gets its names later, in place, into a file, or through pipes" {
	build ends cc -O2 -g -fno-inline "$symbols/ends.c"
	cp ends spare
	raw ./ends replace spare ends
	cp raw.fxt untouched.fxt
	names_in raw.fxt | grep -q '^{{{pc:0x[0-9a-f]*:[0-9]*}}}$'

	fxt symbolize raw.fxt -o named.fxt
	cmp raw.fxt untouched.fxt
	[ "$(names_in named.fxt)" = $'innermost\nmain\noutermost' ]
	decode check named.fxt
	fxt check named.fxt
	[ "$(stat -c %a named.fxt)" = 600 ]

	fxt symbolize - --output=/dev/stdout <raw.fxt | cat >piped.fxt
	cmp piped.fxt named.fxt

	# A reader without room for a copy with names says so.
	TMPDIR=$PWD/nowhere fxt report raw.fxt 2>said | grep ' calls of 3 functions '
	diff - said <<<'fxt: raw.fxt: functions are shown by address: No such file or directory'

	chmod 600 raw.fxt
	fxt symbolize raw.fxt
	cmp raw.fxt named.fxt
	[ "$(stat -c %a raw.fxt)" = 600 ]
	[ "$(ls -A | grep -c fxt)" = 4 ]

	# If there is nothing to name, nothing changes.
	fxt symbolize raw.fxt
	cmp raw.fxt named.fxt
}

@test "the source file and line of a function" {
	build ends cc -O2 -g "$symbols/ends.c"
	cp ends spare
	fxtrun -o ends.fxt ./ends replace spare ends
	line=$(grep -n '^static int outermost' "$symbols/ends.c" | cut -d: -f1)
	fxt dump ends.fxt | grep 'name="outermost"' | grep -q "file=\"$symbols/ends.c\", line=uint32:$line,"
}

@test "symbolize: wrong usage and broken files" {
	build ends cc -O2 "$symbols/ends.c"
	cp ends spare
	raw ./ends replace spare ends
	echo text >text
	says 2 "fxt symbolize: no trace file given; see fxt symbolize --help" fxt symbolize
	says 2 "fxt symbolize: more than one trace file; see fxt symbolize --help" fxt symbolize raw.fxt text
	says 2 "fxt symbolize: the standard input needs -o OUT; see fxt symbolize --help" fxt symbolize -
	says 2 "fxt: text: is not a trace in the Fuchsia trace format (FXT)" fxt symbolize text
	says 2 "fxt: none: cannot be opened: No such file or directory" fxt symbolize none
	says 2 "fxt: nowhere/out.fxt: cannot be written: No such file or directory" fxt symbolize raw.fxt -o nowhere/out.fxt
	[ "$(cat text)" = text ]
	[ ! -e none ]

	size=$(stat -c %s raw.fxt)
	head -c $((size - 8)) raw.fxt >cut.fxt
	run fxt symbolize cut.fxt
	[ "$status" = 1 ]
	[[ $output == "fxt: cut.fxt: offset 0x"*": truncated inside a record" ]]
	decode check cut.fxt

	rm ends
	run fxt symbolize raw.fxt
	[ "$status" = 0 ]
	[ "$output" = "fxt: raw.fxt: no name is known for 3 of 3 functions" ]
}

# shown_positions TRACE: the functions with a source position in the viewer, and the
# positions.
shown_positions()
{
	viewer "$1" "SELECT s.name, extract_arg(s.arg_set_id, 'debug.file'), extract_arg(s.arg_set_id, 'debug.line')
		FROM slice s JOIN process_track t ON t.id = s.track_id
		WHERE t.name = 'functions' AND s.ts >= (SELECT min(ts) FROM slice WHERE category != 'source') - 1000000000 ORDER BY 1"
}

@test "the viewer shows where each function stands in the source: of a trace as it is written, and of one that is symbolized" {
	needs_viewer
	printf '%s\n' 'int first(int n)' '{ return n + 1; }' '' 'int second(int n)' '{ return first(n) + first(2 * n); }' '' \
		'int main(void)' '{ return second(1) > 100; }' >where.c
	${CC:-cc} -O0 -g -finstrument-functions -o where where.c
	printf '%s\t%s\t%s\n' first "$PWD/where.c" 1 main "$PWD/where.c" 7 second "$PWD/where.c" 4 >expected
	fxtrun -o trace.fxt ./where
	shown_positions trace.fxt | diff expected -
	fxtrun --raw -o raw.fxt ./where
	[ -z "$(shown_positions raw.fxt)" ]
	fxt symbolize raw.fxt
	shown_positions raw.fxt | diff expected -
	LD_PRELOAD=$build/libfxtagent.so FXT_OUTPUT=alone.fxt ./where
	fxt symbolize alone.fxt
	shown_positions alone.fxt | diff expected -
	# To fxt they are neither calls nor anything else; and a part of a trace shows none
	# of the removed ones.
	for trace in trace.fxt raw.fxt alone.fxt; do
		reported_calls $trace | diff - <(printf '%s\t%s\n' first 2 main 1 second 1)
	done
	fxt cut --function=second -o part.fxt trace.fxt
	fails grep -q 'fxt: functions' part.fxt
}
