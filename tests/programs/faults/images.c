/*
 * A process that executes itself out of a thread; its other threads are gone then. Argument "second": what it
 * becomes. Any other argument: the program that it becomes instead.
 */
#include "count.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

static volatile int running;
static char *self, *other;

UNTRACED static void *spin(void *unused)
{
	running = 1;
	for (;;)
		sched_yield();
	return unused;
}

KEPT static void *become(void *unused)
{
	nest(3);
	if (other)
		execl(other, other, NULL);
	execl(self, self, "second", NULL);
	return unused;
}

UNTRACED int main(int argc, char **argv)
{
	pthread_t thread;

	begin_counting();
	self = argv[0];
	other = argc > 1 ? argv[1] : NULL;
	nest(4);
	if (argc > 1 && strcmp(argv[1], "second") == 0) {
		report();
		return 5;
	}
	pthread_create(&thread, NULL, spin, NULL);
	while (!running)
		sched_yield();
	pthread_create(&thread, NULL, become, NULL);
	pthread_join(thread, NULL);
	return 1;
}
