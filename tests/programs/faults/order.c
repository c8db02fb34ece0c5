/*
 * Hooks that come out of order, as if only some objects were instrumented: exits without an
 * entry, entries without an exit; a thread that hops from one processor to another at every
 * call; threads that run when the process exits, and after all of its handlers and
 * destructors.
 */
#include "count.h"
#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 200 };

static volatile int runs;

void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

UNTRACED static void stranger(void)
{
}

/* Not counted: how often it could be called before the end is not known. */
KEPT static void call_on(void)
{
	__asm__ volatile("");
	runs = 1;
}

UNTRACED static void *spin(void *unused)
{
	for (;;)
		call_on();
	return unused;
}

/* The C library writes the rest of a stream when every handler of the exit has run. The
 * thread still calls then. */
UNTRACED static ssize_t write_last(void *unused, const char *bytes, size_t size)
{
	(void)unused;
	(void)bytes;
	for (int i = 0; i < ROUNDS; i++) {
		runs = 0;
		while (!runs)
			sched_yield();
	}
	return (ssize_t)size;
}

UNTRACED static void hop(void)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0; i < ROUNDS; i++) {
		CPU_ZERO(&one);
		for (int n = 0, cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &all) && n++ == i % CPU_COUNT(&all))
				CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		nest(2);
	}
	sched_setaffinity(0, sizeof(all), &all);
}

UNTRACED int main(void)
{
	pthread_t thread;

	begin_counting();
	for (int i = 0; i < ROUNDS; i++) {
		__cyg_profile_func_exit((void *)stranger, __builtin_return_address(0));
		nest(3);
		__cyg_profile_func_exit((void *)leaf, __builtin_return_address(0));
	}
	hop();
	if (pthread_create(&thread, NULL, spin, NULL) != 0)
		return 1;
	while (!runs)
		sched_yield();
	report();
	fputs("the end", fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_last}));
	return 0;
}
