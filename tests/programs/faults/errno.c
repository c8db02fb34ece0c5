/*
 * errno is the program's own, whatever is called; and a thread may be cancelled at any instruction, in a hook
 * too. Calls that were cut off before they were counted are at most one a thread.
 */
#include "count.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { THREADS = 40, CALLS = 1500 };

static volatile int ready;

UNTRACED static void *spin(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	ready = 1;
	for (;;) {
		leaf();
		sched_yield();
	}
	return unused;
}

UNTRACED static void *keep_errno(void *wrong)
{
	for (int i = 1; i < CALLS; i++) {
		errno = i;
		nest(i % 7 ? 3 : 300);
		*(int *)wrong += errno != i;
	}
	return wrong;
}

UNTRACED int main(void)
{
	pthread_t thread;
	int wrong = 0;

	begin_counting();
	keep_errno(&wrong);
	pthread_create(&thread, NULL, keep_errno, &wrong);
	pthread_join(thread, NULL);
	for (int i = 0; i < THREADS; i++) {
		ready = 0;
		pthread_create(&thread, NULL, spin, NULL);
		while (!ready)
			sched_yield();
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	fprintf(stderr, "errno changed %d times\n", wrong);
	report();
	return 0;
}
