#!/usr/bin/env bats
# Questions about arguments: --where and --by=arg:NAME. The truth is what the program prints,
# and the decoder in tests/independent/saiddecode.py.

load helpers

setup_file()
{
	fxtrun -o "$BATS_FILE_TMPDIR/trace.fxt" "$build/examples/server" >"$BATS_FILE_TMPDIR/printed"
	ln -s "$BATS_FILE_TMPDIR/trace.fxt" "$BATS_FILE_TMPDIR/t"
}

setup()
{
	cd "$BATS_FILE_TMPDIR" || return 1
}

# printed NAME: the number that the server printed.
printed()
{
	awk -v name="$1" '$1 == name { print $2 }' printed
}

# chosen CONDITION: how many calls of `answer` with a status satisfy it.
chosen()
{
	fxt report --csv --where "$1" trace.fxt | rows functions name calls | awk -F'\t' '$1 ~ /^answer/ { n += $2 } END { print n + 0 }'
}

@test "--where chooses calls by the values of their arguments, as the program counted them" {
	local requests failed missing

	requests=$(printed requests) failed=$(printed failed) missing=$(printed missing)
	[ "$requests" -gt 0 ] && [ "$failed" -gt 0 ] && [ "$missing" -gt 0 ]
	[ "$(chosen status=500)" = "$failed" ]
	[ "$(chosen 'status = 500')" = "$failed" ]
	[ "$(chosen status!=500)" = $((requests - failed)) ]
	[ "$(chosen 'status>=404')" = $((failed + missing)) ]
	[ "$(chosen 'status>404')" = "$failed" ]
	[ "$(chosen 'status<404')" = $((requests - failed - missing)) ]
	[ "$(chosen 'status<=404')" = $((requests - failed)) ]
	[ "$(chosen 'status~[45]0?')" = $((failed + missing)) ]
	[ "$(chosen 'status~/^5/')" = "$failed" ]
	[ "$(chosen 'status=200,bytes>1K')" = "$(chosen 'status=200 && bytes>=1025')" ]
	[ "$(chosen 'status=200,status=500')" = 0 ]
	# NaN is a text, which no number equals.
	[ "$(chosen status=nan)" = 0 ]
	[ "$(chosen status!=nan)" = "$requests" ]
}

@test "--where compares with names of pointers, and in slow, replay and tree too" {
	local of_one

	of_one=$(python3 "$root/tests/independent/saiddecode.py" events trace.fxt | grep -c '	receive	.*path=string:/report	')
	[ "$of_one" -gt 0 ]
	[ "$(fxt report --csv --where 'connection=connection 2' trace.fxt | rows functions name calls)" = "receive [span server]	$of_one" ]
	[ "$(fxt slow --csv receive --where 'connection=connection 2' -n 1000 trace.fxt | rows calls call | wc -l)" = "$of_one" ]
	[ "$(fxt replay --csv --where path=/report,connection~connection* trace.fxt | grep -c receive)" = "$of_one" ]
	[ "$(fxt tree --csv --where path=/report,connection~connection* trace.fxt | grep -c receive)" = 1 ]
}

@test "--by=arg:NAME sums up by value, and slow has the slowest call of each" {
	diff <(fxt report --csv --by=arg:status trace.fxt | rows values name calls | sort) - <<-END
		200	$(($(printed requests) - $(printed failed) - $(printed missing)))
		404	$(printed missing)
		500	$(printed failed)
	END
	diff <(fxt slow --csv handle --by=arg:path trace.fxt | rows calls value | sort) - <<-END
		/
		/missing
		/report
		/style.css
	END
	# The slowest of all is the slowest of its value.
	[ "$(fxt slow --csv handle --by=arg:path trace.fxt | rows calls time_ns | head -1)" = \
		"$(fxt slow --csv handle --where 'path~*' trace.fxt | rows calls time_ns | head -1)" ]
}

@test "an argument that no event has is an error that offers a near one; so is a wrong condition" {
	fails fxt report --where statu=1 trace.fxt 2>err
	grep -Fx "fxt: trace.fxt: no event has an argument 'statu'; did you mean 'status'?" err
	fails fxt slow answer --by=arg:statu trace.fxt 2>err
	grep -F "did you mean 'status'?" err
	for wrong in status '=5' 'status<many' 'path~/[/' 'status=1,,'; do
		fails fxt report --where "$wrong" trace.fxt 2>err
		grep -F "$wrong" err
	done
	fails fxt slow answer --by=path trace.fxt 2>err
	grep -F 'arg:NAME' err
}
