#!/usr/bin/env bats
# Programs that tracers loaded into them break. Runs with and without fxt are the same:
# status, output, errors; and recorded + lost = the calls that the program counted itself.
# Names of tests say what happens; the other cases are those of threads.bats (locks, late
# destructors), processes.bats, modules.bats (plugins that alternate at one address),
# signals.bats (handlers inside hooks), jumps.bats (calls that are left, coroutines),
# crowd.bats (40,000 threads and functions), clock.bats and engine.bats (deaths, full
# buffers, dead managers).

load helpers

# counted ARGUMENT...: ./program as it is bare; of what it counts every call is in the
# trace.
counted()
{
	same_as_bare "$PWD/program" "$@"
	fxt check trace.fxt
	calls_by_name trace.fxt | grep -E $'^(leaf|nest)\t' | diff - <(grep -E $'^(leaf|nest)\t' traced.out)
}

# all_told COUNTED: the calls in the trace and those that fxtrun said were lost are as many.
all_told()
{
	local recorded=$(decode slices trace.fxt | awk -F'\t' '$3 == "function"' | wc -l)
	local lost=$(sed -En 's/^fxtrun: .*, ([0-9,]+) lost, (([0-9,]+) overwritten, )?.*/\1 \3/p' said | tr -d , |
		awk '{ print $1 + $2 }')

	echo "$recorded recorded, $lost lost, $1 counted"
	fxt check trace.fxt
	[ $((recorded + lost)) = "$1" ]
}

@test "a seccomp filter: no system call of ours, calls go on being recorded or are counted as lost" {
	compiled processes/sandbox.c
	for how in strict sync refused filter; do
		echo "# $how"
		./program $how >bare
		timeout 60 fxtrun --buffer-size=2M -o trace.fxt ./program $how >counted 2>said
		all_told "$(cat counted)"
	done
	# Any other clock may need the kernel, so the calls are lost from there on.
	after=0
	! has_counter || after=20000
	[ "$(calls_of trace.fxt call_after)" -ge $after ]
	timeout 60 fxtrun --buffer-size=64K -o trace.fxt ./program filter >counted 2>said
	all_told "$(cat counted)"
}

@test "a seccomp filter where the clock may need the kernel: later calls are counted as lost, unless the filter is refused" {
	compiled processes/sandbox.c
	for how in strict sync refused filter; do
		echo "# $how"
		without_counter timeout 60 fxtrun --buffer-size=2M -o trace.fxt ./program $how >counted 2>said
		all_told "$(cat counted)"
		after=$(calls_of trace.fxt call_after)
		# A timer's handler may call while the refused request is made.
		if [ $how = refused ]; then [ "$after" -ge 20000 ]; else [ "$after" = 0 ]; fi
	done
}

@test "strict seccomp, or no clock (PR_SET_TSC), of one thread: others are recorded, and its calls are counted as lost" {
	compiled processes/withheld.c
	for how in strict alone clock; do
		echo "# $how"
		timeout 60 fxtrun -o trace.fxt ./program $how >counted 2>said
		all_told "$(cat counted)"
		grep -q ', [12],000 lost' said
	done
	timeout 60 fxtrun -o trace.fxt ./program heirs >counted 2>said
	grep '(1 ran untraced)$' said
	fxt check trace.fxt
	[ "$(calls_of trace.fxt call_recorded)" = 2000 ]
	[ "$(calls_of trace.fxt call_withheld)" = 0 ]
}

@test "by LD_PRELOAD alone, no new file, no address space, a seccomp filter: calls are recorded, or a line says that they are not" {
	compiled processes/sandboxed.c
	for how in files memory filter strict; do
		rm -f trace.fxt
		status=0
		timeout 60 env LD_PRELOAD="$build/libfxtagent.so" FXT_OUTPUT="$PWD/trace.fxt" ./program $how 2>said || status=$?
		[ $status = 4 ]
		case $how in
		files) grep -x "fxt: cannot open $PWD/trace.fxt: Too many open files; the trace ends here" said ;;
		memory) [ "$(decode slices trace.fxt | awk -F'\t' '$3 == "function"' | wc -l)" = 101 ] ;;
		*) grep -x "fxt: the program confines itself (seccomp), so nothing more can be written; its trace ends here" said ;;
		esac
	done
}

@test "children and new images of a confined program are not traced" {
	compiled processes/sandbox.c
	same_as_bare "$PWD/program" children
	fxt check trace.fxt
	lost=0
	has_counter || lost=1
	grep " $lost lost, " traced.err
	[ "$(calls_of trace.fxt call_before)" = $((20001 - lost)) ]
	[ "$(calls_of trace.fxt call_after)" = 0 ]
}

@test "a seccomp filter without fxtrun: the trace ends there" {
	compiled processes/sandbox.c
	timeout 60 env LD_PRELOAD="$build/libfxtagent.so" FXT_OUTPUT="$PWD/trace.fxt" ./program sync
	fxt check trace.fxt
	[ "$(calls_of trace.fxt call_before)" = 20000 ]
}

@test "the helper thread takes no signal, has the program's credentials, and is away when a process must have one thread" {
	compiled faults/helper.c
	counted
	grep -q '^nest' traced.out
}

@test "forks of eight busy threads, by fork and raw clone; children that share the memory: vfork, CLONE_VM, spawn" {
	compiled faults/forks.c
	counted
	# One arrow for each fork() that the library knows of.
	[ "$(fxt dump trace.fxt | grep -c 'name="fork" {child=')" = 48 ]
	# None of the children that share the memory is taken for the process itself.
	[ "$(fxt dump trace.fxt | grep -c 'instant.*name="exit"')" = $((96 + 1)) ]
}

@test "the smallest signal stack, the smallest thread stacks, and a stack that is exhausted" {
	compiled faults/stacks.c
	counted
	[ "$(calls_of trace.fxt dive)" -gt 20000 ]
}

@test "errno is the program's own; threads are cancelled at any instruction" {
	compiled faults/errno.c
	timeout 60 fxtrun -o trace.fxt ./program >counted 2>said
	grep -x 'errno changed 0 times' said
	fxt check trace.fxt
	[ "$(calls_of trace.fxt nest)" = "$(sed -n 's/^nest\t//p' counted)" ]
	local more=$(($(calls_of trace.fxt leaf) - $(sed -n 's/^leaf\t//p' counted)))
	[ "$more" -ge 0 ]
	[ "$more" -le 40 ]
}

@test "calls before main: resolvers, .preinit_array, first constructors, last destructors" {
	compiled faults/early.c
	counted
	export LD_BIND_NOW=1
	counted
}

@test "a hundred plugins with thread-local storage; one found by RUNPATH; a preloaded library that passes calls on" {
	local plugin=$root/tests/programs/faults/plugin.c

	compiled faults/plugins.c -Wl,--enable-new-dtags,-rpath,"$PWD/plugins" -Wl,--export-dynamic
	mkdir plugins
	${CC:-cc} -O2 -g -finstrument-functions -fPIC -shared -o plugins/found.so "$plugin"
	${CC:-cc} -O2 -g -finstrument-functions -fPIC -shared -ftls-model=initial-exec -o static.so "$plugin"
	${CC:-cc} -O2 -g -D_GNU_SOURCE -DPASSES_ON -fPIC -shared -o passes.so "$plugin"
	for n in {1..100}; do
		cp plugins/found.so dynamic$n.so
		cp static.so static$n.so
	done
	export LD_PRELOAD=$PWD/passes.so
	# As many as there is room for fit into what the loader keeps free of static
	# storage.
	same_as_bare "$PWD/program" "$PWD"/dynamic*.so "$PWD"/static*.so
	unset LD_PRELOAD
	sound trace.fxt
	local loaded=$(cut -d ' ' -f 1 traced.out)
	[ "$loaded" -gt 100 ]
	[ "$(calls_of trace.fxt plugin_call)" = $((3 * (loaded + 1))) ]
}

@test "tail calls and inlined calls, at every level of optimisation, by gcc and clang" {
	for compiler in gcc clang; do
		for level in -O0 -O2 -O3 -Os; do
			echo "# $compiler $level"
			CC=$compiler compiled faults/tails.c -g0 $level
			same_as_bare "$PWD/program"
			fxt check trace.fxt
			[ "$(fxt dump trace.fxt | grep -c '{abandoned')" = 0 ]
			calls_by_name trace.fxt |
				awk -v OFS='\t' '{ n[$1 == "small" ? "leaf" : "nest"] += $2 } END { for (f in n) print f, n[f] }' |
				sort | diff traced.out -
		done
	done
}

@test "exits without entries, a thread that changes processors at every call, threads that run at the exit" {
	compiled faults/order.c
	counted
	decode check trace.fxt
}

@test "exec out of one of several threads" {
	compiled faults/images.c
	same_as_bare "$PWD/program"
	sound trace.fxt
	fxt dump trace.fxt | grep 'duration-complete.*name="become" {abandoned=true}'
	[ "$(calls_of trace.fxt nest)" = $((4 + 3 + 4)) ]
	[ "$(calls_of trace.fxt leaf)" = 3 ]
}

@test "a child becomes a program that cannot be traced: its open calls end there" {
	compiled faults/images.c
	echo 'int main(void) { return 9; }' >static.c
	${CC:-cc} -static -o static static.c
	fxtrun -o trace.fxt sh -c './program ./static; echo $?' >out
	[ "$(cat out)" = 9 ]
	sound trace.fxt
	fxt dump trace.fxt | grep 'duration-complete.*name="become" {abandoned=true}'
}

@test "a daemon that closes every descriptor and reuses their numbers; standard streams closed from the start" {
	compiled faults/daemon.c
	mkfifo result
	for run in bare traced; do
		[ $run = bare ] || local tracer="fxtrun --decouple -o trace.fxt"
		cat result >$run 3>&- &
		timeout 60 $tracer ./program "$PWD/result" <&- >&- 2>said
		wait $!
	done
	diff bare traced
	grep -x $'wrong\t0' traced
	fxt check trace.fxt
	calls_by_name trace.fxt | grep -E $'^(leaf|nest)\t' | diff - <(grep -v wrong traced)
}

@test "a PID namespace, with and without a /proc of its own: traced, under the numbers of outside" {
	compiled faults/order.c
	unshare -pf true 2>said || skip "no PID namespaces here: $(cat said)"
	for how in "unshare -pf" "unshare -pf --mount-proc"; do
		$how true || continue # /proc cannot be mounted anew in a chroot
		fxtrun -o trace.fxt $how ./program >traced.out
		fxt check trace.fxt
		calls_by_name trace.fxt | grep -E $'^(leaf|nest)\t' | diff - traced.out
		[ "$(decode threads trace.fxt | awk -F'\t' '$4 == "program" && $1 == $2 && $1 > 1' | wc -l)" = 1 ]
	done
}

# plain COMMAND...: with no descriptors but the standard ones.
plain()
{
	"$@" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
}

# limited OPTION SAID: prlimit OPTION; the program is as it is bare. With SAID it is
# untraced, which one line says.
limited()
{
	echo "# $*"
	# Into pipes: where no file may be written to, their output is none.
	plain prlimit "$1" ./program | cat >bare
	plain fxtrun -o trace.fxt prlimit "$1" ./program 2>said | cat >traced
	diff bare traced
	[ "$(grep -v '^fxtrun: ' said)" = "${2:+fxt: $2; running untraced}" ]
	fxt check trace.fxt
	[ "$(calls_of trace.fxt leaf)" = "$(sed -n 's/^leaf\t//p' traced)" ] || [ -n "$2" ]
}

@test "no memory, no descriptors: untraced, with one line; no files, no locked memory: traced" {
	compiled faults/order.c
	limited --as=100000000 "no memory for the trace"
	# The program keeps its own share of the room for the trace's 85 MB.
	fxtrun -o trace.fxt prlimit --as=100000000 grep VmSize /proc/self/status | awk '{ kb = $2 } END { print; exit !(kb > 0 && kb < 30000) }'
	limited --as=500000000
	limited --nofile=4 "no descriptors left for the memory of the trace"
	limited --nofile=5 "no descriptors left for the memory of the trace"
	limited --fsize=0
	limited --memlock=0
	limited --stack=100000
}

# confined KIB ARGUMENT...: ./program in so much address space, which is fxtrun's too; KIB
# may be "unlimited". All calls are in the trace.
confined()
{
	local kib=$1

	echo "# $*"
	shift
	(
		ulimit -v "$kib"
		fxtrun $options -o trace.fxt ./program "$@" >made 2>said
	)
	grep ' 1 process, 0 lost, ' said
	[ "$kib" = unlimited ] || grep -q '^fxtrun: address space is limited (ulimit -v), and the program has up to 2[0-9]* MiB less' said
	fxt check trace.fxt
	calls_by_name trace.fxt | diff made -
}

@test "little address space: all calls are in the trace, of many threads, of deep ones, of a program that limits itself" {
	compiled faults/confined.c -fno-optimize-sibling-calls
	for limit in 1000000 400000; do
		options=
		confined $limit 4 2000
		confined unlimited 4 2000 $limit
		options="--buffering-mode=circular --no-sched"
		confined $limit 4 2000
	done
	options=
	confined 1000000 300 10
	confined unlimited 300 10 1000000
	confined 1000000 20 1500
	# With sums of elided calls, of which there are none.
	options=--min-duration=0us
	confined 1000000 100 10
}

# had WHAT FILE: the number before WHAT that data_limit.c wrote.
had()
{
	sed -En "/^fxtrun: /d; s/^(.*, )?([0-9]+) $1.*/\\2/p" "$2"
}

# within_data COMMAND...: data_limit.c gets at most 2.5 MiB less than bare; every call is
# recorded or counted as lost. The beginning of a thread without room counts as lost too.
within_data()
{
	local recorded lost made further

	echo "# $*"
	"$@" >bare 2>bare.err
	timeout 60 fxtrun --no-sched -o trace.fxt "$@" >traced 2>said
	cat said
	[ $(($(had KiB bare.err) - $(had KiB said))) -le 2560 ]
	[ "$(had threads bare.err)" = "$(had threads said)" ]
	fxt check trace.fxt
	made=$(sed -n 's/^leaf\t//p' traced)
	recorded=$(calls_of trace.fxt leaf)
	lost=$(sed -En 's/^fxtrun: .*, ([0-9,]+) lost, .*/\1/p' said | tr -d ,)
	echo "$made made, $recorded recorded, $lost lost"
	[ "$recorded" -gt 1000 ]
	# Each thread has two more records, of its creation and of its beginning.
	further=$((2 * $(had threads said) - $(decode slices trace.fxt | awk -F'\t' '$3 == "process"' | wc -l)))
	[ $((recorded + lost)) -ge "$made" ] && [ $((recorded + lost)) -le $((made + further)) ]
}

@test "under a limit of data (ulimit -d) the program gets as much as without fxt, up to 2.5 MiB, and missing records are reported" {
	compiled faults/data_limit.c
	for kib in 8000 40000; do
		within_data prlimit --data=$((kib << 10)) ./program $kib 4
		within_data ./program $kib 600 own
	done
	# Too little for the program to be loaded with the library.
	status=0
	(ulimit -d 3000 && fxtrun -o no.fxt ./program 1000 1) >out 2>said || status=$?
	[ $status = 125 ] && [ ! -s out ] && [ ! -e no.fxt ]
	grep -q '^fxtrun: the limit of data is 3000 KiB (ulimit -d), ' said
}

@test "children of children: the address space of all generations is that of the first" {
	compiled faults/chain.c
	[ "$(./program 30 1000000)" = "30 children, 0 KiB more" ]
	for options in "" --heap=off --min-duration=0us; do
		fxtrun $options -o trace.fxt ./program 30 1000000 >counted 2>said
		[[ "$(cat counted)" = "30 children, "*" KiB more" ]]
		# For each, a page of its inherited open calls, and the memory of the
		# program's own libraries.
		[ "$(cut -d ' ' -f 3 counted)" -lt 2000 ]
		grep ' 31 processes, 0 lost, ' said
		[ "$(calls_of trace.fxt leaf)" = 31 ]
		fxt check trace.fxt
	done
	# Each its own file, by LD_PRELOAD alone.
	LD_PRELOAD=$build/libfxtagent.so FXT_OUTPUT=$PWD/alone.%p.fxt ./program 30 1000000
	[ "$(for trace in alone.*.fxt; do calls_of "$trace" leaf; done | sort | uniq -c | tr -s ' ')" = " 31 1" ]
}

@test "children of unrecorded children run as without fxt, and are counted if they should be recorded" {
	compiled faults/chain.c
	says_chain()
	{
		fxtrun "$@" >chained 2>said
		[[ "$(cat chained)" = "5 children, "* ]]
		fxt check trace.fxt
	}
	says_chain --follow=none -o trace.fxt ./program 5
	grep ' 1 process, ' said
	fails grep untraced said
	# The first child has no descriptor left for its memory, and those that come of it do not ask.
	says_chain -o trace.fxt ./program 5 0 6 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
	grep -x 'fxtrun: .* 1 process, .* (5 ran untraced)' said
}

@test "no further process and thread: everything is recorded, and with LD_PRELOAD alone the rest is reported as lost" {
	[ "$(id -u)" = 0 ] || skip "root alone can become a user who has no process yet"
	compiled launcher/counted.c
	# A directory that another user can enter.
	place=$(mktemp -d /tmp/fxt-nproc-XXXXXX)
	chmod 777 "$place"
	cp program "$build"/fxtrun "$build"/libfxtagent.so "$place"
	(
		cd "$place"
		limited_user()
		{
			setpriv --reuid=65533 --regid=65533 --clear-groups "$@"
		}
		XDG_RUNTIME_DIR=$place limited_user ./fxtrun --buffer-size=256K -o trace.fxt prlimit --nproc=1 ./program 1000000 2>said
		FXT_OUTPUT=$place/alone.fxt LD_PRELOAD=$place/libfxtagent.so limited_user prlimit --nproc=1 ./program 4000000 2>told
	)
	mv "$place"/* .
	rmdir "$place"
	grep ' 0 lost, ' said
	fxt check trace.fxt
	[ "$(calls_of trace.fxt leaf)" = 1000000 ]
	grep -x 'fxt: no thread can be made to write the trace: .*' told
	# The call of main counts too.
	kept=$(fxt info alone.fxt | sed -n 's/^\([0-9]*\) calls, .*/\1/p')
	lost=$(fxt info alone.fxt | sed -n 's/^lost: \([0-9]*\) records, .*/\1/p')
	[ "$lost" -gt 0 ]
	[ $((kept + lost)) = 4000001 ]
}

@test "a program sees one more thread of itself, handlers that only the kernel reports, and nothing else" {
	compiled faults/seen.c
	for where in "" "prlimit --nofile=4" "prlimit --nofile=5" "prlimit --nofile=100" "env -i" "nohup"; do
		echo "# $where"
		local status=0
		plain $where ./program one two >bare 2>err </dev/null || status=$?
		[ $status = 3 ]
		status=0
		plain fxtrun -o trace.fxt $where ./program one two >traced 2>said </dev/null || status=$?
		[ $status = 3 ]
		# The shell's own variable, and fxtrun's.
		sed -i '/^variable \(_\|ASAN_OPTIONS\)=/d' bare traced
		grep untraced said || sed -i 's/^Threads:\t1$/Threads:\t2/; s/^SigCgt:\t0*$/SigCgt:\t00000000000004f8/' bare
		diff bare traced
	done
}

@test "300 threads, all with the same number: each has a row, a name and calls of its own" {
	compiled faults/reuse.c
	unshare -pf --mount-proc ./program >bare || skip "no PID namespaces here whose numbers can be set"
	fxtrun -o trace.fxt unshare -pf --mount-proc ./program >traced
	[ "$(cut -d ' ' -f 1 traced)" -lt 30 ]
	sound trace.fxt
	decode calls trace.fxt | awk -F'\t' '$3 == "leaf" { print $2, $4 }' | sort -n | diff - <(seq 300 | sed 's/.*/& &/')
	[ "$(decode threads trace.fxt | grep -c $'\t[0-9]*$')" -ge 300 ]
}

@test "a stack that is used up again and again: the program lives on, every call is recorded or counted as lost" {
	compiled faults/used_up.c -Wno-infinite-recursion -fno-optimize-sibling-calls
	ulimit -s 256
	for mode in "--buffering-mode=oneshot --buffer-size=4M" "--buffering-mode=circular --buffer-size=256K" --buffer-size=256K; do
		timeout 60 fxtrun $mode -o trace.fxt ./program >counted 2>said
		all_told "$(cat counted)"
	done
}

@test "first calls near the end of a stack: only those that do not fit, and the calls inside them, are lost" {
	compiled faults/back_up.c
	timeout 60 fxtrun -o trace.fxt ./program >counted 2>said
	all_told "$(cat counted)"
	grep -v ' 0 lost' said
	[ "$(fxt dump trace.fxt | grep -c '{abandoned')" = 0 ]
}

@test "events of some categories only: no calls, but all of these" {
	compiled faults/forks.c
	options="--categories=process"
	same_as_bare "$PWD/program"
	fxt check trace.fxt
	[ "$(decode calls trace.fxt | wc -l)" = 0 ]
	[ "$(fxt dump trace.fxt | grep -c 'instant.*name="child exited"')" = $((96 + 36)) ]
	[ "$(fxt dump trace.fxt | grep -c 'category="sync"')" = 0 ]
	compiled threads/waits.c
	options="--categories=sync"
	same_as_bare "$PWD/program"
	fxt check trace.fxt
	[ "$(fxt dump trace.fxt | grep -c 'category="sync".*{object=')" -ge 20 ]
	[ "$(fxt dump trace.fxt | grep -c 'category="process"')" = 0 ]
}

@test "threads and processes that use the thread-local storage of their creator: only their calls are lost, and that is reported" {
	compiled faults/borrowers.c
	for kind in processes threads; do
		timeout 60 fxtrun -o trace.fxt ./program $kind >counted 2>said
		all_told "$(cat counted)"
		[ "$(calls_of trace.fxt leaf)" = 20000 ]
		[ "$(calls_of trace.fxt nest)" = 22000 ]
		[ "$(fxt dump trace.fxt | grep -c '{abandoned')" = 0 ]
	done
}
