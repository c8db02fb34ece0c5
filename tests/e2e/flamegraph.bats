#!/usr/bin/env bats
# fxt flamegraph: every box is what the independent decoder knows of its path; the picture
# answers in a browser.

load helpers
load heap

# drawn COST PATHS OPTION...: flame.svg of trace.fxt is that of the paths.
drawn()
{
	local cost=$1 paths=$2

	shift 2
	fxt flamegraph -o flame.svg "$@" trace.fxt
	python3 "$root/tests/e2e/flames.py" "$cost" flame.svg $paths
}

# label OBJECT: before each path of `decode paths`, the name that a group has: of its
# process, or of its thread.
label()
{
	decode threads trace.fxt >names
	awk -F'\t' -v OFS='\t' -v by="$1" '
		FNR == NR { name[$1, $2] = by == "process" ? $3 : $4 ", thread " $2; next }
		{ $4 = name[$1, $2] ";" $4; print }' names -
}

@test "time, calls and callers of a ray tracer in four threads" {
	fxtrun "$build/examples/raytracer" >/dev/null
	decode paths trace.fxt >paths
	drawn time paths
	drawn calls paths --cost=calls
	drawn self paths --bottom-up
	label thread <paths >by_thread
	drawn time by_thread --threads
}

@test "chosen calls are as wide as they last, without their parts that were not chosen" {
	fxtrun "$build/examples/raytracer" >/dev/null
	decode report trace.fxt | awk -F'\t' '$4 == "in_shadow(vec)" { total += $7; calls += $5 } END { print total, calls }' >expected
	fxt flamegraph --function=in_shadow -o flame.svg trace.fxt
	read -r total calls <expected
	[ "$(grep -c '^<svg class="b ' flame.svg)" = 2 ]
	drawn=$(grep -o 'data-total="[0-9]*" data-self="[0-9]*" data-calls="[0-9]*"><title>in_shadow(vec)' flame.svg)
	[[ $drawn == *"data-calls=\"$calls\""* ]]
	drawn=$(sed 's/data-total="\([0-9]*\)".*/\1/' <<<"$drawn")
	[ "$drawn" -ge "$total" ]
	[ "$drawn" -le $((total + 4)) ]
	says 2 "fxt flamegraph: with a cost of the heap no calls can be chosen; see fxt flamegraph --help" \
		fxt flamegraph --cost=peak --function=main trace.fxt
}

# The sums of fxt report are of functions alone and made by another pass; what the program
# slept it measures itself.
@test "time off the CPU: the sums of each function are those of report, and what slept is there" {
	cat >sleeps.c <<-'END'
		#include <stdio.h>
		#include <time.h>
		static void rests(void) { nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL); }
		static void twice(void) { rests(); rests(); }
		static void works(void) { for (volatile int i = 0; i < 1000000; i++); }
		int main(void)
		{
			struct timespec a, b;
			clock_gettime(CLOCK_MONOTONIC, &a);
			twice();
			clock_gettime(CLOCK_MONOTONIC, &b);
			printf("%lld\n", (b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec);
			works();
			return 0;
		}
	END
	${CC:-cc} -O0 -finstrument-functions -o sleeps sleeps.c
	most=$(fxtrun -o sleeps.fxt ./sleeps)
	[ -n "$(decode switches sleeps.fxt)" ] || skip "no context switches here"
	fxtrun -o threads.fxt "$build/examples/threads" >/dev/null
	for trace in sleeps threads; do
		fxt flamegraph --cost=off-cpu $trace.fxt | grep "^$trace.svg: $trace.fxt: .* off CPU$"
		fxt report --csv $trace.fxt >report.csv
		python3 - $trace.svg <<-'END'
			import collections, csv, sys, xml.etree.ElementTree as tree
			expected = collections.Counter()
			for line in open("report.csv"):
			    row = next(csv.reader([line]))
			    if row[:1] == ["table"]:
			        columns = row
			    elif row and "off_cpu_ns" in columns:
			        row = dict(zip(columns, row))
			        expected[row["name"]] += int(row["off_cpu_ns"] or 0)
			boxes = [e for e in tree.parse(sys.argv[1]).getroot().iter() if (e.get("class") or "").startswith("b ")]
			root, drawn = boxes[0], collections.Counter()
			for box in boxes[1:]:
			    drawn[next(iter(box)).text.split("\n")[0]] += int(box.get("data-self"))
			total, least = int(root.get("data-total")), int(root.get("data-total")) / 1000
			assert abs(total - sum(expected.values())) <= 100, (total, sum(expected.values()))
			wrong = {n: (drawn[n], expected[n]) for n in {*drawn, *expected} if abs(drawn[n] - expected[n]) > least}
			assert not wrong, wrong
		END
	done
	slept=$(grep -o 'data-total="[0-9]*" data-self="[0-9]*" data-calls="1"><title>twice' sleeps.svg | sed 's/data-total="\([0-9]*\)".*/\1/')
	[ "$slept" -gt 55000000 ]
	[ "$slept" -le "$most" ]
	fxt flamegraph --cost=off-cpu --bottom-up -o - sleeps.fxt | grep -q '<title>\(rests\|nanosleep\|clock_nanosleep\)$'
	fxtrun --no-sched -o none.fxt ./sleeps >/dev/null
	says 2 "fxt: none.fxt: nothing to be drawn: it has no context switches; fxtrun records them if the kernel allows it, and otherwise says why not" \
		fxt flamegraph --cost=off-cpu none.fxt
}

@test "several processes: each by itself, those of one name together" {
	fxtrun --categories=function,process sh -c '"$0"; "$0"; "$1"' "$build/examples/threads" "$build/examples/hello" >/dev/null
	# Both programs have a function main, which is shown with its program.
	decode paths trace.fxt | label process | sed -E 's/(threads|hello);main/& [\1]/' >paths
	[ "$(cut -f 4 paths | cut -d ';' -f 1 | sort -u | wc -l)" = 2 ]
	drawn time paths
}

@test "compared with another trace, which has other paths too" {
	cat >work.c <<-'END'
		#include <stdlib.h>
		static volatile int sum;
		static void spin(int n) { while (n-- > 0) sum++; }
		static void more(int n) { spin(n); }
		static void gone(void) { spin(1000000); }
		static void new(void) { spin(1000000); }
		int main(int argc, char **argv)
		{
			more(atoi(argv[1]));
			if (argc > 2) gone(); else new();
			return 0;
		}
	END
	${CC:-cc} -O1 -finstrument-functions -o work work.c
	fxtrun -o old.fxt ./work 1000000 with
	fxtrun ./work 9000000
	decode paths old.fxt >old
	decode paths trace.fxt >paths
	drawn time 'paths old' --against=old.fxt
	# Red what is more, a box of class m4 at the most; neutral what is the same.
	grep -q '<svg class="b m4[^>]*><title>more$' flame.svg
	grep -q '<svg class="b m4[^>]*><title>new$' flame.svg
	fails grep -q '<title>gone$' flame.svg
	fxt flamegraph --against=trace.fxt -o same.svg trace.fxt
	fails grep -q 'class="b [lm]' same.svg
}

@test "bytes of the heap, by call path" {
	heap_traced
	for cost in allocated leaked; do
		drawn bytes $cost --cost=$cost
	done
	grep -q "^peak.svg: trace.fxt: .* at the peak$" <(fxt flamegraph --cost=peak -o peak.svg trace.fxt)
}

@test "names of any bytes make a well-formed picture" {
	python3 - <<-'END'
		import struct
		pack = lambda *words: struct.pack(f"<{len(words)}Q", *words)
		def string(index, text):
		    words = (len(text) + 7) // 8
		    return pack(2 | 1 + words << 4 | index << 16 | len(text) << 32) + text.ljust(8 * words, b"\0")
		with open("trace.fxt", "wb") as file:
		    file.write(pack(0x0016547846040010, 1 | 2 << 4, 10**9) + string(1, b"function"))
		    file.write(pack(3 | 3 << 4 | 1 << 16, 77, 78))
		    for i in range(256):
		        name = bytes([i]) + b"]]><&amp;\"'\xef\xbf\xbf\xed\xa0\x80\xe2\x80\xae" + bytes([i])
		        file.write(string(2 + i, name))
		        file.write(pack(4 | 3 << 4 | 4 << 16 | 1 << 24 | 1 << 32 | 2 + i << 48, 100 * i + 1, 100 * i + 99))
	END
	fxt flamegraph -o - trace.fxt | python3 -c 'import sys, xml.etree.ElementTree as tree
boxes = [e for e in tree.parse(sys.stdin.buffer).getroot().iter() if (e.get("class") or "").startswith("b ")]
assert len(boxes) == 257, len(boxes)'
}

@test "outputs: compressed by name, the standard output, and what cannot be written" {
	fxtrun --heap=off "$build/examples/hello" >/dev/null
	[[ $(fxt flamegraph trace.fxt) =~ ^trace.svg:\ trace.fxt:\ [0-9.]+\ [num]?s$ ]]
	fxt flamegraph -o - trace.fxt | diff - trace.svg
	fxt flamegraph --output=flame.svgz trace.fxt
	gzip -dc <flame.svgz | diff - trace.svg
	fxt flamegraph --output=flame.svg.zst trace.fxt
	zstd -dc flame.svg.zst | diff - trace.svg
	fxt flamegraph - <trace.fxt | grep -q '^<title>-: '
	cp trace.fxt kept.fxt
	says 2 "fxt: ./trace.fxt: cannot be written: it is the trace itself; choose another file" fxt flamegraph -o ./trace.fxt trace.fxt
	cmp trace.fxt kept.fxt
	says 2 "fxt: /dev/full: cannot be written: No space left on device" fxt flamegraph -o /dev/full trace.fxt
	says 2 "fxt: trace.fxt: nothing to be drawn: no heap was recorded; fxtrun --heap=objects records it" \
		fxt flamegraph --cost=peak trace.fxt
	echo 'int main(void) { void *volatile block = __builtin_malloc(100); __builtin_free(block); }' >frees.c
	${CC:-cc} -finstrument-functions -o frees frees.c
	fxtrun -o frees.fxt ./frees
	says 2 "fxt: frees.fxt: nothing to be drawn: all blocks of its heap were freed" \
		fxt flamegraph --cost=leaked frees.fxt
	says 2 "fxt flamegraph: no such cost: 'money'; see fxt flamegraph --help" fxt flamegraph --cost=money trace.fxt
}

# in_browser FRAGMENT: the page after its script has run, dom.svg.
in_browser()
{
	timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/browser" --virtual-time-budget=3000 \
		--dump-dom "file://$PWD/trace.svg#$1" >dom.svg 2>/dev/null
}

# shares CLASS: of the boxes that are shown and have it, the name and the width in percent.
shares()
{
	grep -A1 '^<svg class="b ' dom.svg | grep -o '<svg class="[^>]*>.*' | grep -v 'class="[^"]*away' | grep "class=\"[^\"]*$1" |
		sed -E 's/.* width="([0-9.]+)%".*<title>(.*)/\2 \1/'
}

@test "in a browser: zoom to a box, and search" {
	command -v chromium >/dev/null || skip "chromium is not here"
	fxtrun "$build/examples/raytracer" >/dev/null
	fxt flamegraph trace.fxt
	# Boxes by number: 0 is all, then by level and width.
	number=$(grep -o '^<svg class="b [^>]*><title>.*' trace.svg | sed 's/.*<title>//' | grep -n -m 1 '^shade' | cut -d: -f1)
	in_browser "zoom=$((number - 1))&search=in_shadow"
	shares 'b ' >shown
	grep -q '^shade(int, int) 100$' shown
	grep -q '^all 100$' shown
	fails grep -q '^main ' shown
	shares found >found
	grep -q '^in_shadow(vec) ' found
	fails grep -v '^in_shadow(vec) ' found
	# The matches within the zoomed box: in_shadow is in shade only, and not recursive.
	# Boxes of less than a thousandth need not be drawn.
	decode paths trace.fxt | awk -F'\t' '
		$4 !~ /;/ { all += $7 }
		$4 ~ /;in_shadow[^;]*$/ { sum[$4] += $7; rows++ }
		END {
			for (path in sum) { most += sum[path]; least += sum[path] > all / 1000 ? sum[path] : 0 }
			print least, most + rows
		}' >expected
	read -r least most <expected
	found=$(grep -o 'data-found="[0-9]*"' dom.svg | tr -dc 0-9)
	echo "$found found, of $least to $most"
	[ "$least" -gt 0 ]
	[ "$found" -ge "$least" ]
	[ "$found" -le "$most" ]
	# Boxes too narrow for a name may contain matches, and the picture gives their
	# share.
	zoomed=$(grep -o 'data-total="[0-9]*"[^>]*><title>shade' dom.svg | sed 's/data-total="\([0-9]*\)".*/\1/;q')
	unnamed=$(sed -n 's/.*>found: [0-9.]* % of [^;<]*; \([0-9.]*\) % is in boxes too narrow to be drawn<.*/\1/p' dom.svg)
	echo "${unnamed:=0} % of $zoomed has no name"
	awk -v found="$found" -v part="$unnamed" -v all="$zoomed" -v least="$most" 'BEGIN { exit !(found + (part + 0.01) / 100 * all >= least) }'
}
