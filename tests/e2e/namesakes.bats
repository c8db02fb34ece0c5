#!/usr/bin/env bats
# Functions with the same name are told apart by their module, their source file or their
# place in the module. Each counts its own calls, which is the truth that answers are
# compared with.

load helpers

setup_file()
{
	local programs=$BATS_TEST_DIRNAME/../programs/modules

	cd "$BATS_FILE_TMPDIR"
	for name in fast slow; do
		namesake "$name.so" "$programs/namesake.c" -fPIC -shared -DOWNER="\"$name.so\"" -DNAME='"process"'
	done
	for name in left right; do
		cp "$programs/namesake.c" "$name.c"
		namesake "$name.o" "$name.c" -c -DRUN="run_$name" -DNAME="\"run_$name\"" -DOWNER=__FILE__
	done
	namesake host "$programs/namesakes.c" -ldl left.o right.o
	strip -g -o stripped host
	fxtrun -o plugins.fxt --heap=objects ./host ./fast.so 5 ./slow.so 2 >plugins.counts
	fxtrun -o static.fxt ./host static >static.counts
	namesake said "$programs/said.c" -I"$root/include"
	fxtrun -o said.fxt ./said | sort >said.truth
	# What the functions counted, under the names that tell them apart.
	awk -F'\t' '{ print $2 " [" $1 "]\t" $3 }' plugins.counts | sort >plugins.truth
	awk -F'\t' '{ print ($2 == "helper" ? $2 " [" $1 "]" : $2) "\t" $3 }' static.counts | sort >static.truth
}

setup()
{
	cd "$BATS_FILE_TMPDIR"
}

# namesake PROGRAM SOURCE OPTION...
namesake()
{
	${CC:-cc} -O1 -g -D_GNU_SOURCE -finstrument-functions -o "$@"
}

# The functions of a report's output in CSV and their calls, without main() and those of the
# program itself.
calls()
{
	rows functions name calls | grep -v -E '^(main|run_static)\>' | sort
}

# has_both COMMAND...: what it prints names both functions.
has_both()
{
	"$@" >shown
	grep -q -F "${of:-process} [${one:-fast.so}]" shown && grep -q -F "${of:-process} [${other:-slow.so}]" shown
}

@test "two plugins that define one name: the calls of each are those that it counted" {
	[ "$(wc -l <plugins.truth)" = 4 ]
	diff plugins.truth <(fxt report --csv plugins.fxt | calls)
	fxt report --by=module --csv plugins.fxt | rows modules name calls | sed 's|.*/||' | sort >modules
	diff <(printf 'fast.so\t15\nhost\t1\nslow.so\t6\n') modules
	fxt sql --csv 'select module, function, count(*) as calls from calls group by 1, 2' plugins.fxt |
		rows rows module function calls | grep -v main | sed -E 's|^.*/(\S+)\t(.* \[(.*)\])|\1\t\2\t\3|' >answers
	[ "$(wc -l <answers)" = 4 ]
	awk -F'\t' '$1 != $3 { exit 1 }' answers
	diff plugins.truth <(cut -f2,4 answers | sort)
}

@test "static functions of two source files: by the file, or without debug information by the address" {
	[ "$(wc -l <static.truth)" = 4 ]
	diff static.truth <(fxt report --csv static.fxt | calls)
	fxtrun -o stripped.fxt ./stripped static >/dev/null
	nm host | awk '$3 == "helper" { sub(/^0+/, "", $1); print "helper [0x" $1 "]" }' | sort >places
	[ "$(wc -l <places)" = 2 ]
	diff places <(fxt report --csv stripped.fxt | calls | grep helper | cut -f1)
	diff <(cut -f2 static.truth | sort) <(fxt report --csv stripped.fxt | calls | cut -f2 | sort)
}

@test "a program's child, and its second image, have the same functions" {
	for program in host stripped; do
		fxtrun -o twice.fxt "./$program" twice >twice.counts
		fxt report --csv twice.fxt | calls >twice
		[ "$(wc -l <twice)" = 4 ]
		diff <(awk -F'\t' '{ print $2 * 3 }' static.truth | sort -n) <(cut -f2 twice | sort -n)
	done
}

@test "every command shows both, and the name alone chooses both" {
	has_both fxt tree plugins.fxt
	of=helper has_both fxt slow helper plugins.fxt
	one=fast.so other=fast.so has_both fxt why 'process [fast.so]' plugins.fxt
	one=slow.so other=slow.so has_both fxt why 'process [slow.so]' plugins.fxt
	has_both fxt replay plugins.fxt
	has_both fxt heap plugins.fxt
	has_both fxt html -o page.html plugins.fxt && has_both cat page.html
	for format in folded speedscope firefox chrome-json callgrind perfetto; do
		fxt export --to="$format" -o exported plugins.fxt
		has_both cat exported
	done
	fxt export --to=pprof -o exported.gz plugins.fxt
	has_both zcat exported.gz
	diff <(grep process plugins.truth) <(fxt report --csv --function=process plugins.fxt | calls)
	diff <(grep 'process \[slow' plugins.truth) <(fxt report --csv --function='process [slow.so]' plugins.fxt | calls)
	diff <(grep 'fast' plugins.truth) <(fxt report --csv --module='fast.so' plugins.fxt | calls)
	diff <(grep 'helper \[left' static.truth) <(fxt report --csv --function='helper [left.c]' static.fxt | calls)
}

@test "a part of a trace, and several traces together, tell them apart" {
	fxt cut --function='process' -o part.fxt plugins.fxt
	diff <(grep process plugins.truth) <(fxt report --csv part.fxt | calls)
	fxt merge -o both.fxt plugins.fxt static.fxt
	diff <(cat plugins.truth <(grep -v helper static.truth) | grep -v helper | sort) \
		<(fxt report --csv both.fxt | calls | grep -v helper)
	diff <(sort -k2,2n plugins.truth static.truth | awk -F'\t' '/^helper/ { print $2 }' | sort) \
		<(fxt report --csv both.fxt | calls | awk -F'\t' '/^helper/ { print $2 }' | sort)
}

@test "a trace that is symbolized later tells them apart" {
	FXT_OUTPUT=$PWD/raw.fxt LD_PRELOAD=$build/libfxtagent.so ./host ./fast.so 5 ./slow.so 2 >/dev/null
	fxt symbolize -o named.fxt raw.fxt
	diff plugins.truth <(fxt report --csv named.fxt | calls)
	fxt cut --function='process' -o part.fxt named.fxt
	diff <(grep process plugins.truth) <(fxt report --csv part.fxt | calls)
}

@test "fxt diff compares functions that share a name with themselves, by their module" {
	fxtrun -o one.fxt ./host ./slow.so 2 >/dev/null
	for order in 'one.fxt plugins.fxt' 'plugins.fxt one.fxt'; do
		fxt diff --csv $order | rows functions name >names
		[ "$(grep -c process names)" = 2 ]
		[ "$(grep -c 'process \[slow.so\]' names)" = 1 ]
	done
}

@test "a function and spans of its name are told apart, spans by their category" {
	local name calls

	[ "$(wc -l <said.truth)" = 4 ]
	diff said.truth <(fxt report --csv said.fxt | calls)
	diff said.truth <(fxt sql --csv "select function, count(*) as calls from calls where function <> 'main' group by 1" said.fxt |
		rows rows function calls | sort)
	fxt diff --csv said.fxt said.fxt | rows functions name calls_before calls_after | grep -v main | sort >both
	diff <(awk -F'\t' '{ print $0 "\t" $2 }' said.truth) both
	fxt html -o page.html said.fxt
	while IFS=$'\t' read -r name calls; do
		[ "$(fxt slow --json -n 1000 "$name" said.fxt | jq '.traces[0].tables[] | select(.name == "calls") | .rows | length')" = "$calls" ]
		grep -F "\"$name\"" page.html
	done <said.truth
	fxt slow work said.fxt | grep -F "work: $(awk -F'\t' '/^work/ { n += $2 } END { print n }' said.truth) calls"
	# A part of the trace has them too.
	fxt cut --function='work [span net]' -o net.fxt said.fxt
	[ "$(fxt report --csv net.fxt | calls | cut -f2)" = "$(awk -F'\t' '/span net/ { print $2 }' said.truth)" ]
}
