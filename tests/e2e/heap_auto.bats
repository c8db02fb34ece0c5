#!/usr/bin/env bats
# --heap=auto, which is the default: the heap of processes that have instrumented code, from
# when they have it, and of no others.

load helpers
load heap

# whole TRACE OUTPUT: the heap of trace is what the program script says in its output that
# it did, counters included.
whole()
{
	heapdecode books,peak,counters "$1" allocate small operate >decoded
	diff <(cat "$2"; summary "$1") <(grep -v counters decoded)
	grep -E '^[1-9][0-9]* counters, 0 wrong$' decoded
}

@test "an instrumented program's heap is recorded from its start to its end: the program's own books, exactly" {
	build script -finstrument-functions
	traced ./script 100000
	whole trace.fxt traced.out
	# The paths are those of the shadow stack, and where no call is open there is none.
	[ "$(heapdecode blocks trace.fxt | awk -F'\t' '$2 < 1000000 && $4 !~ /(^|;)(main|work)(;|$)/ && $4 != "(call path unknown)"')" = "" ]
}

@test "a program that calls its hooks from a library alone is instrumented too, however the library is bound" {
	echo 'void *malloc(unsigned long); void *make(void) { return malloc(70001); }' >made.c
	echo 'void *make(void); int main(void) { return !make(); }' >maker.c
	for how in -Wl,-z,lazy -Wl,-z,now -fno-plt -Wl,--hash-style=sysv; do
		gcc -O0 -finstrument-functions -shared -fPIC $how -o libmade.so made.c
		gcc -O0 -o maker maker.c -L. -lmade -Wl,-rpath,"$PWD"
		traced ./maker
		heapdecode blocks trace.fxt | cut -f 2,4 | grep -P '^70001\tmake$'
		# From before the first call as well.
		[ "$(fxt heap --json trace.fxt | jq '.processes[0].unknown_frees')" = 0 ]
	done
}

@test "a process without instrumented code has no heap, among others that have; --heap=objects records it too" {
	build script -finstrument-functions
	traced sh -c './script 5000; ls / | sort >/dev/null; true'
	[ "$(fxt heap --json trace.fxt | jq -c '[.processes[].name]')" = '["script"]' ]
	heapdecode books trace.fxt allocate small operate | diff traced.out -
	# The others have no counters of live bytes either.
	[ "$(heapdecode live trace.fxt | wc -l)" = 1 ]
	traced --heap=objects -- sh -c './script 5000; ls / | sort >/dev/null; true'
	fxt heap --json trace.fxt | jq -e '[.processes[].name] | contains(["script", "sh", "sort"])'
}

# late_host: ./host, which is not instrumented, and ./plugin.so, which is. The host prints
# how many blocks it, the plugin, and a child of the host's frees that are from before the
# plugin's first call.
late_host()
{
	cat >plugin.c <<-'END'
		#include <stdlib.h>
		static void *volatile kept[10];
		static void *take(size_t bytes) { return malloc(bytes); }
		void work(void *before)
		{
			for (int i = 0; i < 10; i++) kept[i] = take(10000 + i);
			for (int i = 0; i < 4; i++) free(kept[i]);
			free(before);
		}
	END
	cat >host.c <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(int count, char **arguments)
		{
			static void *before[100];
			(void)arguments;
			for (int i = 0; i < 100; i++) before[i] = malloc(5000);
			if (count > 1) return 0;
			void *library = dlopen("./plugin.so", RTLD_NOW);
			void (*work)(void *) = (void (*)(void *))dlsym(library, "work");
			work(before[0]);
			for (int i = 1; i < 50; i++) free(before[i]);
			before[0] = malloc(77777);
			if (fork() == 0) {
				for (int i = 50; i < 100; i++) free(before[i]);
				before[1] = malloc(33333);
				_exit(0);
			}
			wait(NULL);
			dlclose(library);
			before[2] = malloc(22222);
			return 0;
		}
	END
	gcc -O0 -g -finstrument-functions -fno-builtin -shared -fPIC -o plugin.so plugin.c
	gcc -O0 -g -fno-builtin -o host host.c -ldl
}

@test "a plugin that is loaded late: from its first call on; blocks from before are unknown, and no leaks" {
	late_host
	traced --heap=auto -- ./host
	heapdecode blocks trace.fxt | cut -f 2,4 | grep -vP '^[0-9]{1,4}\t' | sort | uniq -c | tr -s ' \t' ' ' >blocks
	diff blocks - <<-'END'
		 1 10000 work;take
		 1 10001 work;take
		 1 10002 work;take
		 1 10003 work;take
		 1 10004 work;take
		 1 10005 work;take
		 1 10006 work;take
		 1 10007 work;take
		 1 10008 work;take
		 1 10009 work;take
		 1 22222 (call path unknown)
		 1 33333 (call path unknown)
		 1 77777 (call path unknown)
	END
	# The process has 50 frees of its own of what was there before, and its child 50;
	# dlclose() may have some.
	fxt heap --json trace.fxt | jq -e '.processes | length == 2 and all(.unknown_frees >= 50)'
	fxt heap --json trace.fxt | jq -e '[.processes[].leaked.bytes] | add < 10004 * 6 + 77777 + 33333 + 22222 + 6 * 9 + 4000'
	# The live bytes of both are unknown: no counter gives them.
	fails grep -q 'live bytes' <(fxt dump trace.fxt)
	# The same program has no heap before that call.
	traced --heap=auto -- ./host without
	[ "$(fxt heap trace.fxt | tail -n 1)" = 'No heap was recorded: fxtrun --heap=objects records it.' ]
}

@test "a plugin in a Python that is not instrumented" {
	late_host
	python=$(PATH=/usr/bin:/bin command -v python3) || skip "the system has no Python"
	traced --heap=auto -- "$python" -S -c 'import ctypes; ctypes.CDLL("./plugin.so").work(None)'
	[ "$(heapdecode blocks trace.fxt | cut -f 4 | grep -c '^work;take$')" = 10 ]
	fxt heap --json trace.fxt | jq -e '.processes | length == 1 and .[0].unknown_frees > 100'
}

@test "--heap=auto records no heap if a buffer keeps a part or short calls are elided" {
	build script -finstrument-functions
	for options in --buffering-mode=circular --buffering-mode=oneshot --on-full=drop --min-duration=0us --max-calls=10; do
		traced --heap=auto $options -- ./script 1000
		[ "$(fxt heap trace.fxt | tail -n 1)" = 'No heap was recorded: fxtrun --heap=objects records it.' ]
		traced --heap=objects $options -- ./script 1000
		[ "$(heapdecode blocks trace.fxt | wc -l)" -gt 500 ]
	done
	for options in --exclude=operate --categories=heap,function; do
		traced --heap=auto $options -- ./script 1000
		[ "$(heapdecode blocks trace.fxt | wc -l)" -gt 500 ]
	done
	traced --heap=auto --categories=function -- ./script 1000
	[ "$(heapdecode blocks trace.fxt | wc -l)" = 0 ]
}

@test "an obstacle to recording the heap is reported if the heap was asked for, and not by --heap=auto" {
	printf '%s\n' '#include <stdlib.h>' 'static char m[1 << 20]; static size_t n;' \
		'void *malloc(size_t s) { void *p = m + n; n += (s + 15) / 16 * 16; return p; }' \
		'void free(void *p) { (void)p; }' 'int main(void) { free(malloc(10)); return 0; }' >own.c
	${CC:-cc} -O1 -finstrument-functions -fno-builtin -o own own.c
	traced --heap=auto -- ./own
	[ "$(wc -l <traced.err)" = 1 ]
	[ "$(heapdecode blocks trace.fxt | wc -l)" = 0 ]
	traced --heap=objects -- ./own
	grep -q "heap is not recorded: an allocator is linked into the executable" traced.err
}

@test "without fxtrun: the same" {
	build script -finstrument-functions
	FXT_OUTPUT=alone.fxt LD_PRELOAD=$build/libfxtagent.so ./script 20000 >alone.out
	fxt check alone.fxt
	whole alone.fxt alone.out
	late_host
	FXT_HEAP=auto FXT_OUTPUT=alone.fxt LD_PRELOAD=$build/libfxtagent.so ./host
	[ "$(heapdecode blocks alone.fxt | cut -f 4 | grep -c '^work;take$')" = 10 ]
}

@test "a program that allocates nothing has the trace that it has with --heap=off" {
	printf '%s\n' 'static void leaf(void) { __asm__ volatile(""); }' 'int main(void) { for (int i = 0; i < 1000; i++) leaf(); return 0; }' >none.c
	${CC:-cc} -O0 -finstrument-functions -o none none.c
	for heap in auto off; do
		traced --heap=$heap --no-sched -- ./none
		fxt dump trace.fxt | sed -E 's/^0x[0-9a-f]* //; s/time=[0-9]+|end=[0-9]+|0x[0-9a-f]+|[0-9]{3,}//g' | grep -v "log\|blob" | sort >$heap
	done
	diff off auto
}

# A file that is compressed while the program runs is not rewritten at the end.
@test "a compressed trace has the heap, and its profile for the viewer only if the heap was asked for" {
	build script -finstrument-functions
	for heap in auto objects; do
		timeout 100 fxtrun --heap=$heap -o trace.fxt.zst ./script 20000 >traced.out 2>traced.err
		zstd -qdf trace.fxt.zst
		fxt check trace.fxt
		heapdecode books trace.fxt allocate small operate | diff traced.out -
		[ "$heap $(heapdecode profiles trace.fxt | wc -l | sed 's/[1-9][0-9]*/some/')" = "$heap $([ $heap = auto ] && echo 0 || echo some)" ]
	done
}

# Each page of the file that is read again is a page fault of fxtrun.
@test "at the end the parts of the trace are read again that are not calls alone" {
	cat >calls.c <<-'END'
		#include <stdlib.h>
		static void *volatile kept;
		static void leaf(void) { __asm__ volatile(""); }
		int main(void)
		{
			kept = malloc(100001);
			for (int i = 0; i < 4000000; i++) leaf();
			free(kept);
			kept = malloc(100002);
			return 0;
		}
	END
	${CC:-cc} -O1 -fno-builtin -finstrument-functions -o calls calls.c
	# The buffer is small: it is chance whether the manager or the program touches its pages
	# first. Other work of the machine adds page faults, so the least of three runs counts.
	faults()
	{
		for run in 1 2 3; do
			python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt)' fxtrun --no-sched --buffer-size=1M --heap="$1" -o "$1.fxt" ./calls
		done | sort -n | head -1
	}
	without=$(faults off)
	[ "$without" -gt 0 ]
	with=$(faults auto)
	[ "$with" -gt 0 ]
	[ $((with - without)) -lt 500 ]
	heapdecode profiles auto.fxt | cut -f 2,4- | diff - <(printf '%s\tmain\t%s\t1\n' peak 100002 'left at the end' 100002)
}
