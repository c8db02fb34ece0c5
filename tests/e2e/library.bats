#!/usr/bin/env bats
# The C++ library's own functions count in the program's functions that call them. The truth
# is the independent decoder's slices, the source file that the debug information gives for
# each function, and counters in the program.

load helpers

setup_file()
{
	cd "$BATS_FILE_TMPDIR"
	${CXX:-c++} -O1 -g -finstrument-functions -pthread -o program "$root/tests/programs/symbols/templates.cc"
	fxtrun -o trace.fxt ./program >counted
	decode times trace.fxt >slices
	# Functions from the library's headers, by the compiler's debug information, and those of
	# libstdc++, by the version of their symbols.
	nm -C -l program | awk -F'\t' '$2 ~ /\/c\+\+\// || $1 ~ /@(GLIBCXX|CXXABI)_/ {
		sub(/@.*/, "", $1); print substr($1, 20) }' | sort -u >library
	fxt report --csv trace.fxt >folded.csv
	fxt report --csv --library trace.fxt >all.csv
}

setup()
{
	cd "$BATS_FILE_TMPDIR"
}

# The program's own functions by their names without parameters.
own()
{
	rows functions name "$@" | grep -P '^(is_less\(|keep\(|std::vector<int, std::allocator<int> > collect<|run\(|main\t)'
}

@test "calls of the C++ library count in the functions that call them, as the slices of the trace say" {
	[ "$(wc -l <library)" -gt 50 ]
	python3 "$root/tests/e2e/library.py" slices library folded.csv
	# Without folding nothing is in the library's place.
	python3 "$root/tests/e2e/library.py" slices /dev/null all.csv
	[ "$(rows functions name <all.csv | wc -l)" -gt 100 ]
	# What is left of the library has no caller: where a thread begins and ends.
	rows functions name <folded.csv | grep -F -x -f library >left
	[ "$(wc -l <left)" = 2 ]
	[ "$(grep -c -F 'std::thread::_State_impl<' left)" = 2 ]
}

@test "the program's functions have the same calls and totals with and without the library, and all own times add up the same" {
	own calls total_ns <folded.csv | sort >one
	own calls total_ns <all.csv | sort >two
	[ "$(wc -l <one)" = 5 ]
	diff one two
	own calls <folded.csv | sed -E 's/^(is_less|keep|std.* collect|run|main)[^\t]*/\1/; s/^std.* //' | sort | diff - <(sort counted)
	for file in folded all; do
		rows functions name self_ns <$file.csv | awk -F'\t' '{ sum += $2 } END { printf "%.0f\n", sum }' >$file.sum
	done
	# One rounding a row.
	[ "$(($(cat folded.sum) - $(cat all.sum)))" -ge 0 ]
	[ "$(($(cat folded.sum) - $(cat all.sum)))" -le "$(rows functions name <all.csv | wc -l)" ]
}

@test "tree, flamegraph, page and why fold too, and --library shows all" {
	for command in "tree --fold=0" "flamegraph --cost=calls -o -" "html -o -"; do
		fxt $command trace.fxt >short
		fails grep -E 'introsort|_M_insert' short
		grep -q is_less short
		fxt $command --library trace.fxt >long
		grep -q introsort long
	done
	fxt tree trace.fxt | grep -F -- '--library shows them'
	fxt tree --json trace.fxt >tree.json
	fails grep introsort tree.json
	fails grep -F -- --library <(fxt report --library trace.fxt)
}

@test "a question about a function of the library is answered" {
	truth=$(grep -c -F 'std::sort<' slices)
	[ "$truth" = 2 ]
	fxt slow std::sort trace.fxt | grep -E ': 2 calls'
	fxt why std::sort:1 trace.fxt | grep -F 'std::sort'
	fxt report -f sort --csv trace.fxt | rows functions name calls | awk -F'\t' '$2 != 2 { exit 1 }'
	fxt report --callers sort --csv trace.fxt | grep -F 'collect<int>'
	fxt report --callees sort --csv trace.fxt | grep -F 'is_less'
	# What the question is not about stays folded.
	fails grep introsort <(fxt report --callees sort --csv trace.fxt)
	fxt tree -u sort --fold=0 trace.fxt >under
	grep -q is_less under
	fails grep introsort under
}

@test "names are written as people write them; in full on request and for programs, and found by either" {
	short='keep(std::map<std::string, std::vector<int>>&, std::string const&, int)'
	full=$(nm -C program | awk '/ keep\(/ { sub(/^[^ ]+ . /, ""); print }')

	[ "${#full}" -gt 300 ]
	for command in report "tree --fold=0" "html -o -" "flamegraph --cost=calls -o -"; do
		fxt $command trace.fxt | sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >shown
		grep -q -F "$short" shown
		fails grep -F 'keep(std::map<std::__cxx11' shown
		fxt $command --full-names trace.fxt | sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' | grep -q -F "${full:0:90}"
	done
	grep -q -F "$full" folded.csv
	for name in "$short" "$full" keep; do
		fxt report -f "$name" --csv trace.fxt | rows functions calls | diff - <(echo 50)
		fxt slow "$name" trace.fxt | grep -E ': 50 calls'
	done
}
