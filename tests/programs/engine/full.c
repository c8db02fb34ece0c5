/*
 * full THREADS CALLS: so many threads, a forked child after them, and then main, each call outer(), which
 * calls middle(), which makes CALLS calls and more: now and then some that are left by a jump, and those of a
 * timer's handler, whatever they interrupt. Prints how many calls were made in all processes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define CALL     __attribute__((noinline))

enum { THREADS_MAX = 64, JUMP_EACH = 500, DEPTH = 10 };

static atomic_ulong *made; /* of all processes */
static long calls;

CALL static void leaf(void)
{
	atomic_fetch_add(made, 1);
}

CALL static void dive(jmp_buf target, int depth)
{
	atomic_fetch_add(made, 1);
	if (depth == 0)
		longjmp(target, 1);
	dive(target, depth - 1);
	leaf(); /* never: but no tail call */
}

CALL static void tick(void)
{
	atomic_fetch_add(made, 1);
}

CALL static void handler(int signal)
{
	(void)signal;
	atomic_fetch_add(made, 1);
	tick();
}

CALL static void middle(void)
{
	jmp_buf target;

	atomic_fetch_add(made, 1);
	for (volatile long i = 0; i < calls; i++) {
		leaf();
		if (i % JUMP_EACH == JUMP_EACH - 1 && setjmp(target) == 0)
			dive(target, DEPTH);
	}
}

CALL static void *outer(void *unused)
{
	atomic_fetch_add(made, 1);
	middle();
	return unused;
}

UNTRACED static void set_timer(int microseconds)
{
	struct itimerval often = {{0, microseconds}, {0, microseconds}};

	setitimer(ITIMER_REAL, &often, NULL);
}

UNTRACED int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	int threads = argc == 3 ? (int)strtol(argv[1], NULL, 10) : 0;
	pthread_t thread[THREADS_MAX];
	int status = 0;
	pid_t child;

	if (threads < 1 || threads > THREADS_MAX)
		return 2;
	calls = strtol(argv[2], NULL, 10);
	made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGALRM, &action, NULL);
	set_timer(200);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, outer, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	child = fork();
	if (child == 0) {
		set_timer(200);
		outer(NULL);
		set_timer(0);
		_exit(0);
	}
	while (waitpid(child, &status, 0) != child)
		continue;
	outer(NULL);
	set_timer(0);
	printf("%lu\n", atomic_load(made));
	return status != 0;
}
