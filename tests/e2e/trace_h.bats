#!/usr/bin/env bats
# What programs say in their traces by <fxt/trace.h>. The truth is the decoder in
# tests/independent/saiddecode.py, and counters compiled into the programs.

load helpers

setup_file()
{
	local source

	for source in storm life; do
		${CC:-cc} -O2 -g -pthread -I"$root/include" -o "$BATS_FILE_TMPDIR/$source" "$root/tests/programs/trace_h/$source.c"
	done
	${CC:-cc} -O2 -fPIC -shared -I"$root/include" -o "$BATS_FILE_TMPDIR/library.so" "$root/tests/programs/trace_h/library.c"
	export PATH=$BATS_FILE_TMPDIR:$PATH
}

# said COMMAND TRACE: see tests/independent/saiddecode.py.
said()
{
	python3 "$root/tests/independent/saiddecode.py" "$@"
}

# adds_up TRACE MADE: what was said is in the trace, or told as lost, and the trace is right.
adds_up()
{
	local recorded lost

	recorded=$(said counts "$1" | awk -F'\t' '{ n += $4 } END { print n + 0 }')
	lost=$(said lost "$1")
	echo "made $2, recorded $recorded, told as lost $lost"
	[ "$((recorded + lost))" = "$2" ]
	python3 "$root/tests/independent/fxtdecode.py" check "$1" >checked || true
	[ -z "$(grep -v '^0' checked | grep -v 'calls:records_lost')" ]
}

# refused LANGUAGE MESSAGE STATEMENT: the compiler refuses it with that message.
refused()
{
	printf '#include <fxt/trace.h>\n#include <string>\nint main() { int i = 0; (void)i; %s; }\n' "$3" >refused.cc
	printf '#include <fxt/trace.h>\nint main(void) { int i = 0; (void)i; %s; }\n' "$3" >refused.c
	fails ${CC:-cc} -I"$root/include" -c -o refused.o "refused.$1" 2>err
	grep -F "$2" err
}

every_events()
{
	cat <<-'END'
		instant	app	integers	short=int32:-1	unsigned char=uint32:255	int=int32:-2147483648	unsigned=uint32:4294967295	long=int64:-9223372036854775808	unsigned long=uint64:18446744073709551615
		instant	app	others	float=double:0.5	double=double:-1e+300	literal=string:text	array=string:in here	pointer=pointer:0x1234	no text=null
		instant	app	chosen	n=null	b=bool:1	i=int32:-1	u=uint32:1	l=int64:-1	ul=uint64:1	d=double:1.0	s=string:	c=string:abcdefgh	p=pointer:0x0	k=koid:7	blob=blob:0102
	END
	[ "$1" = c ] || cat <<-'END'
		instant	app	C++	string=string:standard	temporary=string:of in here	nullptr=null	bool=bool:1	enum=uint32:1	class=int64:-9223372036854775808
	END
	cat <<-'END'
		instant	app	fifteen	1=int32:1	2=int32:2	3=int32:3	4=int32:4	5=int32:5	6=int32:6	7=int32:7	8=int32:8	9=int32:9	10=int32:10	11=int32:11	12=int32:12	13=int32:13	14=int32:14	15=int32:15
	END
	[ "$1" = c ] || cat <<-'END'
		complete	app	kept	string=string:standard
	END
	cat <<-'END'
		counter	app	counter	5	value=double:1.5	other=int32:2
		begin	app	by hand	a=int32:1
		end	app	by hand	z=int32:26
		async begin	app	async	6
		async instant	app	async	6	at=string:half
		async end	app	async	6
		flow begin	app	flow	7	a=int32:1
		complete	app	sends
		flow step	app	flow	7
		complete	app	forwards
		flow end	app	flow	7
		complete	app	receives
		blob event	app	blob	012345	a=int32:1
		blob	app	attachment	6789
		log	log	a line
		instant	app	plain	a=int32:1
		complete	app	nested	depth=int32:0
		complete	app	nested	depth=int32:1
		complete	app	nested	depth=int32:2
	END
}

@test "every macro and every type of argument, in C and C++, by each compiler: the records are exact with the agent, and nothing happens without" {
	local compiler language options source=$root/tests/programs/trace_h/every.c

	for compiler in gcc clang; do
		command -v $compiler || continue
		for language in c c++; do
			for options in -O0 -O2 "-O2 -finstrument-functions" "-O2 -no-pie -fno-pie" "-O2 -flto"; do
				[ "$compiler $options" != "clang -O2 -flto" ] || continue
				[ $language = c ] && options+=" -std=c11" || options+=" -std=c++11 -x c++"
				$compiler -Wall -Wextra -Werror $options -I"$root/include" -o every "$source" -lstdc++
				[ "$(./every)" = "0 0 0 0" ]
				[ "$(fxtrun --heap=off -o every.fxt ./every 2>err)" = "2 1 1 1" ]
				said events every.fxt | diff <(every_events $language) -
				said objects every.fxt | grep -v module= | grep -v 'userspace.main$' | diff <(printf 'userspace\tthe counter\tbytes=uint64:4\nkernel\t99\t1\ta process\ta=int32:1\n') -
				python3 "$root/tests/independent/fxtdecode.py" check every.fxt
				fxt dump every.fxt | grep -q 'thread koid=.* name="worker"'
			done
		done
	done
}

@test "a program that is linked statically says nothing, and works" {
	${CC:-cc} -O2 -static -I"$root/include" -o every "$root/tests/programs/trace_h/every.c" || skip "there is no static libc"
	[ "$(./every)" = "0 0 0 0" ]
	[ "$(fxtrun -o every.fxt sh -c ./every 2>err)" = "0 0 0 0" ]
}

@test "FXT_NTRACE leaves nothing of the macros in a program" {
	${CC:-cc} -O0 -DFXT_NTRACE -I"$root/include" -c -o none.o "$root/tests/programs/trace_h/life.c"
	fails grep -q fxt_trace <(nm none.o)
	fails grep -q 'before main' none.o
}

@test "the compiler refuses 16 arguments, a name without a value, names that are no literals, and strings that are gone at the end" {
	local sixteen=

	for i in {1..16}; do
		sixteen+=", \"$i\", i"
	done
	for language in c cc; do
		refused $language "at most 15 arguments" "FXT_INSTANT(\"c\", \"n\", 0$sixteen)"
		refused $language "at most 15 arguments" "FXT_DURATION(\"c\", \"n\"$sixteen)"
		refused $language "a name and a value" 'FXT_INSTANT("c", "n", 0, "a")'
		refused $language "at least one value" 'FXT_COUNTER("c", "n", 0)'
		refused $language "FXT_SCOPE_" 'FXT_INSTANT("c", "n", 3)'
		refused $language "error" 'const char *name = "n"; FXT_INSTANT("c", name, 0)'
		refused $language "error" 'const char *key = "k"; FXT_INSTANT("c", "n", 0, key, i)'
	done
	refused cc "keep it in a variable" 'FXT_DURATION("c", "n", "a", std::string("x"))'
}

@test "threads, handlers in the middle, calls in arguments, strings and blobs of 32 KB: made is recorded or told as lost, in each mode" {
	local mode

	for mode in "" "--buffering-mode=oneshot --buffer-size=1" "--on-full=drop --buffer-size=1"; do
		fxtrun --categories=storm $mode -o storm.fxt storm 4 2000 >made 2>err
		adds_up storm.fxt "$(cat made)"
		fxtrun --categories=storm $mode -o storm.fxt storm 3 100 long >made 2>err
		adds_up storm.fxt "$(cat made)"
	done
}

@test "before main, in handlers, in a library that comes and goes, in a forked child, at exit: all is recorded" {
	fxtrun -o life.fxt life "$BATS_FILE_TMPDIR/library.so" 2>err
	said counts life.fxt | diff - <(
		cat <<-'END'
			complete	library	says	20
			complete	life	handler	200
			complete	life	in the child	1
			complete	life	raises	200
			complete	life	waits for the child	1
			instant	library	said	20
			instant	life	at exit	2
			instant	life	before main	1
			instant	life	child	1
			instant	life	destructor	2
			instant	life	in handler	200
		END
	)
	python3 "$root/tests/independent/fxtdecode.py" check life.fxt
}

@test "a duration that a killed program is in is left open in the trace, and --categories chooses what the program says" {
	${CC:-cc} -O2 -I"$root/include" -o open "$root/tests/programs/trace_h/open.c"
	fxtrun -o open.fxt ./open 2>err || true
	said counts open.fxt | diff <(printf 'begin\tfirst\topen\t1\ninstant\tfirst\tone\t1\ninstant\tsecond\ttwo\t1\n') -
	fxtrun --categories='sec*,none' -o second.fxt ./open 2>err || true
	said counts second.fxt | diff <(printf 'instant\tsecond\ttwo\t1\n') -
	grep "no event has the category none; .*, and the program's own" err
}

@test "the macros of <fxt/markers.h> are events, from C and from C++" {
	local compiler

	for compiler in "${CC:-cc}" "${CXX:-c++} -x c++"; do
		$compiler -Wall -Wextra -Werror -I"$root/include" -o markers "$root/tests/programs/trace_h/markers.c"
		fxtrun --heap=off -o markers.fxt ./markers
		fxt check markers.fxt
		fxt dump markers.fxt | grep -q 'name="nvtx thread"'
		said events markers.fxt | sed -E 's/^(async .*\trange)\t[0-9]+/\1/' | sort >recorded
		sort <<-'END' | diff - recorded
			async begin	nvtx	range	message=string:far
			async begin	tracy	load	1
			async end	nvtx	range
			async end	tracy	load	1
			begin	nvtx	range	message=string:from a variable
			complete	tracy	coloured
			complete	tracy	coloured
			complete	tracy	coloured
			complete	tracy	inner
			complete	tracy	zone
			counter	tracy	queue	0	value=int32:2
			end	nvtx	range
			instant	nvtx	mark	message=string:here
			instant	tracy	frame
			instant	tracy	present
			log	log	a line
			log	log	from
		END
		$compiler -DFXT_NTRACE -I"$root/include" -o untraced "$root/tests/programs/trace_h/markers.c"
		./untraced
	done
}

@test "functions of the header are none of the program's, however it is recorded" {
	for compiler in gcc clang; do
		for option in -finstrument-functions -fpatchable-function-entry=5 '-fxray-instrument -fxray-instruction-threshold=1' -g; do
			[[ $compiler = clang || $option != -fxray* ]] || continue
			# shellcheck disable=SC2086
			$compiler -Wall -Wextra -Werror -O0 $option -pthread -I"$root/include" -o server "$root/examples/server.c"
			fxtrun $([ "$option" != -g ] || echo --patch=server) -o trace.fxt ./server >out 2>err
			fxt report --csv trace.fxt | rows functions name >names
			grep -x queue_take names || { [ "$(uname -m)" != x86_64 ] && [ "$option" = -g ]; }
			fails grep fxt_ names
		done
	done
}
