/*
 * Threads of every kind: thousands of short ones, detached, C11, renamed by others, with a destructor of
 * thread-local data that runs in the last of four rounds, and still running at the end. Prints "function
 * calls", tab-separated.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

enum { SHORT = 3000 };

static unsigned long lates;
static pthread_key_t key;
static pthread_barrier_t meeting;

KEPT void live(void)
{
	__asm__ volatile("");
}

KEPT void destroy_late(void)
{
	__atomic_fetch_add(&lates, 1, __ATOMIC_RELAXED);
}

UNTRACED static void destroy(void *round)
{
	if ((long)round < 4)
		pthread_setspecific(key, (void *)((long)round + 1));
	else
		destroy_late();
}

UNTRACED static void *short_life(void *unused)
{
	live();
	return unused;
}

UNTRACED static int c11_life(void *unused)
{
	(void)unused;
	live();
	return 7;
}

UNTRACED static void *late_life(void *unused)
{
	pthread_setspecific(key, (void *)1);
	live();
	return unused;
}

UNTRACED static void *named_life(void *unused)
{
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	live();
	return unused;
}

UNTRACED static void *detached_life(void *unused)
{
	live();
	pthread_barrier_wait(&meeting);
	return unused;
}

UNTRACED static void *endless_life(void *unused)
{
	live();
	pthread_barrier_wait(&meeting);
	for (;;)
		live();
	return unused;
}

UNTRACED int main(void)
{
	pthread_attr_t detached;
	pthread_t thread;
	thrd_t c11;
	int result = 0;

	live();
	pthread_key_create(&key, destroy);
	pthread_barrier_init(&meeting, NULL, 2);
	for (int i = 0; i < SHORT; i++) {
		pthread_create(&thread, NULL, short_life, NULL);
		pthread_join(thread, NULL);
	}
	thrd_create(&c11, c11_life, NULL);
	thrd_join(c11, &result);
	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, late_life, NULL);
		pthread_join(thread, NULL);
	}
	pthread_create(&thread, NULL, named_life, NULL);
	pthread_barrier_wait(&meeting);
	pthread_setname_np(thread, "given by main");
	pthread_barrier_wait(&meeting);
	pthread_join(thread, NULL);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &detached, detached_life, NULL);
	pthread_barrier_wait(&meeting);
	printf("%d\ndestroy_late\t%lu\n", result, lates);
	fflush(stdout);
	pthread_create(&thread, NULL, endless_life, NULL);
	pthread_barrier_wait(&meeting);
	return 0;
}
