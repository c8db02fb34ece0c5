/*
 * withheld HOW: a thread that cannot be recorded for a while, or any more, beside others.
 * Prints how many calls were made, all together.
 *
 *   strict  a thread enters seccomp's strict mode: no clock, and four system calls
 *   alone   the only thread does
 *   clock   a thread gives up the clock by prctl(), gets it back, and gives it up by syscall()
 *   heirs   a thread gives up the clock, and makes a thread and a process, which have none either
 */
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define CALLS    1000L

static long made;

__attribute__((noinline)) static void call_recorded(void)
{
	__atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void call_withheld(void)
{
	__atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
}

UNTRACED static void repeat(void (*call)(void))
{
	for (long i = 0; i < CALLS; i++)
		call();
}

/* Prints by the one system call that strict mode allows. */
UNTRACED static void print(long number)
{
	char text[24], *next = text + sizeof(text);

	for (*--next = '\n'; number; number /= 10)
		*--next = (char)('0' + number % 10);
	syscall(SYS_write, 1, next, text + sizeof(text) - next);
}

UNTRACED static void *be_strict(void *unused)
{
	(void)unused;
	repeat(call_recorded);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	repeat(call_withheld);
	syscall(SYS_exit, 0);
	return NULL;
}

UNTRACED static void *be_without_clock(void *unused)
{
	(void)unused;
	repeat(call_recorded);
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	repeat(call_withheld);
	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
	repeat(call_recorded);
	syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	repeat(call_withheld);
	return NULL;
}

UNTRACED static void *call(void *unused)
{
	repeat(call_withheld);
	return unused;
}

UNTRACED static void *have_heirs(void *unused)
{
	pthread_t thread;
	int status;

	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	pthread_create(&thread, NULL, call, NULL);
	pthread_join(thread, NULL);
	if (fork() == 0) {
		call(NULL);
		_exit(0);
	}
	wait(&status);
	if (status)
		abort();
	return unused;
}

UNTRACED int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void *(*routine)(void *);
	} ways[] = {{"strict", be_strict}, {"clock", be_without_clock}, {"heirs", have_heirs}};
	pthread_t thread;

	if (count < 2)
		return 1;
	repeat(call_recorded);
	if (strcmp(arguments[1], "alone") == 0) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		repeat(call_withheld);
		print(made);
		syscall(SYS_exit, 0);
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(arguments[1], ways[i].name) == 0) {
			pthread_create(&thread, NULL, ways[i].routine, NULL);
			pthread_join(thread, NULL);
		}
	repeat(call_recorded);
	print(made);
	return 0;
}
