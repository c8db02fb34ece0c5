#!/usr/bin/env bats
# Outputs of fxt's commands: not written to a stranger's file, and no more open to others
# than the trace.

load helpers

setup_file()
{
	cc -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/program" "$BATS_TEST_DIRNAME/../programs/loss/standalone.c"
	cd "$BATS_FILE_TMPDIR" || return 1
	"$FXT_BUILD/fxtrun" -o trace.fxt ./program quiet
	"$FXT_BUILD/fxtrun" -o other.fxt ./program quiet
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	umask 022
	cp -p "$BATS_FILE_TMPDIR"/{trace,other}.fxt .
}

teardown()
{
	[ -z "$place" ] || rm -r "$place"
	end_all
}

stranger()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# written: the commands that write a file, a line each: their words, and what is behind -o,
# less its directory.
written()
{
	cat <<-'END'
		html trace.fxt -o page.html
		flamegraph trace.fxt -o flames.svg
		export --to=folded trace.fxt -o flames.folded
		export --to=sqlite trace.fxt -o trace.sqlite
		export --to=csv trace.fxt -o tables
		export --to=fleet trace.fxt -o fleet
		cut --time=0s.. trace.fxt -o part.fxt
		merge trace.fxt other.fxt -o merged.fxt
		symbolize trace.fxt -o named.fxt.zst
	END
}

# shared: a directory where everybody may create files, which only their owners may remove,
# as `place`.
shared()
{
	[ "$(id -u)" = 0 ] || skip "only root can be another user as well"
	place=$(mktemp -d /tmp/fxt-outputs-XXXXXX)
	chmod 1777 "$place"
}

# refuses_each PREPARE...: each command refuses its output, for which PREPARE was called,
# with a line that says why; the user's own file stays as it is.
refuses_each()
{
	local words

	echo precious >victim
	while read -ra words; do
		local out=$place/${words[-1]}

		"$@" "$out"
		words[-1]=$out
		run timeout 20 fxt "${words[@]}" </dev/null
		[ "$status" = 2 ]
		[[ $output =~ ^"fxt: $out: cannot be "(written|made)": it belongs to another user; remove it, or choose another file"$ ]]
	done < <(written)
	[ "$(cat victim)" = precious ]
}

@test "a file that a stranger has put in a shared directory gets nothing, by any command" {
	put() { stranger sh -c '[ -d "$1" ] || { : >"$1"; chmod 666 "$1"; }' - "$1"; }
	shared
	stranger mkdir "$place/tables" "$place/fleet"
	refuses_each put
	[ -z "$(find "$place" -type f -size +0)" ]
	[ -z "$(ls -A "$place/tables" "$place/fleet" | grep -v :)" ]
}

@test "a stranger's symbolic link to a file of the user's is not followed, by any command" {
	link() { stranger ln -s "$BATS_TEST_TMPDIR/victim" "$1"; }
	shared
	refuses_each link
}

@test "a stranger's pipe gets nothing, by any command" {
	pipe() { stranger mkfifo "$1"; }
	shared
	while read -ra words; do
		[[ ${words[-1]} != @(tables|fleet) ]] || continue
		out=$place/${words[-1]}
		pipe "$out"
		words[-1]=$out
		run timeout 20 fxt "${words[@]}" </dev/null
		[ "$status" = 2 ]
		[[ $output = *"it belongs to another user"* ]]
	done < <(written)
}

@test "a hard link to a file of the user's is replaced, and that file stays as it is" {
	shared
	echo precious >"$place/victim"
	while read -ra words; do
		[[ ${words[-1]} != @(tables|fleet) ]] || continue
		ln "$place/victim" "$place/${words[-1]}"
		words[-1]=$place/${words[-1]}
		fxt "${words[@]}"
	done < <(written)
	[ "$(cat "$place/victim")" = precious ]
	[ "$(stat -c %h "$place/victim")" = 1 ]
}

@test "a recording refuses a hard link to a file of the user's in a shared directory" {
	shared
	echo precious >victim
	mv victim "$place/victim"
	ln "$place/victim" "$place/trace.fxt"
	run fxtrun -o "$place/trace.fxt" true
	[ "$status" = 125 ]
	[[ $output = *"it belongs to another user, or has a second name"* ]]
	[ "$(cat "$place/victim")" = precious ]
}

@test "files of a tables' directory that a stranger has linked before are not followed" {
	shared
	mkdir -m 777 "$place/tables"
	echo precious >victim
	stranger ln -s "$BATS_TEST_TMPDIR/victim" "$place/tables/calls.csv"
	run fxt export --to=csv -o "$place/tables" trace.fxt
	[ "$status" = 2 ]
	[[ $output = "fxt: $place/tables/calls.csv: cannot be written: it belongs to another user"* ]]
	[ "$(cat victim)" = precious ]
}

@test "a file made from a trace is as open as the trace, less the umask; an existing file keeps its mode" {
	check()
	{
		while read -ra words; do
			fxt "${words[@]}" >/dev/null
			[ "$(stat -c %a "${words[-1]}")" = "$1" ] || [ -d "${words[-1]}" ]
		done < <(written)
		[ "$(stat -c %a tables/*.csv | sort -u)" = "$1" ]
		[ "$(stat -c %a tables)" = "$2" ]
		[ "$(stat -c %a fleet)" = "$2" ]
	}
	check 600 700
	[ "$(find fleet -printf '%y%m\n' | sort -u | tr '\n' ' ')" = "d700 f600 " ]
	# Each output is there now, and stays so.
	chmod 644 trace.fxt other.fxt
	check 600 700
	rm -r page.html flames.* trace.sqlite tables fleet part.fxt merged.fxt named.fxt.zst
	umask 027
	check 640 750
	[ "$(find fleet -printf '%y%m\n' | sort -u | tr '\n' ' ')" = "d750 f640 " ]
	umask 077
	chmod 644 page.html
	fxt html trace.fxt -o page.html
	[ "$(stat -c %a page.html)" = 644 ]
	# One of two traces that is for its owner alone makes the merged one so.
	rm merged.fxt
	umask 022
	chmod 600 other.fxt
	fxt merge trace.fxt other.fxt -o merged.fxt
	[ "$(stat -c %a merged.fxt)" = 600 ]
	# A trace from a pipe may be one that others must not read.
	cat trace.fxt | fxt html -o piped.html -
	[ "$(stat -c %a piped.html)" = 600 ]
}

@test "a trace that its group may read opens files made from it to no other group" {
	[ "$(id -u)" = 0 ] || skip "only root can give a file to any group"
	chgrp 65534 trace.fxt
	chmod 640 trace.fxt
	fxt html trace.fxt -o page.html
	[ "$(stat -c '%a %g' page.html)" = "600 0" ]
}

@test "devices, pipes and descriptors are written to as they are; the user's own link is followed" {
	fxt export --to=folded -o plain trace.fxt
	fxt export --to=folded -o /dev/stdout trace.fxt | cmp - plain
	{ echo first && fxt export --to=folded -o /dev/stdout trace.fxt && echo last; } >all
	[ "$(head -n 1 all)" = first ]
	mkfifo pipe
	fxt export --to=folded -o pipe trace.fxt &
	cmp pipe plain
	wait $!
	[ -p pipe ]
	fxt export --to=folded -o /dev/null trace.fxt
	fxt symbolize -o /dev/null trace.fxt
	[ -c /dev/null ]
	echo before >target
	ln -s target link
	fxt export --to=folded -o link trace.fxt
	[ -L link ]
	cmp target plain
	ln -s new dangling
	fxt export --to=folded -o dangling trace.fxt
	cmp new plain
}

@test "a command that cannot write all of its output leaves the file that was there" {
	echo before >page.html
	(
		ulimit -f 4
		trap '' XFSZ
		fxt html -o page.html trace.fxt
	) 2>said && exit 1
	grep -x 'fxt: page.html: cannot be written: File too large' said
	[ "$(cat page.html)" = before ]
	[ -z "$(find . -name '.trace*')" ]
}

@test "a file of the user's in a directory where the user may not create files is written to" {
	[ "$(id -u)" = 0 ] || skip "only root can be another user as well"
	place=$(mktemp -d /tmp/fxt-outputs-XXXXXX)
	chmod 755 "$place"
	cp trace.fxt "$place"
	: >"$place/page.html"
	chown 65534 "$place"/*
	stranger "$build/fxt" html -o "$place/page.html" "$place/trace.fxt"
	grep -q '</html>' "$place/page.html"
}
