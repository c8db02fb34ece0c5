#!/bin/sh
# Checks the model of the closing protocol exhaustively, and that each of its broken
# variants fails. Needs spin and a C compiler; the status is 0, 1, or 77 if spin is not
# there.
model=$(cd "$(dirname "$0")" && pwd)/closing.pml
command -v spin >/dev/null || { echo "tests/model/run.sh: spin is not installed" >&2; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# Prints how many errors the search found, "incomplete" if it did not get to its end.
errors()
{
	spin -a "$@" "$model" >spin.log 2>&1 && ${CC:-cc} -O2 -DSAFETY -DCOLLAPSE -o pan pan.c >cc.log 2>&1 ||
		{ cat spin.log cc.log >&2; echo broken; return; }
	./pan -E -m200000 >pan.log 2>&1
	if grep -q 'Search not completed\|max search depth too small\|out of memory' pan.log &&
		! grep -q 'assertion violated' pan.log; then
		echo incomplete
	else
		sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log
	fi
}

failed=0
verdict()
{
	if [ "$1" = "$2" ]; then echo "ok - $3"; else echo "not ok - $3: $1 errors"; failed=1; fi
}

# Two threads and one closing; then one thread, closed again while it is stalled.
for size in '-DTHREADS=2 -DCALLS=2 -DCLOSES=1' '-DTHREADS=1 -DCALLS=3 -DCLOSES=2'; do
	verdict "$(errors $size)" 0 "closing: every call once, no byte under a writer ($size)"
	sed -n 's/^ *\([0-9.e+]*\) states, stored.*/# \1 states/p' pan.log
done
for variant in NO_MEMBARRIER NO_WAIT LATE_BY_RANGE LATE_TWICE FRAME_LAST; do
	verdict "$(errors -D$variant)" 1 "closing with $variant is found wrong"
done
exit $failed
