#!/usr/bin/env bats
# fxt suggest: what it says would be left is what is left, by the independent decoder.

load helpers

# facts FILTER: of what fxt suggest says of trace.fxt.
facts()
{
	fxt suggest --json trace.fxt | jq -r "$1"
}

calls_in()
{
	calls_by_name "$1" | awk -F'\t' '{ n += $2 } END { print n }'
}

@test "suggest prints all functions of many short calls and no others; without them as many calls are left as it said" {
	[ -x "$build/real/lua" ] || skip "no source package of lua could be reached"
	fxtrun --heap=off -o trace.fxt "$build/real/lua" "$root/tests/real/queens.lua" >out
	facts '.traces[].tables[].rows[] | [.name, .calls] | @tsv' >suggested
	fxt suggest --json -n 1000 trace.fxt | jq -r '.traces[].tables[].rows[] | [.name, .calls] | @tsv' >all
	[ "$(wc -l <suggested)" = 10 ]
	head -10 all | diff suggested -
	calls_by_name trace.fxt >calls
	grep -xFf all calls | sort | diff - <(sort all)
	# The percentiles of fxt are those of the trace within 1/32.
	decode times trace.fxt | python3 -c 'import collections, sys
times = collections.defaultdict(list)
for line in sys.stdin:
    fields = line.split("\t")
    times[fields[3]].append(int(fields[5]))
suggested = {line.split("\t")[0] for line in open("all")}
calls = sum(map(len, times.values()))
for name, all in times.items():
    if len(all) >= 1000 and len(all) >= calls // 100:
        p90 = sorted(all)[-(-len(all) * 9 // 10) - 1]
        assert 968 < p90 < 1032 or (p90 < 1000) == (name in suggested), (name, p90)
    else:
        assert name not in suggested, name
long = {bound: sum(time >= bound for all in times.values() for time in all) for bound in (938, 1063)}
print(*long.values())' >long
	[ "$(facts '.traces[].facts.min_duration')" = 1us ]
	read -r most least <long
	left=$(facts '.traces[].facts.min_duration_calls')
	[ "$left" -ge "$least" ]
	[ "$left" -le "$most" ]

	left=$(facts '.traces[].facts.left_calls')
	facts '.traces[].facts.exclude' | xargs sh -c 'exec fxtrun "$@" -o without.fxt '"'$build/real/lua' '$root/tests/real/queens.lua'" fxtrun >out
	[ "$(calls_in without.fxt)" = "$left" ]
	[ "$left" -lt "$(calls_in trace.fxt)" ]
}

@test "fxtrun says so of a trace that would be half as large, and of no other" {
	cat >many.c <<-'END'
		#include <stdlib.h>
		static volatile int sum;
		__attribute__((noinline)) static void leaf(void) { sum++; }
		#define F(n) __attribute__((noinline)) static void f##n(void) { sum++; }
		#define CALL(n) f##n();
		#define TEN(X, t) X(t##0) X(t##1) X(t##2) X(t##3) X(t##4) X(t##5) X(t##6) X(t##7) X(t##8) X(t##9)
		TEN(F, 1) TEN(F, 2) TEN(F, 3)
		int main(int argc, char **argv)
		{
			for (int i = atoi(argv[1]); i > 0; i--)
				leaf();
			for (int i = atoi(argv[2]); i > 0; i--) {
				TEN(CALL, 1) TEN(CALL, 2) TEN(CALL, 3)
			}
			return argc != 3;
		}
	END
	${CC:-cc} -O1 -finstrument-functions -o many many.c
	local made
	for made in "1500000 0 half" "500000 30000 half" "0 50000 all" "300000 0 all"; do
		fxtrun --heap=off -o trace.fxt ./many ${made% *} 2>said
		if [ "${made##* }" = half ]; then
			grep "fxt suggest trace.fxt prints" said
		else
			fails grep "fxt suggest" said
		fi
	done
	# The file's name at the other end of a pipe is not known.
	fxtrun --heap=off -o - ./many 1500000 0 2>said | cat >piped.fxt
	grep "fxt suggest prints" said
}

@test "its line is one for a shell, whatever the names" {
	cat >names.cc <<-'END'
		struct row { volatile int cells[4]; int operator[](int i) { return cells[i & 3]; } };
		struct it { template <typename T> static int s(T, char c) { return c; } };
		int main()
		{
			row r = {};
			int sum = 0;
			for (int i = 0; i < 5000; i++)
				sum += r[i] + it::s<const char *>("", 'x');
			return sum == 0;
		}
	END
	${CXX:-c++} -O0 -finstrument-functions -o names names.cc
	fxtrun -o trace.fxt ./names
	line=$(fxt suggest trace.fxt | grep -- '--exclude')
	[ "$(fxt suggest trace.fxt | grep -c -- '--exclude')" = 1 ]
	sh -c "$line -o without.fxt ./names"
	[ "$(calls_in without.fxt)" = 1 ]
}

@test "functions that share a name, or whose names are globs for others, are not suggested" {
	cat >alike.cc <<-'END'
		static volatile int sum;
		static void work() { for (int i = 0; i < 10000; i++) sum = sum + 1; }
		struct vec {
			vec operator*(int a) { sum = sum + a; return *this; }
			vec operator*=(int) { work(); return *this; }
		};
		extern "C" void step(int a) { sum = sum + a; }
		struct walker { static void step(int) { work(); } };
		int main()
		{
			for (int i = 0; i < 20000; i++) {
				vec() * i;
				step(i);
				if (i % 100 == 0) {
					vec() *= i;
					walker::step(i);
				}
			}
		}
	END
	${CXX:-c++} -O0 -w -finstrument-functions -o alike alike.cc
	fxtrun -o trace.fxt ./alike
	facts '.traces[].tables[].rows[].name' | sort | diff <(printf "%s\n" step "vec::operator*(int)") -
	left=$(facts '.traces[].facts.left_calls')
	[ "$left" = 801 ]
	facts '.traces[].facts.exclude' | xargs sh -c 'exec fxtrun "$@" -o without.fxt ./alike' fxtrun
	[ "$(calls_in without.fxt)" = "$left" ]
	# As lines of a file.
	facts '.traces[].facts.exclude' | xargs -n 1 | sed 's/^--exclude=/exclude /' >filter
	fxtrun --filter-file=filter -o without.fxt ./alike
	[ "$(calls_in without.fxt)" = "$left" ]
}

@test "nothing to suggest for few calls, no calls, and calls that were elided already" {
	printf '%s\n' 'static volatile int n;' 'static void step(int x) { n += x; }' \
		'int main(int argc, char **argv) { for (int i = 0; i < argc * 998; i++) step(i); return 0; }' >few.c
	gcc -O0 -finstrument-functions -o few few.c
	fxtrun -o trace.fxt ./few
	fxt suggest trace.fxt | tail -n +2 | diff - <(echo 'no function is called so often and so briefly that it should be excluded')
	fxtrun -o trace.fxt ./few more
	fxt suggest trace.fxt | grep -- "--exclude='step'"
	fxtrun -o trace.fxt -t 1s ./few more
	fxt suggest trace.fxt | fails grep -- '--exclude'
	fxtrun -o trace.fxt true
	fxt suggest trace.fxt | tail -n +2 | diff - <(echo 'no function is called so often and so briefly that it should be excluded')
}
