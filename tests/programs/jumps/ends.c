/*
 * Threads and a process that end in the middle of a call: pthread_exit(), cancellation, and exit() from a
 * nested call while a thread runs. Prints "function calls", tab-separated, before the end.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

static unsigned long sinks, waits, dones, leaves;
static pthread_barrier_t meeting;

KEPT void sink(int depth)
{
	sinks++;
	if (depth == 0)
		pthread_exit(NULL);
	sink(depth - 1);
}

KEPT void wait_for_ever(int depth)
{
	waits++;
	if (depth == 0) {
		pthread_barrier_wait(&meeting);
		for (;;)
			pause();
	}
	wait_for_ever(depth - 1);
}

KEPT void done(void)
{
	dones++;
}

UNTRACED static void clean_up(void *unused)
{
	(void)unused;
	done();
}

UNTRACED static void *sinking(void *unused)
{
	pthread_cleanup_push(clean_up, NULL);
	sink(7);
	pthread_cleanup_pop(0);
	return unused;
}

UNTRACED static void *waiting(void *unused)
{
	wait_for_ever(7);
	return unused;
}

UNTRACED static void print_calls(void)
{
	printf("done\t%lu\nleave\t%lu\nsink\t%lu\nwait_for_ever\t%lu\n", dones, leaves, sinks, waits);
}

KEPT void leave(int depth)
{
	leaves++;
	if (depth == 0) {
		print_calls();
		exit(3);
	}
	leave(depth - 1);
}

UNTRACED int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&meeting, NULL, 2);
	pthread_create(&thread, NULL, sinking, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, waiting, NULL);
	pthread_barrier_wait(&meeting);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, waiting, NULL);
	pthread_barrier_wait(&meeting);
	leave(7);
}
