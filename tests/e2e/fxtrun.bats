#!/usr/bin/env bats
# fxtrun: what it refuses and how, exit statuses, where the trace goes, signals, and what the program gets to see.

load helpers

setup_file()
{
	cc -O2 -g -finstrument-functions -o "$BATS_FILE_TMPDIR/counted" \
		"$BATS_TEST_DIRNAME/../programs/launcher/counted.c"
	mkdir "$BATS_FILE_TMPDIR/sockets"
}

setup()
{
	cd "$BATS_TEST_TMPDIR" || return 1
	counted=$BATS_FILE_TMPDIR/counted
	# Sessions leave nothing behind: teardown looks.
	export XDG_RUNTIME_DIR=$BATS_FILE_TMPDIR/sockets
}

teardown()
{
	# A compiler may have a directory there as well.
	ls -lAR "$BATS_FILE_TMPDIR/sockets"
	! compgen -G "$BATS_FILE_TMPDIR/sockets/fxt*"
}

# leaves LEAVES TRACE: a sound trace with so many calls of leaf().
leaves()
{
	sound "$2" && [ "$(calls_of "$2" leaf)" = "$1" ]
}

# ---- usage ----

@test "wrong usage: one line, 125, and no trace" {
	says 125 "fxtrun: no program given; use: fxtrun [options] program [arguments]" fxtrun
	says 125 "fxtrun: unknown option --colour; fxtrun --help lists them all" fxtrun --colour "$counted" 1
	says 125 "fxtrun: --on-full=wait: must be block or drop" fxtrun --on-full=wait "$counted" 1
	says 125 "fxtrun: --buffer-size=MB: the value is missing; fxtrun --help explains it" fxtrun --buffer-size
	[ ! -e trace.fxt ]
}

@test "--populate: all of the buffer is there when the program begins, and little of it otherwise" {
	resident()
	{
		fxtrun "$@" -o trace.fxt sed -n '/fxt-buffer/,/^Rss/s/^Rss: *\([0-9]*\) kB/\1/p' /proc/self/smaps 2>/dev/null
	}
	[ "$(resident --buffer-size=8 --populate)" = 8192 ]
	[ "$(resident --buffer-size=8)" -lt 4096 ]
}

@test "--help and --version" {
	fxtrun --help >help
	for option in output-file buffer-size buffering-mode on-full categories help version; do
		grep -q -- "--$option" help
	done
	[ "$(wc -L <help)" -le 80 ]
	[[ "$(fxtrun --version)" =~ ^fxtrun\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

# ---- programs that cannot be run or traced: an existing trace is left alone ----

@test "programs that cannot be run" {
	echo precious >trace.fxt
	mkdir directory
	echo data >data
	printf '#!/nosuch/sh\n' >script && chmod +x script
	says 127 "fxtrun: nosuch: no such program in PATH" fxtrun nosuch
	says 127 "fxtrun: ./nosuch cannot be run: it does not exist" fxtrun ./nosuch
	says 126 "fxtrun: ./directory cannot be run: it is a directory" fxtrun ./directory
	says 126 "fxtrun: ./data cannot be run: it may not be executed; chmod +x allows it, except on a noexec file system" \
		fxtrun ./data
	says 127 "fxtrun: ./script cannot be run: its interpreter /nosuch/sh does not exist" fxtrun ./script
	[ "$(cat trace.fxt)" = precious ]
}

@test "programs that cannot be traced" {
	echo precious >trace.fxt
	echo 'int main(void) { return 0; }' >prog.c
	cc -static -o static prog.c
	says 125 "fxtrun: ./static cannot be traced: it is statically linked; link it dynamically (without -static)" \
		fxtrun ./static
	printf '#!%s/static\n' "$PWD" >script && chmod +x script
	says 125 "fxtrun: ./script cannot be traced: its interpreter $PWD/static is statically linked; link it dynamically (without -static)" \
		fxtrun ./script
	# An ELF header for 32 bits, little-endian, version 1; the same for big-endian 64
	# bits.
	printf '\177ELF\001\001\001%057d' 0 >elf32 && chmod +x elf32
	says 125 "fxtrun: ./elf32 cannot be traced: it is a 32-bit program; build it for 64 bits" fxtrun ./elf32
	printf '\177ELF\002\002\001%057d' 0 >other && chmod +x other
	says 125 "fxtrun: ./other cannot be traced: it is built for another kind of machine; build it for this one" \
		fxtrun ./other
	[ "$(cat trace.fxt)" = precious ]
}

@test "programs that only exec itself refuses: no new trace, and an old one is kept" {
	echo 'int main(void) { return 0; }' >prog.c
	head -c 1000 /dev/zero >linker && chmod +x linker
	cc -Wl,--dynamic-linker="$PWD/linker" -o prog prog.c
	line="fxtrun: ./prog cannot be run: Accessing a corrupted shared library"
	says 126 "$line" fxtrun ./prog
	[ ! -e trace.fxt ]
	echo precious >trace.fxt
	says 126 "$line" fxtrun ./prog
	[ "$(cat trace.fxt)" = precious ]
}

@test "no agent, or a file that is not an agent" {
	says 125 "fxtrun: FXT_AGENT=/nosuch.so: No such file or directory; it must name the file libfxtagent.so" \
		env FXT_AGENT=/nosuch.so fxtrun "$counted" 1
	cp "$build/fxtrun" .
	says 125 "fxtrun: libfxtagent.so is missing in $PWD and its ../lib; install it there or set FXT_AGENT to its path" \
		./fxtrun "$counted" 1
	[ ! -e trace.fxt ]
	mkdir bin lib && mv fxtrun bin && cp "$build/libfxtagent.so" lib
	bin/fxtrun "$counted" 100
	leaves 100 trace.fxt
	# A library that is no agent: the program runs, and that nothing came is said.
	echo 'int unrelated;' >other.c && cc -shared -fPIC -o other.so other.c
	FXT_AGENT=./other.so fxtrun "$counted" 1 exit 7 2>err || [ $? = 7 ]
	grep "^fxtrun: $counted did not load the tracing library" err
}

# ---- exit statuses ----

@test "the exit status is the program's" {
	fxtrun "$counted" 10
	fxtrun "$counted" 10 exit 3 || [ $? = 3 ]
	fxtrun "$counted" 10 exit 125 || [ $? = 125 ]
	for signal in 6 9 11 15; do
		status=0
		fxtrun "$counted" 10 signal $signal || status=$?
		[ $status = $((128 + signal)) ]
		[ "$(calls_of trace.fxt leaf)" = 10 ]
	done
}

@test "the summary" {
	fxtrun "$counted" 1234567 2>err
	grep -Ex 'fxtrun: 1,234,569 events, 1 thread, 1 process, 0 lost, 30 MB: trace.fxt' err
	# The shell's waits for its children are records only if they are long enough.
	fxtrun --categories=function,process sh -c "'$counted' 5; '$counted' 6; exit" 2>err
	# 13 calls, three exits, and what the shell learnt of two of them.
	grep -E '^fxtrun: 18 events, 3 threads, 3 processes, 0 lost, [0-9.]+ kB: trace.fxt \(the previous one is trace.fxt.old\)$' err
	fxtrun true 2>err
	grep -E '^fxtrun: 0 events, no thread did anything that is recorded, 1 process, 0 lost, .*\(no calls: is true compiled with -finstrument-functions or -fpatchable-function-entry=5\?\)$' err
	grep -x "fxtrun: calls are recorded of programs that are built so: fxt-cc -O2 -g prog.c -o prog" err
	fxt replay | grep -x 'trace.fxt: no thread did anything that is recorded'
	fxtrun --start=paused -o paused.fxt "$counted" 5 2>err
	grep -x 'fxtrun: the recording was never started (fxtctl start does that), no events: paused.fxt' err
}

@test "a program without instrumentation that sleeps: fxtrun, report and why say how to compile it, by what builds it" {
	mkdir built && cd built
	echo '#include <unistd.h>
		int main(void) { usleep(1000); return 0; }' >sleeper.c
	cc -o sleeper sleeper.c
	local compilers='CC=fxt-cc CXX=fxt-c++'
	built_by()
	{
		rm -rf CMakeLists.txt meson.build configure Makefile
		[ -z "$1" ] || touch "$1"
		fxtrun ./sleeper 2>err
		grep -E '^fxtrun: [1-9][0-9]* events?, .* \(no calls: is ./sleeper compiled with -finstrument-functions or -fpatchable-function-entry=5\?\)$' err
		grep -xF "fxtrun: calls are recorded of programs that are built so: $2" err
		fxt report | grep -xF "no calls are in the trace: is the program compiled with -finstrument-functions or -fpatchable-function-entry=5? $2"
		says 2 "fxt: trace.fxt: no function is named 'main'; no calls are in the trace: is the program compiled with -finstrument-functions or -fpatchable-function-entry=5? $2" fxt why main
	}
	built_by "" "fxt-cc -O2 -g prog.c -o prog"
	built_by Makefile "make -B $compilers"
	built_by configure "./configure $compilers && make clean all"
	built_by CMakeLists.txt "cmake -B traced -DCMAKE_C_COMPILER=fxt-cc -DCMAKE_CXX_COMPILER=fxt-c++ && cmake --build traced"
	built_by meson.build "$compilers meson setup traced && meson compile -C traced"
	# What the message says, done: its calls are there, and it says no more of it.
	rm -f meson.build
	echo 'sleeper: sleeper.c' >Makefile
	fxtrun ./sleeper 2>err
	eval "$(sed -n 's/^fxtrun: calls are recorded of programs that are built so: //p' err)"
	fxtrun ./sleeper 2>err
	[ "$(calls_of trace.fxt main)" = 1 ]
	[ "$(wc -l <err)" = 1 ] && fails grep 'no calls' err
	# It is compiled for it, and all is excluded.
	fxtrun --exclude='*' ./sleeper 2>err
	grep -E '\(no calls: ./sleeper made none while it was recorded, or all are excluded\)$' err
	fails grep 'built so' err
}

@test "a program that defines the hooks itself: the summary says why nothing is recorded; a library that does is recorded" {
	cat >hooks.c <<-'END'
		int hooks_called;
		__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *f, void *c) { hooks_called++; }
		__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *f, void *c) { hooks_called++; }
	END
	cat >prog.c <<-'END'
		#include <stdio.h>
		extern int hooks_called;
		__attribute__((noinline)) static void leaf(void) { __asm__ volatile(""); }
		int main(void) { leaf(); printf("%d\n", hooks_called); }
	END
	hint='(./own has hooks of its own: __cyg_profile_func_enter is defined in it and is called instead of'
	hint="$hint fxtrun's; build it without that definition)"
	for visibility in default hidden; do
		cc -fvisibility=$visibility -c hooks.c -o hooks.o
		cc -finstrument-functions prog.c hooks.o -o own
		[ "$(fxtrun ./own 2>err)" = 3 ] # the program's hooks were called
		grep -F "$hint" err
	done
	# Hidden and stripped hooks have no symbol.
	strip own
	fxtrun ./own 2>err
	grep -E '\(no calls: is ./own compiled with -finstrument-functions or -fpatchable-function-entry=5\?\)$' err
	# By its name in PATH, where it is found.
	cc prog.c hooks.o -finstrument-functions -o own
	PATH=$PWD:$PATH fxtrun own 2>err
	grep -F '(own has hooks of its own:' err
	# The agent's hooks come before those of a library.
	cc -shared -fPIC hooks.c -o libhooks.so
	cc -finstrument-functions prog.c ./libhooks.so -o linked
	[ "$(fxtrun -o linked.fxt ./linked 2>err)" = 0 ]
	leaves 1 linked.fxt
	! grep -F 'hooks of its own' err
}

@test "unknown categories are reported at the end, and the compiler is not blamed for them" {
	fxtrun --categories=bogus,proc*,functions "$counted" 5 2>err
	grep -x 'fxtrun: no event has the category bogus; there are function, heap, process and sync' err
	grep -x 'fxtrun: no event has the category functions; there are .*' err
	[ "$(grep -c 'no event has' err)" = 2 ]
	fxtrun --categories=bogus -o bogus.fxt "$counted" 5 2>err
	grep -Ex 'fxtrun: 0 events, [^(]*' err
}

# ---- where the trace goes ----

@test "places the trace cannot go to: one line, 125, and the program does not run" {
	mkdir directory
	says 125 "fxtrun: cannot write the trace to directory: Is a directory; choose another place with -o" \
		fxtrun -o directory touch ran
	says 125 "fxtrun: cannot write the trace to no/where: No such file or directory; choose another place with -o" \
		fxtrun -o no/where touch ran
	says 125 "fxtrun: cannot write the trace to standard output: Bad file descriptor; choose another place with -o" \
		sh -c 'fxtrun -o - touch ran >&-'
	if [ "$(id -u)" != 0 ]; then
		chmod a-w directory
		says 125 "fxtrun: cannot write the trace to directory/t: Permission denied; choose another place with -o" \
			fxtrun -o directory/t touch ran
	fi
	[ ! -e ran ]
}

@test "a trace is replaced, through links too" {
	head -c 1000000 /dev/zero >old
	ln -s old link
	fxtrun -o link "$counted" 100
	[ -L link ]
	leaves 100 old
	ln -s new dangling
	fxtrun -o dangling "$counted" 100
	[ -L dangling ]
	leaves 100 new
}

@test "pipes, standard output, devices" {
	mkfifo fifo
	cat fifo >a 3>&- &
	fxtrun -o fifo "$counted" 100
	wait $!
	leaves 100 a
	fxtrun -o - "$counted" 100 | cat >b
	leaves 100 b
	fxtrun -o /dev/stdout "$counted" 100 >c
	leaves 100 c
	fxtrun -o >(cat >d) "$counted" 100
	wait $!
	leaves 100 d
	fxtrun -o /dev/null "$counted" 100
}

@test "the trace on standard output: the program's output goes to standard error, and one file for both is refused" {
	for output in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
		fxtrun -o $output sh -c 'echo text; "$0" 100 >&2; echo more' "$counted" >trace.fxt 2>said
		leaves 100 trace.fxt
		[ "$(sed '/^fxtrun:/d' said | grep -xE 'text|more' | tr '\n' ' ')" = "text more " ]
	done
	both="standard output and standard error are the same file, and the program's text would be in the trace"
	shared="is where the program prints, so its text would be in the trace; choose another place with -o"
	status=0
	fxtrun -o - touch ran >both 2>&1 || status=$?
	[ $status = 125 ]
	[ "$(cat both)" = "fxtrun: -: $both; choose another place with -o" ]
	says 125 "fxtrun: text $shared" sh -c 'fxtrun -o text touch ran >text'
	ln -s text link
	says 125 "fxtrun: link $shared" sh -c 'fxtrun -o link touch ran >>text'
	says 125 "fxtrun: /dev/fd/3 $shared" sh -c 'fxtrun -o /dev/fd/3 touch ran 3>text >&3'
	mkfifo pipe
	cat pipe >/dev/null 3>&- &
	says 125 "fxtrun: pipe $shared" sh -c 'fxtrun -o pipe touch ran >pipe'
	wait $!
	status=0
	fxtrun -o text touch ran 2>text || status=$?
	[ $status = 125 ]
	[ "$(cat text)" = "fxtrun: text $shared" ]
	[ ! -e ran ]
	# Nothing can mix where nothing is kept.
	fxtrun -o - true >/dev/null 2>&1
	fxtrun -o /dev/null true >/dev/null 2>&1
}

@test "a reader that goes away, and a device that is full" {
	fxtrun -o - "$counted" 100000 2>err | true
	[ "${PIPESTATUS[0]}" = 125 ]
	grep -x 'fxtrun: standard output: Broken pipe; the trace is lost' err
	status=0
	fxtrun -o /dev/full "$counted" 100 2>err || status=$?
	[ $status = 125 ]
	grep -x 'fxtrun: /dev/full: No space left on device; the trace is lost' err
	grep ' all lost, ' err
	fails grep ' 0 lost' err
	# The program's own failure counts for more.
	fxtrun -o /dev/full "$counted" 100 exit 3 || status=$?
	[ $status = 3 ]
}

@test "a trace that is truncated to nothing is reported as lost, and the program does not notice" {
	for trace in trace.fxt trace.fxt.zst; do
		status=0
		fxtrun -o $trace sh -c "'$counted' 100; until [ -s $trace ]; do sleep 0.02; done; truncate -s 0 $trace; exec '$counted' 100" 2>err || status=$?
		[ $status = 125 ]
		grep -x "fxtrun: $trace was truncated while the program ran; the trace is lost" err
		grep ' all lost, ' err
		fails grep ' 0 lost' err
	done
}

# cut_by COMMAND SIZE TRACE: does COMMAND to the trace once it has more than SIZE bytes,
# with calls before and, unless there is a fourth argument, after. The manager is stopped
# meanwhile: by chance it would write within the command.
cut_by()
{
	local command=$1 size=$2 trace=$3 then="exec '$counted' 1000" job manager

	[ $# = 3 ] || then=:
	status=0
	rm -f waiting done
	mkfifo waiting done
	fxtrun -o "$trace" sh -c "until [ \$(stat -c %s $trace) -gt $size ]; do '$counted' 5000; sleep 0.1; done
		echo \$PPID >waiting; read -r _ <done; $then" 2>err &
	job=$!
	read -r manager <waiting
	kill -STOP "$manager"
	while grep -h ^State: /proc/"$manager"/task/*/status | grep -qv T; do :; done
	eval "$command"
	kill -CONT "$manager"
	echo >done
	wait $job || status=$?
	cat err
	[ $status = 125 ]
	fails grep ' 0 lost' err
}

@test "a trace that another process cuts while it is recorded ends there, and the lost bytes are reported" {
	for trace in trace.fxt trace.fxt.zst; do
		size=400000
		[ $trace = trace.fxt ] || size=100000
		for then in "" nothing; do
			cut_by "truncate -s $((size / 2)) $trace" $size $trace $then
			grep -E "^fxtrun: $trace was cut while the program ran, by another process; the trace ends after the first [0-9]+ bytes of its records, the program runs on\$" err
			grep -E ', [0-9.]+ kB lost, .* kB could not be written\)' err
			fxt check $trace || [ $? = 1 ]
			[ $trace = trace.fxt ] || zstd -qdc $trace >trace.fxt
			[ "$(calls_of trace.fxt leaf)" -gt 500 ]
			[ "$(calls_of trace.fxt leaf)" -lt "$(sed -En 's/^fxtrun: ([0-9,]+) events,.*/\1/p' err | tr -d ,)" ]
		done
	done
}

@test "a trace that another process overwrites while it is recorded is reported as lost, and that file is left alone" {
	for trace in trace.fxt trace.fxt.zst; do
		for then in "" nothing; do
			cut_by "echo mine >$trace" 1000 $trace $then
			grep -x "fxtrun: $trace was truncated while the program ran; the trace is lost" err
			grep ' all lost, ' err
			[ "$(cat $trace)" = mine ]
			rm $trace
		done
	done
}

@test "a file that the program removes is written again; one that it replaces is left alone" {
	fxtrun sh -c "'$counted' 100; rm trace.fxt"
	leaves 100 trace.fxt
	status=0
	fxtrun sh -c "rm trace.fxt; echo mine >trace.fxt" 2>err || status=$?
	[ $status = 125 ]
	[ "$(cat trace.fxt)" = mine ]
	grep -x 'fxtrun: trace.fxt was replaced while the program ran; the trace is lost' err
}

@test "a trace of the default name is kept as trace.fxt.old; one that was named is overwritten" {
	fxtrun "$counted" 1 2>err
	grep -v 'trace.fxt.old' err
	fxtrun "$counted" 2 2>err
	grep -E '^fxtrun: .*: trace.fxt \(the previous one is trace.fxt.old\)$' err
	leaves 1 trace.fxt.old
	leaves 2 trace.fxt
	# Nothing happens to either where the program does not run.
	fails fxtrun ./nosuch
	fxtrun "$counted" 3
	leaves 2 trace.fxt.old
	leaves 3 trace.fxt
	fxtrun -o trace.fxt "$counted" 4 2>err
	fails grep old err
	leaves 2 trace.fxt.old
	leaves 4 trace.fxt
}

@test "the name of a trace has process, host, rank, time and program, as they are" {
	fxtrun -o 't.%p.%h.%r.%n.%%.%x.fxt' "$counted" 3 2>err &
	wait $!
	[ "$(calls_of "t.$!.$(hostname).0.counted.%.%x.fxt" leaf)" = 3 ]
	before=$(date +%Y%m%d-%H%M%S)
	OMPI_COMM_WORLD_RANK=7 OMPI_COMM_WORLD_SIZE=9 fxtrun -o 'of.%r.%t.fxt' "$counted" 3
	name=$(echo of.7.*.fxt)
	[[ ! "${name:5:15}" < "$before" && ! "${name:5:15}" > "$(date +%Y%m%d-%H%M%S)" ]]
	[ "$(calls_of "$name" leaf)" = 3 ]
	fxtrun -o "$(printf '%%n%.0s' {1..2000})" "$counted" 3 2>err || [ $? = 125 ]
	grep -x 'fxtrun: --output-file: the name is too long' err
	[ "$(ls ./*.fxt | wc -l)" = 2 ]
}

@test "the processes of a parallel job have a trace each" {
	local jobs=()

	for rank in 0 1 2 3; do
		OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=4 fxtrun "$counted" 1$rank 2>$rank.err &
		jobs+=($!)
	done
	wait "${jobs[@]}"
	for rank in 0 1 2 3; do
		grep -x "fxtrun: 1$((rank + 2)) events, 1 thread, 1 process, 0 lost, [0-9.]* kB: trace.$rank.fxt" $rank.err
		[ "$(calls_of trace.$rank.fxt leaf)" = 1$rank ]
	done
	# A batch script of Slurm has a rank, but is no job of several processes.
	SLURM_PROCID=0 fxtrun "$counted" 3
	[ "$(calls_of trace.fxt leaf)" = 3 ]
}

@test "two at the same file" {
	fxtrun "$counted" 100 wait >out 3>&- &
	await ready out
	says 125 "fxtrun: trace.fxt is being written by another fxtrun; choose another file with -o" \
		fxtrun touch ran
	[ ! -e ran ]
	kill $!
	wait $! || [ $? = 143 ]
	[ "$(calls_of trace.fxt leaf)" = 100 ]
}

@test "disk full: the trace is valid up to there, and the program does not notice" {
	mkdir disk
	unshare -rm true || skip "needs user namespaces"
	status=0
	unshare -rm sh -e -c '
		mount -t tmpfs -o size=4m tmpfs disk
		fxtrun -o disk/trace.fxt --buffer-size=1 "$1" 1000000 && exit 1
		[ $? = 125 ]
		cp disk/trace.fxt .' sh "$counted" 2>err
	cat err
	grep -x 'fxtrun: disk/trace.fxt: No space left on device; the trace ends there, the program runs on' err
	# Cut off at a record, not anywhere.
	decode check trace.fxt >checks || true
	grep -E '^0[[:space:]]format:truncated_tail$' checks
	[ "$(decode calls trace.fxt | awk -F'\t' '{ n += $4 } END { print n }')" -gt 100000 ]
}

# ---- what the program gets to see ----

@test "descriptors, signals, limits and terminal are the program's own" {
	cat >seen.py <<-'END'
		import os, resource, signal
		# Signals that end a program by a fault have a handler of the agent, which
		# only the kernel shows (fatal.bats): all these, no others.
		ours = sum(1 << number - 1 for number in (signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV))
		def plain(line):
		    return line if not line.startswith("SigCgt") else hex(int(line.split()[1], 16) ^ (ours if "FXT_SOCKET" in os.environ else 0))
		for fd in range(1024):
		    try:
		        print(fd, os.readlink(f"/proc/self/fd/{fd}").replace("traced", "bare"))
		    except OSError:
		        pass
		print([str(signal.getsignal(number)) for number in range(1, 65)])
		print([plain(line) for line in open("/proc/self/status") if line.startswith(("SigP", "SigB", "SigI", "SigC", "Shd", "NoNewPrivs", "Cap"))])
		print([resource.getrlimit(limit) for limit in range(16)])
		print(os.getpgrp(), os.getsid(0), os.nice(0), os.umask(0), os.getcwd())
		print(sorted(item for item in os.environ.items() if item[0] not in ("LD_PRELOAD", "FXT_SOCKET", "ASAN_OPTIONS")))
	END
	for arrangement in 'exec "$@"' 'exec "$@" 7</dev/null' 'exec "$@" <&-' 'trap "" PIPE CHLD HUP XFSZ; exec "$@"'; do
		bash -c "$arrangement" bash python3 seen.py >bare
		bash -c "$arrangement" bash fxtrun python3 seen.py >traced
		[ "$(wc -l <bare)" -gt 6 ]
		diff bare traced
	done
}

@test "closed standard descriptors stay closed, and messages go nowhere else" {
	fxtrun bash -c 'exec >&- 2>&-; exit 0' >&- 2>&- <&-
	fxtrun "$counted" 100 >&- 2>&- <&-
	leaves 100 trace.fxt
}

@test "libraries that were preloaded before are preloaded still" {
	echo 'int unrelated;' >other.c && cc -shared -fPIC -o other.so other.c
	LD_PRELOAD=$PWD/other.so fxtrun bash -c 'echo "$LD_PRELOAD"; grep -c other.so /proc/self/maps' >out
	grep -x "$(realpath "$build/libfxtagent.so"):$PWD/other.so" out
	[ "$(tail -n 1 out)" -gt 0 ]
}

@test "an agent whose path LD_PRELOAD cannot hold" {
	mkdir 'a folder: $ORIGIN'
	cp "$build/fxtrun" "$build/libfxtagent.so" 'a folder: $ORIGIN'
	'a folder: $ORIGIN/fxtrun' "$counted" 100
	leaves 100 trace.fxt
}

@test "the socket is where it can be, and closed to other users" {
	for place in "$BATS_FILE_TMPDIR/sockets" /nosuch 'a b' "$(printf '/%0100d' 0)"; do
		XDG_RUNTIME_DIR=$place fxtrun sh -c '
			stat -c "%a %u" "$(dirname "$FXT_SOCKET")" "$FXT_SOCKET"; test -S "$FXT_SOCKET"' >out
		[ "$(cat out)" = "700 $(id -u)"$'\n'"600 $(id -u)" ]
	done
	(umask 777 && fxtrun -o - sh -c 'stat -c %a "$(dirname "$FXT_SOCKET")" "$FXT_SOCKET" >&2' 2>&1 >/dev/null |
		grep -v '^fxtrun: ' | tr '\n' ' ' | grep -x '700 600 ')
}

# ---- signals ----

@test "a signal that ends the program ends the run with a trace" {
	for signal in TERM HUP USR2; do
		# Signals ignored here, as SIGHUP under nohup, would be ignored by the
		# program.
		env --default-signal fxtrun "$counted" 100 wait >out 3>&- &
		await ready out
		kill -$signal $!
		status=0
		wait $! || status=$?
		[ $status = $((128 + $(kill -l $signal))) ]
		[ "$(calls_of trace.fxt leaf)" = 100 ]
		rm out
	done
}

@test "no room in TMPDIR for a trace that goes to standard output: the message names the full file system" {
	mkdir small
	mount -t tmpfs -o size=64k none small 2>/dev/null || skip "no file system can be mounted here"
	TMPDIR=$PWD/small fxtrun -o - "$counted" 20000 >trace.fxt 2>said || status=$?
	umount small
	[ "$status" = 125 ]
	grep -x 'fxtrun: the temporary file in TMPDIR or /tmp: No space left on device; the trace ends there, the program runs on' said
}

@test "an interrupt from the terminal is the program's affair" {
	cat >interrupt.py <<-'END'
		import os, signal, subprocess, sys
		run = subprocess.Popen(["fxtrun"] + sys.argv[1:], stdout=subprocess.PIPE, start_new_session=True,
		                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
		run.stdout.readline()
		os.killpg(run.pid, signal.SIGINT)
		sys.exit(run.wait())
	END
	status=0
	python3 interrupt.py "$counted" 100 wait || status=$?
	[ $status = 130 ]
	[ "$(calls_of trace.fxt leaf)" = 100 ]
	# A program that survives it is traced to its end.
	status=0
	cat >survive.py <<-'END'
		import signal, subprocess, sys
		signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
		print("ready", flush=True)
		signal.sigwait({signal.SIGINT})
		sys.exit(subprocess.call(sys.argv[1:]))
	END
	python3 interrupt.py python3 survive.py "$counted" 50 exit 9 || status=$?
	[ $status = 9 ]
	leaves 50 trace.fxt
}

@test "an interrupt after the program's end stops what takes long then" {
	mkfifo fifo
	cat >interrupt.py <<-'END'
		import os, signal, subprocess, sys
		run = subprocess.Popen(["fxtrun", "-o", "fifo"] + sys.argv[1:],
		                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
		reader = os.open("fifo", os.O_RDONLY)
		os.read(reader, 8)  # of a trace larger than the pipe: the program has ended
		run.send_signal(signal.SIGINT)
		sys.exit(-run.wait())
	END
	status=0
	python3 interrupt.py "$counted" 100000 2>said || status=$?
	[ $status = 2 ]
	[ "$(cat said)" = "fxtrun: interrupted while it finished fifo, which may be cut or lack names" ]
}

@test "fxtrun killed: the program goes on, and what was saved is valid" {
	fxtrun --buffer-size=64K "$counted" 100000 wait >out 3>&- &
	pid=$(await ready out | cut -d ' ' -f 2)
	# The job first: it would finish the trace of a recorder that is killed alone.
	kill -KILL $! $(recorder_of $!)
	wait $! || true
	kill -0 "$pid"
	kill -KILL "$pid"
	decode check trace.fxt >checks || true
	grep -E '^0[[:space:]]format:truncated_tail$' checks
	rm -r "$BATS_FILE_TMPDIR"/sockets/*
}

# ---- several processes ----

@test "processes that outlive the program are in the trace as far as they got" {
	fxtrun "$counted" 100 linger >out 2>err
	kill "$(cut -d ' ' -f 2 out)"
	[ "$(calls_of trace.fxt leaf)" = 101 ]
	grep -E '^fxtrun: .*, 2 processes, .*: trace.fxt \(1 still running\)$' err
}

@test "exec begins a provider anew in the same process" {
	fxtrun bash -c "exec '$counted' 100" 2>err
	leaves 100 trace.fxt
	# 101 calls, the exec and the exit.
	grep -E '^fxtrun: 103 events, 1 thread, 1 process, 0 lost,' err
	[ "$(decode threads trace.fxt | cut -f 1 | sort -u | wc -l)" = 1 ]
	# Two images of one name are one process.
	fxtrun env A=1 env B=2 "$counted" 100 2>/dev/null
	[ "$(fxt info trace.fxt | grep -cE '^provider "env", process [0-9]+: ')" = 1 ]
}

# ---- the smallest buffers ----

@test "a buffer too small for the list of libraries: all calls are there, and fxtrun says that names are missing" {
	fxtrun --no-sched --buffer-size=4K "$counted" 3000 2>err
	decode check trace.fxt
	[ "$(calls_by_name trace.fxt | awk '{ n += $2 } END { print n }')" = 3001 ]
	grep -Ex 'fxtrun: counted\[[0-9]+\] has functions that appear by address: its buffer has no room for the list of its libraries; choose a larger --buffer-size' err
	fxtrun --no-sched --buffer-size=64K "$counted" 3000 2>err
	leaves 3000 trace.fxt
	[ "$(wc -l <err)" = 1 ]
}

@test "a library loaded more often than the buffer can list: all calls are there, and fxtrun says which mode has room" {
	{
		for n in {1..200}; do echo "__attribute__((noinline)) int f$n(int x) { return x + $n; }"; done
		echo 'int run(int x) { int sum = 0;'
		for n in {1..200}; do echo "sum += f$n(x);"; done
		echo 'return sum; }'
	} >often.c
	cat >host.c <<-'END'
		#include <dlfcn.h>
		int main(void)
		{
			for (int i = 0; i < 700; i++) {
				void *library = dlopen("./often.so", RTLD_NOW);
				((int (*)(int))dlsym(library, "run"))(i);
				dlclose(library);
			}
			return 0;
		}
	END
	cc -fPIC -shared -finstrument-functions -o often.so often.c
	cc -finstrument-functions -o host host.c -ldl
	fxtrun --no-sched --heap=off ./host 2>err
	[ "$(calls_by_name trace.fxt | awk -F'\t' '{ n += $2 } END { print n }')" = $((700 * 201 + 1)) ]
	grep -Ex 'fxtrun: host\[[0-9]+\] has functions that appear by address: it has loaded libraries more often than the buffer has room to list; --buffering-mode=oneshot has more' err
	fxtrun --no-sched --heap=off --buffering-mode=oneshot --buffer-size=64 ./host 2>err
	[ "$(calls_of trace.fxt f7)" = 700 ]
}

@test "too little address space: that is what the message asks for" {
	(
		ulimit -v 80000
		says 125 "fxtrun: cannot prepare the trace buffer: Cannot allocate memory; besides the buffer it takes 300 MB of address space, here and in the program (ulimit -v)" \
			fxtrun true
	)
	(
		ulimit -v $((300000000 / 1024 + 65536))
		fxtrun "$counted" 1000 2>err
		grep ' 0 lost, ' err
		leaves 1000 trace.fxt
		fxtrun -t 0us "$counted" 1000 2>err
		grep ' 0 lost, ' err
		leaves 1000 trace.fxt
	)
}

@test "options from .fxtrc and FXT_OPTIONS: the later one counts; refused ones are named" {
	printf '# of the project\n\n  --exclude="ack*"  --no-sched\n-D 7\n' >.fxtrc
	FXT_OPTIONS='-o "a trace.fxt"' fxtrun "$build/examples/recursion" >out 2>err
	grep -q ': a trace.fxt (with the options of .fxtrc)$' err
	decode calls "a trace.fxt" | cut -f 3,4 | diff - <(printf 'main\t1\n')
	printf '%s\n' '-D 7' >.fxtrc
	FXT_OPTIONS='-o "a trace.fxt" -D 6' fxtrun -o b.fxt -D 2 "$build/examples/recursion" >out 2>err
	grep -q ': b.fxt (with the options of .fxtrc)$' err
	decode calls b.fxt | cut -f 3,4 | grep -x "$(printf 'ackermann\t5')"
	says 125 "fxtrun: FXT_OPTIONS: 'x' is not an option" env FXT_OPTIONS=x fxtrun true
	says 125 "fxtrun: FXT_OPTIONS has a quote that is not closed" env FXT_OPTIONS="-o 'x" fxtrun true
	FXT_OPTIONS=x fxtrun --help >help
	fxtrun --help | diff - help
	for option in --output-file=x --session=x --start=paused --trigger=a:stop --duration=1 --detach --decouple; do
		printf '# x\n%s\n' "$option" >.fxtrc
		says 125 "fxtrun: .fxtrc, line 2: ${option%%=*} is refused in a project's file, which may not set outputs or actions" \
			fxtrun true
	done
	echo --no-sched >.fxtrc
	chmod g+w .fxtrc
	fxtrun "$build/examples/recursion" >out 2>err
	grep -qx 'fxtrun: .fxtrc is not used: others may write to it (chmod go-w)' err
	fails grep -q 'with the options' err
	rm .fxtrc
	ln -s /dev/null .fxtrc
	fxtrun "$build/examples/recursion" >out 2>err
	grep -qx 'fxtrun: .fxtrc is not used: it is a symbolic link' err
}
