# What the tests of the heap share: `load heap` after `load helpers`.

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

# traced OPTION... -- PROGRAM ARGUMENT...: as bare, nothing lost.
traced()
{
	timeout 250 fxtrun -o trace.fxt "$@" >traced.out 2>traced.err </dev/null || return 1
	grep -q ' 0 lost' traced.err && fxt check trace.fxt
}

# summary TRACE: as heapdecode.py peak, from fxt heap.
summary()
{
	fxt heap --json "$1" | python3 -c 'import json, sys
p, = json.load(sys.stdin)["processes"]
print(*(p[k][s] for k, s in (("allocated", "blocks"), ("allocated", "bytes"), ("peak", "bytes"), ("leaked", "blocks"),
                             ("leaked", "bytes"))))'
}

has_library()
{
	ls /lib/"$1" /lib64/"$1" /usr/lib/"$1" /usr/lib64/"$1" /usr/lib/*-linux-gnu/"$1" 2>/dev/null | grep -q .
}
