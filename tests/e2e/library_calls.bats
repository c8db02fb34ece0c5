#!/usr/bin/env bats
# Library calls (fxtrun --library-calls): calls through the slots that the loader fills, of programs that were not
# compiled for it. The truth is what the called library counts, and the program's output without us.

load helpers
load steps

sources=$BATS_TEST_DIRNAME/../programs/library_calls

setup_file()
{
	mkdir "$BATS_FILE_TMPDIR/sockets"
	cd "$BATS_FILE_TMPDIR" || return 1
	cc -O1 -g -D_GNU_SOURCE -fPIC -shared -o libcounted.so "$BATS_TEST_DIRNAME/../programs/library_calls/counted.c"
}

needs_x86_64()
{
	[ "$(uname -m)" = x86_64 ] || skip "not on this machine"
}

# Its calls stay calls. (clang does not know setjmp() by -fno-builtin.)
calls=(-fno-builtin-strlen -fno-builtin-strcpy -fno-builtin-snprintf)

# calling SOURCE OPTION...: tests/programs/SOURCE with the counted library, as ./program
calling()
{
	local compiler=${by:-gcc} source=$root/tests/programs/$1

	shift
	case $compiler$source in
	gcc*.cc) compiler=g++ ;;
	clang*.cc) compiler=clang++ ;;
	esac
	"$compiler" -g -w -D_GNU_SOURCE "${calls[@]}" -pthread -I"$sources" "$@" -o program "$source" \
		-L"$BATS_FILE_TMPDIR" -lcounted -Wl,-rpath,"$BATS_FILE_TMPDIR"
}

# The ways in which linkers and compilers let a program call a library.
bindings=("-O1 -Wl,-z,lazy" "-O2 -fcf-protection=full -Wl,-z,now" "-O1 -fno-plt"
	"-O1 -no-pie -Wl,-z,lazy,--hash-style=sysv")

# counts TRACE: "NAME CALLS" a line, by the independent decoder
counts()
{
	calls_by_name "$1" | tr '\t' ' '
}

# sums FILE: the same of what processes have printed
sums()
{
	awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' "$1" | sort
}

@test "however a program is bound to a library, each call is recorded once: threads, forks, exec, exceptions, jumps" {
	needs_x86_64
	for by in gcc clang; do
		for binding in "${bindings[@]}"; do
			# shellcheck disable=SC2086
			calling library_calls/caller.cc $binding
			status=0
			./program ./program >bare 3>bare.counts || status=$?
			[ $status = 5 ]
			status=0
			fxtrun --heap=off --library-calls -o x.fxt ./program ./program >traced 3>traced.counts 2>errors || status=$?
			[ $status = 5 ]
			diff bare traced
			[ "$(grep -c "" errors)" = 1 ]
			grep " 0 lost," errors
			diff <(sums bare.counts) <(sums traced.counts)
			[ "$(sums traced.counts | wc -l)" = 13 ]
			# libstdc++ calls strlen() twice itself, and that is a library call too
			sums traced.counts | sed 's/^strlen 720/strlen 722/' >truth
			diff truth <(counts x.fxt | grep -Fxf truth)
		done
	done
}

@test "functions that fxt interposes are calls of themselves, once each, with their waits inside" {
	needs_x86_64
	cat >program.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <unistd.h>
		static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
		int main(void)
		{
			for (int i = 0; i < 50; i++) { pthread_mutex_lock(&mutex); free(malloc((size_t)i)); pthread_mutex_unlock(&mutex); }
			for (int i = 0; i < 7; i++) usleep(1000);
			return write(1, "written\n", 8) != 8;
		}
	END
	for binding in -Wl,-z,lazy -Wl,-z,now -fno-plt; do
		gcc -O1 -fno-builtin -pthread $binding -o program program.c
		strace -f -c -e trace=write,clock_nanosleep -o calls ./program
		[ "$(awk '$NF == "write" { print $4 }' calls)" = 1 ]
		[ "$(fxtrun --heap=objects --library-calls -o x.fxt ./program)" = written ]
		printf '%s\n' "free 50" "malloc 50" "pthread_mutex_lock 50" "pthread_mutex_unlock 50" "usleep 7" "write 1" >truth
		diff truth <(counts x.fxt)
		decode slices x.fxt >slices
		[ "$(awk -F'\t' '$3 == "sync" && /usleep/' slices | wc -l)" = 7 ]
		fxt slow usleep x.fxt | grep '^usleep: 7 calls'
		fxt heap x.fxt | grep " main"
		fxt check x.fxt
	done
}

@test "every way to leave calls comes out as it does bare: exceptions, jumps, ends of threads, contexts, handlers" {
	needs_x86_64
	for by in gcc clang; do
		for options in "${bindings[@]}" "-O2 -static-libgcc -static-libstdc++" "-O2 -fpatchable-function-entry=5" \
			"-O0 -finstrument-functions"; do
			# shellcheck disable=SC2086
			calling prepared/leaving.cc $options
			./program >bare
			fxtrun --heap=off --library-calls -o x.fxt ./program >traced
			diff bare traced
			fxt check x.fxt
		done
	done
}

@test "arguments, results and kept values survive in all registers of a called library" {
	needs_x86_64
	for by in gcc clang; do
		calling prepared/registers.c -O2
		./program >bare
		fxtrun --heap=off --library-calls -o x.fxt ./program >traced
		diff bare traced
	done
}

@test "slots lead to us only while the calls of their function are recorded" {
	needs_x86_64
	for binding in -Wl,-z,lazy -Wl,-z,now; do
		calling library_calls/told.c -O1 -pie $binding -ldl
		timeout 300 python3 -c 'import sys, patched; patched.follow_filters(*sys.argv[1:])' \
			"$PWD/program" leaf widens elsewhere itself --library-calls 3>/dev/null
	done
}

@test "four threads call while a function is taken out and put back: the others are exact" {
	needs_x86_64
	calling library_calls/told.c -O1 -pie -Wl,-z,now -ldl
	timeout 200 python3 - "$PWD/program" 3>counts <<-'END'
		from control import *
		import sys
		session = Session(["--heap=off", "--library-calls=module:libcounted*", "-o", "x.fxt"], sys.argv[1], "4")
		for i in range(24):
		    assert session.client.call("SetFilter", exclude=["leaf"] if i % 2 else []) in ({}, {"late": 1})
		status, errors = session.end()
		assert status == 0 and " 0 lost," in errors, errors
	END
	diff <(sums counts | grep "makes_pair\|widens") <(counts x.fxt | grep "makes_pair\|widens")
	[ "$(sums counts | sed -n 's/^leaf //p')" -gt "$(counts x.fxt | sed -n 's/^leaf //p')" ]
}

@test "libraries that are loaded and unloaded many times: their calls are recorded, lazily bound or not" {
	needs_x86_64
	cat >plugin.c <<-'END'
		#include <stdlib.h>
		#include <string.h>
		#include "counted.h"
		int needed(int x);
		int plugged(int x) { char *p = strcpy(malloc(9), "four"); x += (int)strlen(p) + (int)leaf(x) + needed(1); free(p); return x; }
	END
	echo 'int needed(int x) { return x + 1; }' >needed.c
	cat >program.c <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 200; i++) {
				void *library = dlopen("./plugin.so", RTLD_LAZY);
				sum += ((int (*)(int))dlsym(library, "plugged"))(i);
				if (dlclose(library)) return 1;
			}
			return printf("%d\n", sum) < 0;
		}
	END
	gcc -fPIC -shared -o libneeded.so needed.c
	gcc -o program program.c -ldl
	for binding in -Wl,-z,lazy -Wl,-z,now -fno-plt -Wl,-z,lazy,--hash-style=sysv; do
		gcc -O1 -w -fno-builtin -fPIC -shared $binding -I"$sources" -o plugin.so plugin.c -L. -lneeded \
			-L"$BATS_FILE_TMPDIR" -lcounted -Wl,-rpath,.:"$BATS_FILE_TMPDIR"
		./program >bare 3>/dev/null
		fxtrun --heap=off --library-calls -o x.fxt ./program >traced 2>errors 3>/dev/null
		diff bare traced
		printf '%s\n' "leaf 200" "malloc 200" "needed 200" "strcpy 200" "strlen 200" >truth
		diff truth <(counts x.fxt | grep "^leaf\|^malloc\|^needed\|^strcpy\|^strlen" | sed 's/^strlen 2[0-9]*/strlen 200/')
		[ "$(grep -c "" errors)" = 1 ]
	done
}

@test "patterns choose functions by name and by library, and filters hold for library calls" {
	needs_x86_64
	calling library_calls/caller.cc -O1
	chosen()
	{
		fxtrun --heap=off "$@" -o x.fxt ./program >/dev/null 2>errors 3>/dev/null || [ $? = 5 ]
		counts x.fxt | tr '\n' ','
	}
	[ "$(chosen --library-calls='lea?')" = "leaf 360," ]
	[ "$(chosen --library-calls='[lw]?*a[f-h]' --library-calls=widens)" = "leaf 360,widens 360," ]
	[ "$(chosen --library-calls=strtold --library-calls=module:libcounted.so --exclude='c*,' --exclude='/^(count|makes_|leaf)/')" \
		= "adds 360,calls_back 362,chosen 360,strtold 360,widens 360," ]
	[ "$(chosen --library-calls --include=chosen)" = "chosen 360," ]
	fails grep 'matches no' errors
	[ "$(chosen --library-calls=no_such_function --library-calls=lea? --library-calls=leaf --library-calls=module:libnone*)" = "leaf 360," ]
	diff <(grep 'matches no' errors) - <<-'END'
		fxtrun: --library-calls=no_such_function matches no function that the programs import
		fxtrun: --library-calls=module:libnone* matches no function that the programs import
	END
	fails 2 "--library-calls=/x/: " fxtrun --library-calls=/x/ true
	fails 2 "--library-calls=file:x: " fxtrun --library-calls=file:x true
}

@test "a function whose address is compared keeps it, also where it is called through the same slot" {
	needs_x86_64
	cat >program.c <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include "counted.h"
		static void (*volatile frees)(void *) = free;
		static __attribute__((noinline)) int is_leaf(long (*function)(long)) { return function == leaf; }
		int main(void)
		{
			long (*found)(long) = (long (*)(long))dlsym(RTLD_DEFAULT, "leaf");
			printf("%d %d %d %ld\n", is_leaf(found), is_leaf(leaf), frees == free, leaf(1) + found(1));
			return 0;
		}
	END
	for by in gcc clang; do
		for binding in -Wl,-z,lazy -Wl,-z,now -fno-plt "-no-pie -Wl,-z,lazy" "-fPIC -Wl,-z,now"; do
			# shellcheck disable=SC2086
			"$by" -O1 -w -D_GNU_SOURCE -I"$sources" $binding -o program program.c -L"$BATS_FILE_TMPDIR" -lcounted \
				-Wl,-rpath,"$BATS_FILE_TMPDIR" -ldl
			[ "$(./program 3>/dev/null)" = "1 1 1 4" ]
			[ "$(fxtrun --heap=off --library-calls -o x.fxt ./program 3>/dev/null)" = "1 1 1 4" ]
		done
	done
}

@test "a function has the name that programs call it by, also one that the kernel's vdso has" {
	needs_x86_64
	grep -q vdso /proc/self/maps || skip "no vdso here"
	cat >program.c <<-'END'
		#include <signal.h>
		#include <stdlib.h>
		#include <sys/time.h>
		#include <time.h>
		static void handle(int number) { (void)number; }
		int main(void)
		{
			struct timeval now;
			for (int i = 0; i < 3; i++) signal(SIGUSR1, handle);
			for (int i = 0; i < 4; i++) time(NULL);
			for (int i = 0; i < 5; i++) gettimeofday(&now, NULL);
			for (int i = 0; i < 6; i++) strtol("1", NULL, 10);
			return 0;
		}
	END
	printf '%s\n' "gettimeofday 5" "signal 3" "strtol 6" "time 4" >expected
	for binding in lazy now; do
		cc -O1 -fno-builtin -Wl,-z,$binding -o program program.c
		fxtrun --heap=off --library-calls -o x.fxt ./program
		counts x.fxt | grep -v ^_ | diff expected -
		fxtrun --raw --heap=off --library-calls -o x.fxt ./program
		fxt symbolize x.fxt -o named.fxt
		counts named.fxt | grep -v ^_ | diff expected -
	done
}

@test "functions with hooks or room at their entry are recorded once" {
	needs_x86_64
	cat >library.c <<-'END'
		__attribute__((noinline)) int inner(int x) { __asm__ volatile(""); return x + 1; }
		int outer(int x) { int r = inner(x); __asm__ volatile(""); return r + 1; }
		__attribute__((no_instrument_function, patchable_function_entry(0))) int plain(int x) { return x; }
	END
	cat >program.c <<-'END'
		int outer(int x), plain(int x);
		int main(void) { int s = 0; for (int i = 0; i < 100; i++) s += outer(i) + plain(i); return s != 10100; }
	END
	for by in gcc clang; do
		for option in -finstrument-functions -fpatchable-function-entry=5; do
			"$by" -O2 -g -fPIC -shared $option -Wl,-Bsymbolic -o liblibrary.so library.c
			"$by" -O2 -g -o program program.c -L. -llibrary -Wl,-rpath,.
			fxtrun --heap=off --library-calls -o x.fxt ./program
			[ "$(counts x.fxt | tr '\n' ,)" = "inner 100,outer 100,plain 100," ]
		done
	done
	# where nothing else records them, these calls are
	"$by" -O2 -g -fPIC -shared -fpatchable-function-entry=5 -Wl,-Bsymbolic -o liblibrary.so library.c
	fxtrun --heap=off --no-patch --library-calls -o x.fxt ./program
	[ "$(counts x.fxt | tr '\n' ,)" = "outer 100,plain 100," ]
}

@test "functions that look at their caller are left alone, also behind a function that jumps to them" {
	needs_x86_64
	cat >library.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <setjmp.h>
		int getpid(void) { return -1; }
		void *next(const char *name) { __asm__ volatile(""); return dlsym(RTLD_NEXT, name); }
		int real_getpid(void) { int r = ((int (*)(void))next("getpid"))(); __asm__ volatile(""); return r; }
	END
	cat >program.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <setjmp.h>
		#include <stdio.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int real_getpid(void);
		static jmp_buf target;
		int main(void)
		{
			volatile int jumps = 0, status = 0;
			if (real_getpid() == -1 || getpid() != -1 || !dlsym(RTLD_NEXT, "real_getpid")) return 1;
			int how = setjmp(target);
			if (jumps++ < 3) longjmp(target, jumps);
			if (vfork() == 0) { execl("/bin/true", "true", NULL); _exit(3); }
			wait((int *)&status);
			return printf("%d %d\n", how, status) < 0;
		}
	END
	for options in "" -fno-plt -fcf-protection=full; do
		# shellcheck disable=SC2086
		gcc -O2 -w -fPIC $options -shared -o liblibrary.so library.c
		# shellcheck disable=SC2086
		gcc -O2 -w $options -o program program.c -L. -llibrary -Wl,-rpath,. -ldl
		[ "$(./program)" = "3 0" ]
		[ "$(fxtrun --heap=off --library-calls -o x.fxt ./program)" = "3 0" ]
		counts x.fxt | grep "^real_getpid 1$"
	done
}

@test "allocations have the path of their callers, not of the allocator's own call" {
	needs_x86_64
	cat >program.c <<-'END'
		#include <stdlib.h>
		__attribute__((noinline)) void *gets_it(int n) { void *p = malloc((size_t)n); __asm__ volatile(""); return p; }
		__attribute__((noinline)) void works(void) { free(gets_it(100)); __asm__ volatile(""); }
		int main(void) { works(); return 0; }
	END
	for option in "" -finstrument-functions -fpatchable-function-entry=5; do
		# shellcheck disable=SC2086
		gcc -O2 -g -fno-builtin $option -o program program.c
		fxtrun --heap=objects --library-calls -o x.fxt ./program
		fxt heap x.fxt | tr -s ' \n' ' ' >heap
		grep " gets_it works main" heap
		! grep " malloc gets_it" heap
	done
}

@test "programs of the system do as they do bare: git, perl, bash, python, sqlite, gdb" {
	needs_x86_64
	options=--library-calls
	equal()
	{
		command -v "$1" >/dev/null || return 0
		same_as_bare "$@"
		fxt check trace.fxt
		[ "$(decode calls trace.fxt | awk -F'\t' '{ n += $4 } END { print n }')" -gt 1000 ]
	}
	equal git --no-pager diff --no-index --stat /etc/hosts "$root/README.md"
	equal perl -e 'my %h; $h{$_ % 97} .= chr(65 + $_ % 26) for 1..9000; print map { length } sort values %h; eval { die "x\n" };
		print $@; system("echo hi"); exit 3'
	equal bash -c 'for i in {1..30}; do a=$(echo $i); done; echo $a; ls / | sort | head -3; exit 3'
	equal python3 -c 'import json, hashlib, threading, zlib, subprocess
print(len(json.dumps(list(range(999)))), hashlib.sha256(b"x").hexdigest())
threads = [threading.Thread(target=zlib.compress, args=(b"a" * 9999,)) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(subprocess.check_output(["echo", "hi"]))'
	equal sqlite3 :memory: 'create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 999)
		insert into t select x, hex(x * x) from c; select count(*), sum(length(b)), max(b) from t;'
	equal gdb -batch -ex 'print 1 + 1' -ex 'info functions ^main$' "$(command -v fxtrun)"
}

@test "a program without instrumentation: the hint says how its library calls are recorded" {
	fxtrun -o x.fxt true 2>errors
	grep -e "--library-calls its calls of library functions" errors
	fxtrun --library-calls=strlen -o x.fxt true 2>errors
	! grep -e "--library-calls its calls of library functions" errors
}

@test "a name that no function has: the program's own near ones are offered before those of the system" {
	needs_x86_64
	printf '%s\n' '#include <unistd.h>' '__attribute__((noinline)) void usleeper(void) { usleep(1); }' \
		'int main(void) { usleeper(); return 0; }' >program.c
	gcc -O1 -finstrument-functions -o program program.c
	fxtrun --library-calls -o x.fxt ./program
	fxt slow usleep x.fxt | grep '^usleep: one call'
	says 2 "fxt: x.fxt: no function is named 'usleap'; did you mean 'usleeper'?" fxt slow usleap x.fxt
	# Where none of its own is near, the system's is.
	printf '%s\n' '#include <unistd.h>' 'int main(void) { usleep(1); return 0; }' >plain.c
	gcc -O1 -finstrument-functions -o plain plain.c
	fxtrun --library-calls -o y.fxt ./plain
	says 2 "fxt: y.fxt: no function is named 'usleap'; did you mean 'usleep'?" fxt slow usleap y.fxt
}
