#!/usr/bin/env bats
# tests/layers and tests/names find faults in trees made for them: wrong order of files, and
# documents that name what does not exist.

load helpers

# A tree of two folders in order: writer/high.c uses writer/low.c, and agent/agent.c both.
plant()
{
	mkdir -p doc/design writer agent
	echo 'int low(void) { return 1; }' >writer/low.c
	echo 'int low(void); int high(void) { return low(); }' >writer/high.c
	echo 'int low(void), high(void); int agent(void) { return low() + high(); }' >agent/agent.c
	printf '%s\n' '```layers' "writer uses nothing; ${1:-at most 0 calls up, no circle}" low.c high.c '```' \
		'```layers' 'agent uses writer; at most 0 calls up, no circle' agent.c '```' >doc/design/order.md
}

compile()
{
	local source

	for source in */*.c; do
		mkdir -p "build/obj/${source%/*}"
		${CC:-cc} -c -o "build/obj/${source%.c}.o" "$source"
	done
}

# layers LINE...: each is said by tests/layers, which fails if one of them says "not ok".
layers()
{
	local line

	compile
	run "$root/tests/layers" build .
	[ "$status" = "$(printf '%s\n' "$@" | grep -c -m 1 '^not ok')" ]
	for line in "$@"; do
		grep -qxF -- "$line" <<<"$output"
	done
	[ "$(grep -c '^not ok' <<<"$output")" = "$(printf '%s\n' "$@" | grep -c '^not ok')" ]
}

@test "layers: files in order" {
	plant
	layers 'ok - layers: writer: at most 0 calls up' '# 0 of 1' 'ok - layers: agent uses writer'
}

@test "layers: a call up, and the circle it makes" {
	plant
	echo 'int high(void); int low(void) { return high(); }' >writer/low.c
	layers 'not ok - layers: writer: at most 0 calls up' '# low.c -> high.c: high' \
		'not ok - layers: writer: no circle' '# 2 files: high.c low.c'
}

@test "layers: as many calls up as are allowed" {
	plant 'at most 1 call up, no circle of more than 2 files'
	echo 'int high(void); int low(void) { return high(); }' >writer/low.c
	layers 'ok - layers: writer: at most 1 call up' '# low.c -> high.c: high' \
		'ok - layers: writer: no circle of more than 2 files'
}

@test "layers: a folder that uses one behind it" {
	plant
	sed -i 's/agent uses writer/reader uses writer/; s/^agent.c/reader.c/' doc/design/order.md
	mkdir reader && mv agent/agent.c reader/reader.c
	echo 'int agent(void); int low(void) { return agent(); }' >writer/low.c
	layers 'not ok - layers: writer uses no other folder' '# low.c uses reader: agent'
}

@test "layers: a file without a place, and a place without a file" {
	plant
	mv writer/low.c writer/lower.c
	layers 'not ok - layers: writer: every file has its place in the list' '# lower.c is not in the list' \
		'# low.c does not exist'
}

@test "layers: a file other than arch.h that asks for the processor" {
	plant
	mkdir writer/shared
	echo '#ifdef __aarch64__' >writer/shared/arch.h
	layers 'ok - layers: which processor it is, arch.h alone asks'
	printf '#ifdef __aarch64__\n#endif\n' >>writer/low.c
	echo '#ifdef __x86_64__' >agent/agent.h
	layers 'not ok - layers: which processor it is, arch.h alone asks' '# agent/agent.h' '# writer/low.c'
}

@test "names: of files, functions, tests" {
	plant
	mkdir tests && echo '@test "that it stands" {' >tests/some.bats && echo 'int low(void) { return 1; } /* gone() */' >writer/low.c
	touch README.md Makefile
	echo 'See writer/low.c, low.c, low() and tests/some.bats "that it stands".' >doc/architecture.md
	"$root/tests/names" .
	echo 'See writer/gone.c, gone.h, gone(), `fxt_gone` and tests/some.bats "that it falls".' >doc/architecture.md
	run "$root/tests/names" .
	[ "$status" = 1 ]
	diff <(echo "$output") - <<-'END'
		ok - README.md names what exists
		not ok - doc/architecture.md names what exists
		# fxt_gone is not in the sources
		# gone() does not exist
		# gone.h does not exist
		# tests/some.bats has no test "that it falls"
		# writer/gone.c does not exist
		ok - doc/design/order.md names what exists
	END
}
