#!/usr/bin/env bats
# fxt: its commands and how they refuse, exit statuses, files that are no traces, and outputs that end early.

load helpers

# A trace of 2 records: magic, and 10^9 ticks a second.
tiny()
{
	printf '\x10\x00\x04\x46\x78\x54\x16\x00\x21\x00\x00\x00\x00\x00\x00\x00\x00\xca\x9a\x3b\x00\x00\x00\x00' >tiny.fxt
}

@test "help has at most 80 columns, and fxtrun and fxtctl too" {
	for command in fxtrun fxtctl fxt $(fxt --help | sed -En 's/^  ([a-z]+) .*/\1/p'); do
		case $command in
		fxt*) $command --help >help ;;
		*) fxt $command --help >help ;;
		esac
		[ -s help ]
		if awk 'length > 80' help | grep . ; then
			echo "$command --help is too wide"
			return 1
		fi
	done
}

@test "--help and --version" {
	fxt --help >help
	for program in fxtrun fxtctl fxt; do
		$program --help | diff - <($program -h)
	done
	for command in report flamegraph html view export info dump check symbolize; do
		grep -q "^  $command " help
		fxt help $command | grep "^usage: fxt $command "
		fxt $command --help | diff - <(fxt help $command)
	done
	fxt help | diff - help
	[[ $(fxt --version) =~ ^fxt\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "the page of a command has the options that its help has, and no others" {
	local fails= command option

	for command in $(fxt --help | sed -En 's/^  ([a-z]+) .*/\1/p'); do
		page=$root/doc/fxt-$command.1
		fxt $command --help >help
		grep -qx "fxt-$command(1) has more, with examples." help
		for option in $(sed -En 's/^ +(-., )?--([a-z-]+).*/\2/p' help); do
			# The options that choose, and formats, are in fxt(1).
			grep -qE "Fl (. \| )?-$option\b" "$page" "$root/doc/fxt.1" || fails="$fails $command:$option"
		done
		for option in $(sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/p' "$page" | grep -oE 'Fl (. \| )?-[a-z-]+' | sed 's/.* -//'); do
			grep -qE -- "--$option\b" help || fails="$fails fxt-$command(1):$option"
		done
	done
	[ -z "$fails" ] || { echo "not in both:$fails"; false; }
}

# options_of PROGRAM: the long options that its help names.
options_of()
{
	$1 --help | grep -oE -- '--[a-z][a-z-]+' | sort -u
}

@test "fxtrun.1 has the options of fxtrun --help and no others, and fxtctl.1 those of fxtctl --help" {
	sed -nE 's/^\.It Fl (. .*, Fl |h , Fl )?-([a-z][a-z-]+).*/--\2/p; s/^\.It Fl F Ar.*(-only-under).*/-\1/p' "$root/doc/fxtrun.1" | sort -u >manual
	fxtrun --help | sed -nE 's/^  (-., |    )--([a-z-]+).*/--\2/p' | sort -u >help
	[ "$(wc -l <help)" -gt 30 ]
	diff help manual
	# In fxtctl.1 other programs' options are named, too.
	options_of fxtctl >help
	[ "$(wc -l <help)" -gt 18 ]
	for option in $(grep -vxe --start -e --calibrate help); do
		grep -qE -- "(Fl|Op Fl|,) -?${option#-}\b" "$root/doc/fxtctl.1" || { echo "not in fxtctl.1: $option" && false; }
		case $option in
		--help | --version | --json | --write-results) value= ;;
		*) value="=1" ;;
		esac
		! fxtctl --session=none $option$value list 2>&1 | grep "no such option" || false
	done
}

# named COMMAND OPTION: the keys that the help of an option names, one a line: those of the
# figures of a function.
named()
{
	fxt "$1" --help | tr -s '\n ' ' ' | grep -oE -- "$2=.*" | grep -oE -m 1 'calls, total, [a-z0-9, ]*' | sed 's/ or /, /; s/, /\n/g'
}

@test "each key of a figure that the help names is in the manual, and the command takes it" {
	tiny
	[ "$(named report --sort | wc -l)" -gt 10 ]
	[ "$(named diff --compare | wc -l)" -gt 6 ]
	[ "$(named check --fail-if | wc -l)" -gt 8 ]
	for key in $(named report --sort); do
		fxt report --sort=$key tiny.fxt >/dev/null
		sed -n '/^\.Ar key$/,/^\.Cm name/p' "$root/doc/fxt-report.1" | grep -qw $key
	done
	for key in $(named diff --compare); do
		fxt diff --compare=$key tiny.fxt tiny.fxt >/dev/null
		sed -n '/^compares functions before and after/,/^\.Cm p99/p' "$root/doc/fxt-diff.1" | grep -qw $key
	done
	for key in $(named check --fail-if); do
		fails fxt check --fail-if="main.$key > 5%" tiny.fxt 2>said
		! grep 'names no metric' said || false
		sed -n '/^\.Cm ( calls/,/^\.Cm max/p' "$root/doc/fxt-check.1" | grep -qw $key
	done
}

@test "wrong usage: one line that says where help is, and 2" {
	tiny
	says 2 "fxt: no command 'reprot' (did you mean report?); see fxt --help" fxt reprot tiny.fxt
	says 2 "fxt: unknown option '--colour'; see fxt --help" fxt --colour
	says 2 "fxt report: unknown option '--colour'; see fxt report --help" fxt report --colour tiny.fxt
	says 2 "fxt report: unknown option '--limt=3' (did you mean --limit?); see fxt report --help" fxt report --limt=3
	says 2 "fxt report: unknown option '-x'; see fxt report --help" fxt report -x tiny.fxt
	says 2 "fxt report: option '--threads=2' takes no value; see fxt report --help" fxt report --threads=2 tiny.fxt
	says 2 "fxt report: option '--sort' needs a value; see fxt report --help" fxt report tiny.fxt --sort
	says 2 "fxt report: cannot sort by 'colour'; see fxt report --help" fxt report --sort=colour tiny.fxt
	says 2 "fxt report: '-1' is not a number of lines; see fxt report --help" fxt report --limit=-1 tiny.fxt
	says 2 "fxt report: '5x' is not a number of lines; see fxt report --help" fxt report -n 5x tiny.fxt
	for command in report flamegraph html sql info dump check; do
		says 2 "fxt $command: no trace file given, and there is no trace.fxt here; see fxt $command --help" fxt $command
	done
	status=0
	fxt 2>help || status=$?
	[ $status = 2 ]
	grep -q '^usage: fxt ' help
}

@test "files that cannot be read or are no traces: one line, and 2" {
	mkdir directory
	touch empty
	echo "#!/bin/sh" >script
	head -c 7 /dev/zero >short
	for command in report flamegraph html info dump check; do
		says 2 "fxt: missing: cannot be opened: No such file or directory" fxt $command missing
		says 2 "fxt: directory: cannot be read: Is a directory" fxt $command directory
		says 2 "fxt: empty: is empty" fxt $command empty
		says 2 "fxt: script: is not a trace in the Fuchsia trace format (FXT)" fxt $command script
		says 2 "fxt: short: is not a trace in the Fuchsia trace format (FXT)" fxt $command short
		says 2 "fxt: standard input: is empty" fxt $command -
	done
}

@test "info: a trace is as long as its events; context switches may lie beyond them" {
	fxtrun --heap=off "$programs/threads8" >/dev/null
	PYTHONPATH=$root/tests/independent python3 - <<-'END'
	import subprocess
	import fxtdecode
	trace = fxtdecode.Trace("trace.fxt")
	slices = list(trace.slices())
	length = max(trace.last_instant, *(s[5] for s in slices)) - min(s[4] for s in slices)
	for command in ("info", "report"):
	    head = subprocess.run(["fxt", command, "trace.fxt"], stdout=subprocess.PIPE, text=True).stdout.split("\n")[0]
	    told, unit = head.split(", ")[-1].split()
	    ns = {"us": 1e3, "ms": 1e6, "s": 1e9}[unit]
	    assert abs(float(told) * ns - length) <= ns / 1000, (head, length)
	END
}

@test "a pool of many threads: info, report --threads and last do not list them one by one, and tell how many there are" {
	cat >pool.c <<-'END'
		#include <pthread.h>
		#include <signal.h>
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static pthread_cond_t work = PTHREAD_COND_INITIALIZER, rest = PTHREAD_COND_INITIALIZER;
		static int idle;
		static void step(void) { }
		static void await_work(void)
		{
			pthread_mutex_lock(&lock);
			idle++;
			pthread_cond_signal(&rest);
			for (;;)
				pthread_cond_wait(&work, &lock);
		}
		static void *worker(void *steps)
		{
			for (long i = 0; i < (long)steps; i++)
				step();
			await_work();
			return 0;
		}
		int main(void)
		{
			pthread_t thread;
			for (long i = 1; i <= 62; i++)
				pthread_create(&thread, 0, worker, (void *)i);
			pthread_mutex_lock(&lock);
			while (idle < 62)
				pthread_cond_wait(&rest, &lock);
			raise(SIGKILL);
		}
	END
	cc -g -finstrument-functions -pthread -o pool pool.c
	fxtrun ./pool || [ $? = 137 ]
	fxt last >last
	# The main thread, which died, and one for all that wait alike.
	[ "$(grep -c 'open at the end' last)" = 2 ]
	grep -E '^thread [0-9]+ "pool" of process [0-9]+ "pool", and 61 more threads with the same open calls$' last
	grep -E '^0 .* pthread_cond_wait: waiting for work ' last
	fxt info >info
	[ "$(grep -c '^  thread ' info)" = 20 ]
	grep -E '^  43 more threads: [0-9]+ events; --json lists them$' info
	fxt report --threads >report
	[ "$(grep -c ' step$' report)" = 20 ]
	# Those with most calls are there.
	grep -E '^ *62 .* step$' report
	grep -x '43 more threads have fewer calls: -t NAME shows one, --json all' report
	# Programs get all.
	[ "$(fxt last --json | jq '.traces[0].tables | map(select(.name == "open")) | length')" = 63 ]
	[ "$(fxt info --json | jq '[.traces[0].tables[].rows[] | select(.thread != null and .events != null)] | length')" -ge 63 ]
	[ "$(fxt report --threads --json | jq '[.traces[0].tables[] | select(.name == "functions")] | length')" = 63 ]
}

@test "several files: each is checked, the worst status counts" {
	tiny
	{ cat tiny.fxt && printf '\x14\x00\x00\x00'; } >cut.fxt
	[ "$(fxt check tiny.fxt)" = "tiny.fxt: ok, 2 records" ]
	status=0
	fxt check cut.fxt tiny.fxt >out || status=$?
	[ $status = 1 ]
	diff out - <<-END
		cut.fxt: offset 0x18: truncated inside a record
		cut.fxt: not ok, 1 violation in 2 records
		tiny.fxt: ok, 2 records
	END
	status=0
	fxt check missing cut.fxt tiny.fxt >/dev/null 2>&1 || status=$?
	[ $status = 2 ]
}

@test "the standard input, as a file and as a pipe" {
	tiny
	fxt dump tiny.fxt >expected
	fxt dump - <tiny.fxt | diff - expected
	cat tiny.fxt | fxt dump - | diff - expected
	mkfifo pipe
	cat tiny.fxt >pipe 3>&- &
	fxt dump pipe | diff - expected
}

@test "a reader that has seen enough ends fxt without a word" {
	# 20000 records: more than a pipe holds, as text.
	{ tiny && cat tiny.fxt && for i in {1..100}; do printf '\x11\x00\x01\x00\x00\x00\x00\x00%.0s' {1..200}; done; } >long.fxt
	{ fxt dump long.fxt 2>err || true; } | head -n 1 | grep -q magic
	[ ! -s err ]
	# The same where writing to a closed pipe is an error, no signal.
	{ (trap '' PIPE; exec fxt dump long.fxt) 2>err || true; } | head -n 1 | grep -q magic
	[ ! -s err ]
}

@test "an output that cannot be written: one line, and 2" {
	tiny
	status=0
	fxt dump tiny.fxt >/dev/full 2>err || status=$?
	[ $status = 2 ]
	[ "$(cat err)" = "fxt: standard output: No space left on device" ]
}

# Compressed by others, as a whole, in several pieces, and by a program that writes frames
# to be skipped.
@test "compressed traces: every command reads them, from files and from pipes" {
	fxtrun "$build/examples/raytracer" >/dev/null
	head -c 1000000 trace.fxt | gzip >parts.gz
	tail -c +1000001 trace.fxt | gzip -1 >>parts.gz
	zstd -q -19 trace.fxt -o whole.zst
	{ printf '\x50\x2a\x4d\x18\x03\x00\x00\x00abc'; head -c 3000001 trace.fxt | zstd -q; tail -c +3000002 trace.fxt | zstd -q; } >parts.zst
	for command in report check info dump 'heap --json' 'flamegraph -o -' 'html -o -'; do
		fxt $command - <trace.fxt >expected
		[ -s expected ]
		for file in parts.gz whole.zst parts.zst; do
			fxt $command - <$file | cmp expected -
			cat $file | fxt $command - | cmp expected -
		done
	done
	fxt symbolize -o plain.fxt parts.zst
	fxt symbolize -o again.fxt trace.fxt
	cmp plain.fxt again.fxt
	says 2 "fxt symbolize: a trace that gzip has compressed needs -o OUT; see fxt symbolize --help" fxt symbolize parts.gz
	# In its place too, and then compressed as before.
	fxtrun --raw -o raw.fxt.zst "$build/examples/raytracer" >/dev/null
	fxt symbolize -o named.fxt raw.fxt.zst
	fxt symbolize raw.fxt.zst
	zstd -dc raw.fxt.zst | cmp - named.fxt
}

@test "compressed traces that were cut say so, and damaged ones are refused" {
	fxtrun "$build/examples/raytracer" >/dev/null
	gzip -k trace.fxt
	zstd -q trace.fxt
	for file in trace.fxt.gz trace.fxt.zst; do
		head -c $(($(stat -c %s $file) / 2)) $file >cut
		for command in report check; do
			status=0
			fxt $command cut >out 2>&1 || status=$?
			[ $status = 1 ]
			grep -q '^\(fxt: \)\?cut: offset 0x[0-9a-f]*: truncated inside a record$' out
		done
		[ "$(fxt report --limit=1 cut 2>/dev/null | sed -n '1s/.*: ≥ \([0-9]*\) calls .*/\1/p')" -gt 10000 ]
	done
	# Cut between two records, which nothing in what was decompressed tells.
	python3 -c 'import sys, zlib; z = zlib.compressobj(wbits=31)
sys.stdout.buffer.write(z.compress(open("trace.fxt", "rb").read()) + z.flush(zlib.Z_SYNC_FLUSH))' >cut
	status=0
	fxt report cut >out 2>err || status=$?
	[ $status = 1 ]
	grep -q '^fxt: cut: offset 0x[0-9a-f]*: truncated inside a record$' err
	# A byte of the checksum at the end; a frame's header.
	{ head -c -6 trace.fxt.gz; printf '\x00\x00\x00\x00\x00\x00'; } >damaged
	says 2 "fxt: damaged: cannot be decompressed: incorrect data check" fxt check damaged
	{ head -c 4 trace.fxt.zst; printf '\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff'; } >damaged
	[[ $(fxt report damaged 2>&1) == "fxt: damaged: cannot be decompressed: "* ]]
	gzip -c /dev/null >empty.gz
	says 2 "fxt: empty.gz: is empty" fxt report empty.gz
	echo "no trace at all" | gzip -c >other.gz
	says 2 "fxt: other.gz: is not a trace in the Fuchsia trace format (FXT)" fxt info other.gz
}
