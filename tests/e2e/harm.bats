#!/usr/bin/env bats
# Programs that a recorder in their process could harm: each does traced what it does bare.

load helpers

# compiled NAME SOURCE OPTION...: tests/programs/harm/SOURCE as ./NAME
compiled()
{
	local name=$1 source=$root/tests/programs/harm/$2 compiler=${CC:-cc}

	[ "${2##*.}" = c ] || compiler=${CXX:-c++}
	shift 2
	"$compiler" -O2 -g -D_GNU_SOURCE -finstrument-functions -pthread -o "$name" "$source" "$@"
}

@test "a program's allocator that calls dlsym() at its first use does not come back to itself" {
	compiled lazy lazy.c -fno-builtin
	same_as_bare "$PWD/lazy"
	[ "$(cat traced.out)" = "no error, allocations: 1, frees: 1" ]
	fxt check trace.fxt
	[ "$(calls_of trace.fxt work)" = 1 ]
}

@test "a preloaded allocator that calls dlsym() at its first use does not come back to itself" {
	compiled lazy.so lazy.c -fno-builtin -DLIBRARY -shared -fPIC
	compiled host host.c
	for options in "" --heap=objects --heap=sampled:4096; do
		same_as_bare env LD_PRELOAD="$PWD/lazy.so" "$PWD/host"
	done
}

@test "a C program finds no name that it would not find without us" {
	compiled exports exports.c
	same_as_bare "$PWD/exports"
	grep -x "malloc 1 1" traced.out
}

@test "a library's own operators new and delete serve it in a C program" {
	compiled host host.c
	compiled plugin.so plugin.cc -shared -fPIC
	for options in "" --heap=objects; do
		same_as_bare "$PWD/host" "$PWD/plugin.so"
		[ "$(cat traced.out)" = 4990 ]
		sound trace.fxt
		[ "$(calls_of trace.fxt 'thrower(int)')" = 1 ]
	done
}

@test "a forked child whose first call is on a new thread loses none" {
	compiled fork_thread fork_thread.c
	same_as_bare "$PWD/fork_thread"
	sound trace.fxt
	[ "$(calls_of trace.fxt in_thread)" = 20 ]
	[ "$(calls_of trace.fxt in_child)" = 1 ]
}

# While a thread populates pages by madvise(), mmap() or mlock() every other thread waits
# that maps memory: for a long time, if the one that populates loses its processor.
@test "pages are there ahead of a program that records, and no thread of it locks the program's memory for more than 64 KiB" {
	local options

	compiled pages_ahead pages_ahead.c
	for options in "" "--buffering-mode=circular --buffer-size=64" "--buffering-mode=oneshot --buffer-size=64" --populate; do
		fxtrun $options -o trace.fxt strace -f -s 0 -e trace=madvise,mmap,mlock -o calls timeout 60 ./pages_ahead >out
		grep -qx ready out
		locks_little calls
	done
	strace -f -E LD_PRELOAD="$build/libfxtagent.so" -E FXT_OUTPUT=alone.fxt -e trace=madvise,mmap,mlock -o calls \
		timeout 60 ./pages_ahead >out
	grep -qx ready out
	locks_little calls
}

# locks_little LOG: no call in a log of strace has more than 64 KiB of memory populated.
locks_little()
{
	grep -q 'mmap(' "$1"
	awk -F, '/MADV_POPULATE|MADV_0x1[67]|mlock|MAP_POPULATE|MAP_LOCKED/ && $2 + 0 > 65536 { print; bad = 1 } END { exit bad }' "$1"
}

@test "a process whose last thread ends by the system call of a thread ends, with the status it has without fxt" {
	compiled raw_exit raw_exit.c
	same_as_bare "$PWD/raw_exit"
	[ "$(wc -l <traced.out)" = 5 ]
	fxt check trace.fxt
	[ "$(calls_of trace.fxt work)" = $((5 + 2)) ]
	same_as_bare "$PWD/raw_exit" itself
	fxt check trace.fxt
	[ "$(calls_of trace.fxt work)" = 2 ]
}

@test "the same without fxtrun, and when the session is over" {
	compiled raw_exit raw_exit.c
	./raw_exit >bare
	LD_PRELOAD=$build/libfxtagent.so FXT_OUTPUT=trace.fxt timeout 20 ./raw_exit >traced
	diff bare traced
	mkfifo go open
	timeout 20 cat open 3>&- &
	timeout 20 fxtrun --detach --duration=0.1 -o trace.fxt ./raw_exit itself <>go >open
	echo >go
	wait $!
}

@test "a program that was recorded and rests is not woken up by us" {
	compiled rest rest.c
	timeout 60 fxtrun --heap=off -o trace.fxt ./rest
	[ "$(calls_of trace.fxt work)" = 200000 ]
}

@test "exec and posix_spawn with unreadable arguments fail as without fxt" {
	compiled bad_pointers bad_pointers.c -fno-builtin -w
	same_as_bare "$PWD/bad_pointers"
	grep -c 'Bad address' traced.out
}

@test "a process whose environment was cleared sees it cleared, and is traced" {
	compiled environment environment.c
	same_as_bare "$PWD/environment"
	[ "$(grep -c 'page size' traced.out)" = 6 ]
	fxt check trace.fxt
	[ "$(calls_of trace.fxt show)" = $((6 * 3)) ]
	same_as_bare env -i sh -c "/usr/bin/env | grep -v PWD; exec env -i $PWD/environment show"
	[ "$(calls_of trace.fxt show)" = 3 ]
}

@test "children that cannot load the agent: their loader prints nothing, programs that a static one runs are traced, and they are counted" {
	compiled untraceable untraceable.c
	${CC:-cc} -D_GNU_SOURCE -static -o static "$root/tests/programs/harm/untraceable.c"
	# Run by glibc's loader, under a name that musl's has.
	ln -s "$(readlink -f "$(sed -n 's/.*interpreter: \(.*\)].*/\1/p' <<<"$(readelf -l untraceable)")")" ld-musl-test.so.1
	${CC:-cc} -D_GNU_SOURCE -o musl "$root/tests/programs/harm/untraceable.c" -Wl,--dynamic-linker="$PWD/ld-musl-test.so.1"
	for preload in "" libm.so.6; do
		export LD_PRELOAD=$preload
		fxtrun -o trace.fxt ./untraceable "$PWD/static" "$PWD/musl" 2>said >traced.out || [ $? = 3 ]
		unset LD_PRELOAD
		grep -v '^fxtrun: ' said && return 1
		[ "$(grep -c '^7$' traced.out)" = 4 ]
		# It is not the loader that looks at that: the program is static.
		[ "$(grep -c 'LD_PRELOAD.*libfxtagent' traced.out)" = 2 ]
		[ "$(grep -cx "LD_PRELOAD ${preload:-unset}" traced.out)" = 2 ]
		grep '(4 ran untraced)$' said
		# It and what the static children ran; the other loader's children are not
		# traced.
		[ "$(calls_of trace.fxt work)" = 3 ]
	done
}

@test "waits that a handler jumps out of, that are interrupted, restarted or cancelled, and waits of children" {
	compiled interrupted interrupted.c
	same_as_bare "$PWD/interrupted"
	sound trace.fxt
	[ "$(calls_of trace.fxt wait_and_jump)" = 100 ]
	[ "$(fxt dump trace.fxt | grep -c 'category="sync" name="read" {fd=.*abandoned=true')" = 100 ]
	[ "$(fxt dump trace.fxt | grep -c 'category="sync" name="poll" {abandoned=true}')" = 1 ]
}

@test "system calls that a process of one thread may make; a program that gives up the processor's clock" {
	compiled system_calls system_calls.c
	./system_calls >bare
	fxtrun -o trace.fxt ./system_calls >traced 2>said
	diff bare traced
	fxt check trace.fxt
	[ "$(uname -m)" != x86_64 ] ||
		grep -x 'fxt: a thread may not read the clock any more (PR_SET_TSC); its calls are lost from here on' said
	[ "$(calls_of trace.fxt work)" -ge 2 ]
}

@test "seccomp filters that no library sees: a thread's death is the process's, and a death by the recording is reported" {
	compiled unseen_filter unseen_filter.c
	for how in thread strict; do
		local bare=0 traced=0
		./unseen_filter $how || bare=$?
		timeout 20 fxtrun -o trace.fxt ./unseen_filter $how 2>said || traced=$?
		[ $bare -gt 128 ]
		[ $traced = $bare ]
		fxt check trace.fxt
		[ "$(calls_of trace.fxt work)" = 1 ]
	done
	traced=0
	timeout 20 fxtrun -o trace.fxt ./unseen_filter narrow 2>said || traced=$?
	[ $traced = $((128 + $(kill -l SYS))) ]
	grep '^fxtrun: unseen_filter\[[0-9]*\] was killed for a system call: it set a seccomp filter by an instruction' said
	fxt check trace.fxt
	traced=0
	./unseen_filter calls || traced=$?
	[ $traced = 7 ]
	# If the processor's counter may be read, a program does not die of it.
	for categories in function function,process; do
		traced=0
		timeout 20 fxtrun --categories=$categories -o trace.fxt ./unseen_filter calls 2>said || traced=$?
		fxt check trace.fxt
		[ $traced = 7 ] && continue
		[ $traced -gt 128 ]
		grep "^fxtrun: unseen_filter\[[0-9]*\] was killed in seccomp's strict mode, which it entered by an instruction" said
		[ "$(grep -c 'from outside' said)" = 0 ]
	done
}

@test "a program that needs every key for thread-specific data has them all" {
	compiled keys keys.c
	same_as_bare "$PWD/keys"
	fxt check trace.fxt
	[ "$(calls_of trace.fxt run)" = 1 ]
}

@test "split stacks: handlers, jumps out of them, threads" {
	compiled split split.c -fsplit-stack -fuse-ld=gold 2>said || skip "no split stacks here: $(head -n 1 said)"
	same_as_bare "$PWD/split"
	fxt check trace.fxt
	[ "$(tail -n 1 traced.out)" = "200 jumps" ]
}

# goes_on PROCESSES PROGRAM ARGUMENT...: each of at least PROCESSES processes recorded the
# calls that the program counted. A call inside which a child was made began in its parent;
# if its hook had not ended, the child may have recorded it too.
goes_on()
{
	local processes=$1

	shift
	timeout 300 fxtrun --no-sched --on-full=block $options -o trace.fxt "$@" >made 2>said
	grep ' 0 lost, ' said
	fxt check trace.fxt
	decode times trace.fxt | awk -F'\t' '
		$3 == "function" { name = $4 ~ /^other/ ? "other" : $1 % 4194304; calls[name]++ }
		END { for (name in calls) print name, calls[name] }' >recorded
	awk -v least="$processes" 'NR == FNR { calls[$1] = $2; next }
		calls[$1] != $2 && calls[$1] != $2 - $3 { print "recorded " calls[$1] " of:", $0; wrong++ }
		$1 != "other" { processes++ }
		END { exit wrong || processes < least }' recorded made
}

@test "an excluded handler forks inside recorded calls: slices nest" {
	compiled excluded_fork excluded_fork.c
	fxtrun --exclude=handler -o trace.fxt ./excluded_fork
	fxt check trace.fxt
	[ "$(fxt dump trace.fxt | grep -c 'category="process" name="fork"')" -ge 60 ]
}

@test "handlers fork inside hooks, which go on in the child: each process has the calls it made" {
	compiled handler_forks handler_forks.c
	for how in fork _Fork clone; do
		for options in "" "--buffer-size=256K --heap=off"; do
			goes_on 41 ./handler_forks $how 40
		done
	done
}

@test "a handler makes a child at one instruction after the other: each process has the calls it made" {
	compiled stepped_forks stepped_forks.c
	./stepped_forks fork 1 1 1 || [ $? != 77 ] || skip "no process can be stopped here"
	options= goes_on 301 ./stepped_forks fork 60 5 150
	options=--heap=off goes_on 301 ./stepped_forks clone 60 3 150
	options=--min-duration=0us goes_on 101 ./stepped_forks _Fork 100 11 50
}

@test "a handler forks by an instruction: a child that ends there harms nothing, a child that goes on with the hook harms no program" {
	compiled stepped_forks stepped_forks.c
	./stepped_forks fork 1 1 1 || [ $? != 77 ] || skip "no process can be stopped here"
	options= goes_on 301 ./stepped_forks instruction 60 5 150
	options=--heap=off goes_on 301 ./stepped_forks instruction 60 3 150
	local status=0
	timeout 300 fxtrun --no-sched -o trace.fxt ./stepped_forks returns 60 5 150 >made 2>said || status=$?
	[ "$(wc -l <made)" = 301 ]
	[ $status = 0 ] || { [ $status = 125 ] && grep '^fxtrun: stepped_forks.* left records that were not taken: ' said; }
	[ $status = 0 ] || fails fxt check trace.fxt
}

@test "children of children that are made inside hooks have no more address space than the first few" {
	compiled generations generations.c
	timeout 120 fxtrun --heap=off --no-sched --buffer-size=16M -o trace.fxt ./generations 80 >grown
	fxt check trace.fxt
	# Four buffers, one of them the first process's, and more slots than that; fewer if
	# no child was made in a hook.
	[ "$(cat grown)" -ge $((3 * 16384)) ]
	[ "$(cat grown)" -lt $((8 * 16384)) ]
}

@test "errno, descriptors, signal masks, keys, timers and files are the program's own while stacks are walked" {
	for flag in -finstrument-functions -fno-instrument-functions; do
		compiled untouched untouched.c $flag
		for options in --heap=objects --heap=sampled:64 --heap=counters "--heap=objects --heap-stacks=unwind" "--heap=auto --heap-stacks=unwind"; do
			same_as_bare "$PWD/untouched"
			fxt check trace.fxt
		done
		# The files of the two runs are where each ran.
		[ "$(wc -c <traced/in)$(wc -c <traced/out)" = 100 ]
	done
	grep -x 'errno 0' traced.out
	grep -x 'files 3 and 4: read up to 0, has 0 bytes' traced.out
}
