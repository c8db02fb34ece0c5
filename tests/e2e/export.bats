#!/usr/bin/env bats
# fxt export: other tools read each format, and find in it what the independent decoder knows.

load helpers
load heap

# export_is KIND READ PATHS...
export_is()
{
	python3 "$root/tests/e2e/exports.py" "$@"
}

# raytraced: trace.fxt of four threads, with a recursion, and what is spent on each path of it.
raytraced()
{
	fxtrun "$build/examples/raytracer" >/dev/null
	decode paths trace.fxt >paths
}

# A heap in some paths, beside time in others.
heap_traced()
{
	cat >heap.c <<-'END'
		#include <stdlib.h>
		void *volatile kept;
		static void keep(int n) { kept = malloc(n); }
		static void churn(int n) { void *volatile p = malloc(n); free(p); }
		static void both(int n) { keep(n); churn(2 * n); }
		int main(void)
		{
			for (int i = 0; i < 100; i++) both(1000 + i);
			keep(50000);
			return 0;
		}
	END
	${CC:-cc} -O1 -g -finstrument-functions -o heap heap.c
	fxtrun --heap=objects ./heap
	heapdecode blocks trace.fxt >blocks
	for cost in allocated leaked; do
		awk -F'\t' -v OFS='\t' -v cost=$cost 'cost == "allocated" || $6 == "" { bytes[$4] += $2; n[$4]++ }
			END { for (path in n) print path, bytes[path], n[path] }' blocks >$cost
	done
}

@test "folded stacks: time, and bytes of the heap" {
	raytraced
	[ "$(fxt export --to=folded trace.fxt)" = trace.folded ]
	export_is folded trace.folded paths
	heap_traced
	fxt export --to=folded --cost=leaked -o leaked.folded trace.fxt
	export_is folded leaked.folded leaked
}

@test "callgrind: callgrind_annotate reads it" {
	command -v callgrind_annotate >/dev/null || skip "callgrind_annotate is not here"
	raytraced
	fxt export --to=callgrind trace.fxt
	callgrind_annotate --threshold=100 --auto=no trace.callgrind >annotated
	export_is callgrind annotated paths
	callgrind_annotate --inclusive=yes --threshold=100 --auto=no trace.callgrind >annotated
	export_is inclusive annotated paths
	callgrind_annotate --tree=both --threshold=100 --auto=no trace.callgrind >annotated
	# shade() is called by draw_row() alone; the count is the decoder's.
	calls=$(decode report trace.fxt | awk -F'\t' '$4 == "shade(int, int)" { n += $5 } END { print n }')
	sed 's/,//g' annotated | grep -A3 '\* *???:draw_row(' | grep "> *???:shade(int int) (${calls}x)"
}

@test "pprof: Go's pprof reads it, with the heap" {
	go version >/dev/null 2>&1 || skip "Go is not here"
	raytraced
	fxt export --to=pprof trace.fxt
	gzip -t trace.pb.gz
	go tool pprof -raw trace.pb.gz >raw
	export_is pprof raw paths
	heap_traced
	decode paths trace.fxt >paths
	fxt export --to=pprof -o heap.pb trace.fxt
	go tool pprof -raw heap.pb >raw
	grep -q '^calls/count time/nanoseconds\[dflt\] allocated/bytes peak/bytes leaked/bytes$' raw
	# All that is left is what lived at the peak, but for the last block that churn() freed.
	export_is pprof raw paths allocated leaked leaked
}

@test "wrong usage, and a trace that is cut: told, and what there is is written" {
	fxtrun "$build/examples/hello" >/dev/null
	says 2 "fxt export: no format given: --to=FORMAT; see fxt export --help" fxt export trace.fxt
	says 2 "fxt export: no such format: 'xml'; see fxt export --help" fxt export --to=xml trace.fxt
	says 2 "fxt export: no trace file given; see fxt export --help" fxt export --to=folded
	says 2 "fxt: missing.fxt: cannot be opened: No such file or directory" fxt export --to=folded missing.fxt
	[ ! -e missing.folded ]
	size=$(stat -c %s trace.fxt)
	head -c $((size - 12)) trace.fxt >cut.fxt
	for format in $(fxt export --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'); do
		status=0
		fxt export --to=$format -o out cut.fxt 2>err || status=$?
		[ "$status" = 1 ] && [ -s out ]
		grep -q '^fxt: cut.fxt: offset 0x[0-9a-f]*: truncated inside a record$' err
	done
}
