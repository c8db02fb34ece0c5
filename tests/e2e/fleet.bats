#!/usr/bin/env bats
# fxt export --to=fleet: many traces as one set of tables, and the questions of
# doc/manual/fleets.md about them.

load helpers

# make_run NUMBER: records one of 200 runs of two versions on four hosts, and exports it.
# Four more lose records.
make_run()
{
	local version=1.$(($1 / 2 % 2)) host=node$(($1 % 4)) orders=$((5 + $1 % 20)) options=--heap=objects
	local trace=$PWD/$version/$host/$1.fxt

	[ "$1" -lt 200 ] || { orders=5000 options='--buffering-mode=circular --buffer-size=64K'; }
	mkdir -p "$version/$host" made
	fxtrun $options -o "$trace" "$PWD/shop-$version" $orders $((500 + $1)) >"made/$1" &&
		fxt export --to=fleet -o "$PWD/fleet/version=$version/host=$host" "$trace"
}

shop()
{
	${CC:-cc} -O1 -g -D_GNU_SOURCE -DVERSION="$1" -I"$BATS_TEST_DIRNAME/../../include" -finstrument-functions \
		-Wl,--build-id -pthread -o "$2" "$BATS_TEST_DIRNAME/../programs/fleet/shop.c"
}

# The tests read the runs only, so these are made once.
setup_file()
{
	export PATH=${FXT_BUILD:-$BATS_TEST_DIRNAME/../../build}:$PATH
	cd "$BATS_FILE_TMPDIR" || return 1
	shop 1 shop-1.0
	shop 2 shop-1.1
	export -f make_run
	seq 0 203 | xargs -n1 -P"$(nproc)" bash -c 'make_run "$1" 3>&-' make_run 2>said || { cat said && false; }
}

@test "200 runs and four that lost records: each table of each run is that of fxt sql, and has all that was made" {
	cd "$BATS_FILE_TMPDIR"
	python3 "$root/tests/e2e/fleet.py" rows "$PWD/fleet" >found
	cat made/{?,??,1??} | awk '{ orders += $1; calls += $2; blocks += $3 } END { print orders, calls, blocks }' | diff - found
	[ "$(ls -d fleet/version=*/host=*/day=*/run=* | wc -l)" = 204 ]
	zstd -dcq fleet/*/*/*/*/trace.csv.zst | awk -F, '!/^file/ { n[$NF]++ } END { exit n[0] != 4 || n[1] != 200 }'
}

@test "DuckDB answers the ten questions of the page, and writes Parquet" {
	[ -e "$build/judges/duckdb/libduckdb.so" ] || skip "DuckDB is not here"
	python3 "$root/tests/e2e/fleet.py" answers "$BATS_FILE_TMPDIR/fleet" "$root/doc/manual/fleets.md" \
		"$root/tests/judges/duckdb" "$build/judges/duckdb/libduckdb.so"
}

# in_place: the files of all runs of the fleet, with their contents.
in_place()
{
	(cd fleet && find . -path '*/run=*' -type f | sort | xargs sha256sum)
}

# limited COMMAND...: as if the disk had 4 KiB.
limited()
(
	trap '' XFSZ
	ulimit -f 4
	exec "$@"
)

@test "the same trace again replaces its run; an export that fails leaves the run as it was" {
	local folder
	cp "$BATS_FILE_TMPDIR/1.0/node0/0.fxt" trace.fxt
	fxt export --to=fleet -o fleet trace.fxt
	folder=$(echo fleet/day=*/run=*)
	[ "$folder" = "fleet/day=$(date -u -d "@$(fxt sql --csv 'select began / 1000000000 from trace' | sed -n 's/^rows,//p' | tail -1)" +%F)/run=${folder##*=}" ]
	in_place >before
	[ "$(wc -l <before)" = 15 ]
	touch "$folder/other"
	zstd -q trace.fxt
	fxt export --to=fleet -o fleet trace.fxt.zst
	in_place | grep -v /trace.csv.zst | diff <(grep -v /trace.csv.zst before) -
	fxt export --to=fleet -o fleet trace.fxt
	in_place | diff before -
	run limited fxt export --to=fleet -o fleet "$BATS_FILE_TMPDIR/1.0/node0/200.fxt"
	[ "$status" = 2 ]
	[[ $output = "fxt: fleet/day="*"/run="*"/calls.csv.zst: cannot be written: File too large" ]]
	in_place | diff before -
	[ "$(ls -A fleet | sort | tr '\n' ' ')" = "$(basename fleet/day=*) fleet.sql " ]
}

@test "an export that is killed leaves the run as it was, or none" {
	local renames kill
	cp "$BATS_FILE_TMPDIR/1.0/node0/0.fxt" trace.fxt
	fxt export --to=fleet -o whole trace.fxt
	strace -qq -o renames -e trace=rename,renameat,renameat2 fxt export --to=fleet -o fleet trace.fxt
	in_place >before
	[ "$(wc -l <before)" = 15 ]
	renames=$(grep -c '^rename' renames)
	[ "$renames" = 17 ] # tables, fleet.sql, the run
	for kill in $(seq $((renames + 1))); do
		strace -qq -o /dev/null -e inject=rename,renameat,renameat2:signal=KILL:when=$kill \
			fxt export --to=fleet -o fleet trace.fxt || [ $? = 137 ]
		in_place | diff before -
		[ "$kill" -gt "$renames" ] || strace -qq -o /dev/null -e inject=rename,renameat,renameat2:signal=KILL:when=$kill \
			fxt export --to=fleet -o new trace.fxt || [ $? = 137 ]
		! ls -d new/day=*/run=* 2>/dev/null || diff -r "$(echo whole/day=*/run=*)" "$(echo new/day=*/run=*)"
		rm -rf new
	done
}

@test "a trace that cannot be read to its end is exported as far as it can be, and said not to be whole" {
	head -c -4 "$BATS_FILE_TMPDIR/1.0/node0/0.fxt" >short
	run fxt export --to=fleet short
	[ "$status" = 1 ]
	[[ $output = *"truncated inside a record"* ]]
	[ "$(zstd -dcq short.fleet/day=*/run=*/trace.csv.zst | sed -n 's/.*,//; 2p')" = 0 ]
}

@test "memory does not grow with the number of calls" {
	local small large
	shop 1 shop
	fxtrun -o small.fxt ./shop 30000 1 >/dev/null
	fxtrun -o large.fxt ./shop 90000 1 >/dev/null
	small=$(peak fxt export --to=fleet -o fleet small.fxt)
	large=$(peak fxt export --to=fleet -o fleet large.fxt)
	# Less than half a byte for each byte that the trace is longer.
	[ $((large - small)) -lt $((($(stat -c %s large.fxt) - $(stat -c %s small.fxt)) / 2048)) ]
	rm large.fxt # much for the viewer
}
