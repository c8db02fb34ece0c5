#!/usr/bin/env bats
# Probes of <sys/sdt.h> (fxtrun --usdt). The truth is what the programs print of each probe's
# arguments, and tests/independent/saiddecode.py reads the traces.

load helpers
load steps

sources=$BATS_TEST_DIRNAME/../programs/usdt

setup_file()
{
	mkdir "$BATS_FILE_TMPDIR/sockets"
	cd "$BATS_FILE_TMPDIR" || return 1
	echo '#include <sys/sdt.h>' | cc -E -o header - || return 0
	cc -O2 -w -pthread -o life "$sources/life.c" -ldl
	cc -O2 -w -fPIC -shared -o plugged.so "$sources/plugged.c"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	export XDG_RUNTIME_DIR=$BATS_FILE_TMPDIR/sockets
	[ "$(uname -m)" = x86_64 ] || skip "not on this machine"
	[ -e "$BATS_FILE_TMPDIR/header" ] || skip "no <sys/sdt.h>: tools/deps.sh test"
	needs_copies
}

teardown()
{
	if [ -n "$place" ]; then
		[ ! -e "$place/data/postmaster.pid" ] || serves pg_ctl -D "$place/data" stop -m immediate
		rm -r "$place"
	fi
}

said()
{
	python3 "$root/tests/independent/saiddecode.py" "$@"
}

# recorded_as_printed COMMAND OPTION...: `program` prints its events and its result bare and traced; the trace has
# those of its probes that no message says are left out.
recorded_as_printed()
{
	local left_out

	./program >bare 2>bare.err
	fxtrun --heap=off --no-sched "$@" -o x.fxt ./program >expected 2>err
	cmp bare expected
	grep -xF "$(cat bare.err)" err
	grep " 0 lost," err
	fxt check x.fxt
	left_out=$(sed -n 's/.*--usdt: \([0-9]*\) of .*/\1/p' err)
	said events x.fxt | sort >recorded
	sort expected | comm -13 - recorded >wrong
	[ ! -s wrong ] # nothing is recorded that did not happen
	sort expected | comm -23 - recorded | cut -f1-3 | sort -u >missing
	[ "$(wc -l <missing)" -le "${left_out:-0}" ] || { cat missing; return 1; }
}

@test "operands of every kind have the values that the program prints" {
	local compiler options

	for compiler in gcc clang; do
		for options in "-O0" "-O2" "-O2 -no-pie -fno-pie" "-O1 -fPIC -fomit-frame-pointer"; do
			# shellcheck disable=SC2086
			$compiler $options -w -o program "$sources/operands.c"
			recorded_as_printed --usdt='unit:*,unit:texts@arg1/s@arg2/s@arg3/s,unit:odd@arg1/s@arg2/s@arg3/s'
			# Most are recorded: few have no room for a jump.
			[ "$(wc -l <missing)" -le 3 ]
		done
	done
}

@test "probes among exceptions and tables of jumps: the program works, and they have their values" {
	local compiler options

	for compiler in g++ clang++; do
		for options in "-O0" "-O2" "-O2 -no-pie -fno-pie"; do
			# shellcheck disable=SC2086
			$compiler $options -w -o program "$sources/throws.cc"
			recorded_as_printed --usdt='unit:*'
		done
	done
}

@test "threads, a library that comes and goes, a forked child: each probe is recorded once" {
	life="$BATS_FILE_TMPDIR/life"
	fxtrun --heap=off --no-sched --usdt='unit:*,plugin:*' -o x.fxt "$life" "$BATS_FILE_TMPDIR/plugged.so" 4 2000 2>err
	grep " 0 lost," err
	said counts x.fxt >counts
	diff counts - <<-'END'
		instant	plugin	call	15
		instant	unit	guarded	7
		instant	unit	tick	12000
	END
	said events x.fxt | grep -c "arg1=int64:200" | grep -x 2000
	said events x.fxt | grep guarded | cut -f4 | sort >guarded
	for i in 0 1 2 3 4 5 6; do echo "arg1=int32:$((i * 3))"; done | sort | diff guarded -
}

@test "transactions overlap queries, and a forked child has its own" {
	cc -O2 -w -o overlaps "$sources/overlaps.c"
	fxtrun --heap=off --no-sched --usdt='postgresql:*' -o x.fxt ./overlaps >expected 2>err
	grep " 0 lost," err
	said counts x.fxt | sort >counts
	sort expected | diff - counts
	said events x.fxt | grep "query=string:BEGIN" | grep -c ^begin | grep -x 6
}

@test "only the probes that patterns choose; what there is, if none is chosen" {
	"$BATS_FILE_TMPDIR/life" "$BATS_FILE_TMPDIR/plugged.so" 1 10
	fxtrun --heap=off --usdt='plugin:c?ll' -o x.fxt "$BATS_FILE_TMPDIR/life" "$BATS_FILE_TMPDIR/plugged.so" 1 10 2>err
	said counts x.fxt >counts
	diff counts <(printf 'instant\tplugin\tcall\t15\n')
	[ "$(grep -c 'matches no' err)" = 0 ]
	fxtrun --heap=off --usdt='plugin:c?ll,nothing:*' -o x.fxt "$BATS_FILE_TMPDIR/life" "$BATS_FILE_TMPDIR/plugged.so" 1 10 2>err
	[ "$(grep 'matches no' err)" = 'fxtrun: --usdt=nothing:* matches no probe of the programs; --usdt=list lists them' ]
	fxtrun --heap=off --usdt='nothing:*' -o x.fxt "$BATS_FILE_TMPDIR/life" "$BATS_FILE_TMPDIR/plugged.so" 1 10 2>err
	grep "no probe is recorded; the programs have these:" err
	grep "in life: unit:guarded, unit:tick" err
	grep "in plugged.so: plugin:call" err
	fails fxtrun --usdt=unit -o x.fxt true 2>err
	grep "PROVIDER:PROBE" err
}

@test "a semaphore is on while its probe is recorded, and as it was when recording stops" {
	local number=0 out in job

	mkfifo to from
	fxtrun --heap=off --no-sched --usdt='unit:*' --decouple -o x.fxt "$BATS_FILE_TMPDIR/life" orders <to >from 2>err &
	job=$!
	exec {in}>to {out}<from
	# order WORD: the program's answer to one more line
	order()
	{
		echo "$1" >&"$in"
		read -r -t 60 <&"$out"
		read -r -t 60 answer <&"$out"
		echo "$1: $answer"
	}
	order first
	[ "$answer" = "semaphore 1" ]
	fxtctl stop
	order stopped
	[ "$answer" = "semaphore 0" ]
	fxtctl start
	order again
	[ "$answer" = "semaphore 1" ]
	exec {in}>&- {out}<&-
	wait $job
	said counts x.fxt | tee counts
	diff counts <(printf 'instant\tunit\tguarded\t2\ninstant\tunit\ttick\t2\n')
}

@test "a category that is not recorded switches its probes off" {
	fxtrun --heap=off --usdt='*:*' --categories=plugin -o x.fxt "$BATS_FILE_TMPDIR/life" "$BATS_FILE_TMPDIR/plugged.so" 1 10 2>err
	said counts x.fxt >counts
	diff counts <(printf 'instant\tplugin\tcall\t15\n')
	[ "$(grep -c 'matches no' err)" = 0 ]
	fxtrun --heap=off --usdt='plugin:c?ll,nothing:*' -o x.fxt "$BATS_FILE_TMPDIR/life" "$BATS_FILE_TMPDIR/plugged.so" 1 10 2>err
	[ "$(grep 'matches no' err)" = 'fxtrun: --usdt=nothing:* matches no probe of the programs; --usdt=list lists them' ]
}

@test "static variables of one name in two sources: a probe has the right one, or \"?\"" {
	local n

	for n in 1 2; do
		cat >part$n.c <<-END
			#include <stdio.h>
			#include <sys/sdt.h>
			static int counter = ${n}000;
			void part$n(void)
			{
				STAP_PROBE1(unit, part$n, counter);
				printf("%d\n", ++counter);
			}
		END
	done
	cat >main.c <<-'END'
		void part1(void);
		void part2(void);
		int main(void)
		{
			part1();
			part2();
			return 0;
		}
	END
	cc -O2 -o program main.c part1.c part2.c
	fxtrun --heap=off --no-sched --usdt='unit:*' -o x.fxt ./program 2>err
	said events x.fxt | tee events
	[ "$(grep -c '^instant	unit	part' events)" = 2 ]
	fails grep -v -e 'arg1=string:?' -e 'part1	arg1=int32:1000' -e 'part2	arg1=int32:2000' events
}

@test "probes near the end of a stack: the program lives on, each probe is recorded or counted as lost" {
	local recorded lost

	cc -O1 -w -pthread -o program "$sources/short_stack.c"
	./program >bare
	timeout 60 fxtrun --heap=off --no-sched --usdt='unit:deep@arg2/s@arg3/s' -o x.fxt ./program >counted 2>err
	cmp bare counted
	fxt check x.fxt
	recorded=$(said counts x.fxt | awk -F'\t' '$2 == "unit" { sum += $4 } END { print sum + 0 }')
	lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' err)
	[ "$recorded" -gt 50 ]
	[ $((recorded + lost)) = "$(cat bare)" ]
}

# serves COMMAND...: as the user nobody, since PostgreSQL refuses to run as root.
serves()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$place" XDG_RUNTIME_DIR="$place" PGUSER=bench PGHOST="$place" "$@"
}

@test "PostgreSQL as it is installed: each query of a pgbench run is a duration with its text, and as many as pgbench counts" {
	local server text

	PATH=$PATH:$(echo /usr/lib/postgresql/*/bin | tr ' ' :)
	command -v postgres pgbench initdb || skip "there is no PostgreSQL"
	[ "$(id -u)" = 0 ] || skip "only root can be another user as well"
	place=$(mktemp -d /tmp/fxt-usdt-XXXXXX)
	chmod 755 "$place" && chown 65534:65534 "$place" && cd "$place"
	serves fxtrun --version || skip "another user cannot run fxtrun here"
	serves initdb -D "$place/data" -A trust -U bench >out
	serves fxtrun --heap=off --no-sched --usdt='postgresql:transaction*,postgresql:query__*' -o "$place/x.fxt" \
		postgres -D "$place/data" -k "$place" -c listen_addresses= -c fsync=off >out 2>err 3>&- &
	server=$!
	await "ready to accept connections" err
	serves createdb bench
	serves pgbench -i -q bench
	serves pgbench -c 2 -t 50 -n bench >printed
	grep "actually processed: 100/100" printed
	serves pg_ctl -D "$place/data" stop -m fast
	wait "$server" || true
	cp x.fxt err printed "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	grep " 0 lost," err
	fxt check x.fxt
	said events x.fxt >events
	for text in "BEGIN;" "UPDATE pgbench_accounts SET" "UPDATE pgbench_tellers SET" "UPDATE pgbench_branches SET" \
		"INSERT INTO pgbench_history (" "END;"; do
		[ "$(grep -cF $'begin\tpostgresql\tquery\tquery=string:'"$text" events)" = 100 ]
	done
	[ "$(grep -c $'^begin\tpostgresql\tquery\t' events)" = "$(grep -c $'^end\tpostgresql\tquery\\b' events)" ]
	grep $'^async begin\tpostgresql\ttransaction\t' events | cut -f4 | sort >begun
	grep $'^async end\tpostgresql\ttransaction\t' events | cut -f4 | sort | diff begun -
	[ "$(wc -l <begun)" -ge 100 ]
}

@test "--usdt=list lists the probes of the program and its libraries: nothing runs, and the trace stays as it is" {
	cc -O2 -w -fPIC -shared -o libplugged.so "$sources/plugged.c"
	sed 's/return/DTRACE_PROBE1(mine, opened, 1); &/' <<<'int main(void) { return fopen("has_run", "w") ? 0 : 1; }' |
		cc -w -include stdio.h -include sys/sdt.h -x c -o program - -x none -Wl,--no-as-needed ./libplugged.so
	echo older >trace.fxt
	fxtrun --usdt=list ./program >list 2>err
	cat list
	[ ! -s err ]
	[ ! -e has_run ]
	[ "$(cat trace.fxt)" = older ]
	[ "$(ls -A "$XDG_RUNTIME_DIR")" = "" ]
	# readelf's names of the notes are the truth.
	for file in ./program ./libplugged.so; do
		grep -x ".*${file#.}" list
		readelf -n $file | awk '$1 == "Provider:" { provider = $2 } $1 == "Name:" { print "  " provider ":" $2 }' | sort -u >truth
		[ -s truth ]
		awk -v file="${file#.}" '!/^ / { is = index($0, file) > 0 } /^ / && is' list | sort -u | diff truth -
	done
	sleep 1000 3>&- &
	fxtrun --usdt=list --attach=$! >list
	kill $!
	grep libc.so list || [ "$(cat list)" = "no probes" ]
}
