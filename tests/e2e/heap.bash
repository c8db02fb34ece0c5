# Helpers of the heap's tests: `load heap` after `load helpers`.

heapdecode()
{
	python3 "$root/tests/independent/heapdecode.py" "$@"
}

# build NAME FLAG...: compiles tests/programs/heap/NAME.c or .cc into the test's directory.
build()
{
	local source=$(echo "$root/tests/programs/heap/$1".c*)
	local compiler=${CC:-cc}

	[ "${source##*.}" = cc ] && compiler=${CXX:-c++}
	$compiler -O2 -g -o "$1" "$source" -pthread "${@:2}"
}

# traced OPTION... -- PROGRAM ARGUMENT...: behaves as without fxt, and nothing is lost.
traced()
{
	timeout 250 fxtrun -o trace.fxt "$@" >traced.out 2>traced.err </dev/null || return 1
	grep -q ' 0 lost' traced.err && fxt check trace.fxt
}

# heaps_in_the_viewer TRACE: those of every process that has any, peak and what is left, are
# what fxt heap says; a dump each.
heaps_in_the_viewer()
{
	fxt heap --json "$1" | jq -r '.processes[] | "\(.process)\t\(.name)" as $process | ["peak", .peak],
		["left at the end", {bytes: (.leaked.bytes + .kept.bytes), blocks: (.leaked.blocks + .kept.blocks)}] |
		select(.[1].bytes > 0) | "\($process)\t\(.[0])\t\(.[1].bytes)\t\(.[1].blocks)"' | sort >said
	viewer "$1" "SELECT pid, name, heap_name, sum(size), sum(count) FROM heap_profile_allocation JOIN process USING (upid)
		GROUP BY upid, heap_name" | sort | diff said -
	viewer "$1" "SELECT count(DISTINCT ts) FROM heap_profile_allocation GROUP BY upid, heap_name" | sort -u | diff - <(echo 1)
}

# heap_traced: trace.fxt of a heap in some paths, beside time in others; by path, bytes and
# blocks in the files allocated and leaked.
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
	# The fields of a block: pointer, size, function, path, start, end.
	heapdecode blocks trace.fxt >blocks
	for cost in allocated leaked; do
		awk -F'\t' -v OFS='\t' -v cost=$cost 'cost == "allocated" || $6 == "" { bytes[$4] += $2; n[$4]++ }
			END { for (path in n) print path, bytes[path], n[path] }' blocks >$cost
	done
}

# summary TRACE: as heapdecode.py peak, from fxt heap.
summary()
{
	fxt heap --json "$1" | python3 -c 'import json, sys
p, = json.load(sys.stdin)["processes"]
print(*(p[k][s] for k, s in (("allocated", "blocks"), ("allocated", "bytes"), ("peak", "bytes"))),
      *(p["leaked"][s] + p["kept"][s] for s in ("blocks", "bytes")))'
}

has_library()
{
	ls /lib/"$1" /lib64/"$1" /usr/lib/"$1" /usr/lib64/"$1" /usr/lib/*-linux-gnu/"$1" 2>/dev/null | grep -q .
}
