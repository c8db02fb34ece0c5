/*
 * mortal COUNTS THREADS CALLS END: so many threads at a time make so many calls each, down to some depth and
 * back; each is four threads, one after the other, "mortal 0" and on. How many calls have begun each of them
 * counts in a file that outlives the program, right after the call's entry hook. Once all are done the
 * program ends with status 3 (END is exit), or waits for a signal (wait; pace: the same, and threads rest
 * between their calls, each in a way of its own, the first never).
 *
 * The file: a word that is 1 once all is done, and one that it waits for to become 1 before it begins; then
 * for each thread its tid and its number of calls, on a line of the cache of its own.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define CALL     __attribute__((noinline))

enum { LIVES = 4, DEPTH = 5, STATUS = 3 };

struct count {
	uint64_t tid, calls;
} __attribute__((aligned(64)));

static struct count *counts;
static int threads;
static uint64_t calls;
static int has_pace;

CALL static void leaf(volatile struct count *c)
{
	c->calls++;
}

CALL static void nest(volatile struct count *c, int depth)
{
	c->calls++;
	if (depth)
		nest(c, depth - 1);
	leaf(c);
}

CALL static void one_round(volatile struct count *c)
{
	c->calls++;
	nest(c, DEPTH);
}

UNTRACED static pthread_t begin(intptr_t number);

/* Sleeps up to 32 ms, between bursts of up to a thousand rounds. */
UNTRACED static void rest(intptr_t number, uint64_t made)
{
	uint64_t mixed = (made + (uint64_t)number) * UINT64_C(0x9e3779b97f4a7c15) >> 40;

	if (number % threads && mixed % (1u << number % threads * 2 % 11) == 0)
		usleep(mixed % 32768);
}

/* A thread's last act is to begin the next one, which ends by itself. */
UNTRACED static void *work(void *own)
{
	intptr_t number = (intptr_t)own;
	struct count *c = &counts[1 + number];
	char name[16];

	snprintf(name, sizeof(name), "mortal %d", (int)number);
	pthread_setname_np(pthread_self(), name);
	__atomic_store_n(&c->tid, (uint64_t)gettid(), __ATOMIC_RELEASE);
	while (c->calls < calls / LIVES) {
		one_round(c);
		if (has_pace)
			rest(number, c->calls);
	}
	if (number + threads < threads * LIVES)
		pthread_join(begin(number + threads), NULL);
	return NULL;
}

UNTRACED static pthread_t begin(intptr_t number)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, (void *)number) != 0)
		abort();
	return thread;
}

UNTRACED int main(int argc, char **argv)
{
	int file = argc == 5 ? open(argv[1], O_RDWR) : -1;
	pthread_t first[64];

	if (file < 0)
		return 1;
	threads = (int)strtol(argv[2], NULL, 10);
	calls = strtoull(argv[3], NULL, 10);
	has_pace = !strcmp(argv[4], "pace");
	counts = mmap(NULL, (size_t)(1 + threads * LIVES) * sizeof(*counts), PROT_READ | PROT_WRITE,
	        MAP_SHARED, file, 0);
	if (counts == MAP_FAILED || threads > 64)
		return 1;
	close(file);
	while (!__atomic_load_n(&counts[0].calls, __ATOMIC_ACQUIRE))
		usleep(100);
	for (int i = 0; i < threads; i++)
		first[i] = begin(i);
	for (int i = 0; i < threads; i++)
		pthread_join(first[i], NULL);
	__atomic_store_n(&counts[0].tid, 1, __ATOMIC_RELEASE);
	while (has_pace || !strcmp(argv[4], "wait"))
		pause();
	return STATUS;
}
