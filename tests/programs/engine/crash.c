/*
 * crash COUNTERS SEED END: four threads call three functions without end, until the program
 * ends at a moment that SEED decides, as END says: by signal kill, segv or abrt, or with
 * status 7 by _exit, quick_exit or exit_group. If 3 divides SEED, the moment is after the
 * first 1000 calls. The threads count in a file that outlives the program which calls have
 * begun and which have returned.
 *
 * crash COUNTERS: prints what was counted, "thread function begun returned" a line,
 * tab-separated.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define CALL     __attribute__((noinline))

enum { THREADS = 4, DEPTH = 6, STATUS = 7, LONGEST_US = 800, CALLS = 1000 };
enum function { ROUND, NEST, LEAF, FUNCTIONS };

struct counts {
	uint64_t tid;
	uint64_t begun[FUNCTIONS], returned[FUNCTIONS];
} __attribute__((aligned(4096)));

static volatile struct counts *counts;
static int *volatile nowhere;

CALL static void leaf(volatile struct counts *c)
{
	c->begun[LEAF]++;
}

CALL static void nest(volatile struct counts *c, int depth)
{
	c->begun[NEST]++;
	if (depth) {
		nest(c, depth - 1);
		c->returned[NEST]++;
	}
	leaf(c);
	c->returned[LEAF]++;
}

CALL static void one_round(volatile struct counts *c)
{
	c->begun[ROUND]++;
	nest(c, DEPTH);
	c->returned[NEST]++;
}

UNTRACED static void *work(void *own)
{
	volatile struct counts *c = own;

	c->tid = (uint64_t)gettid();
	for (;;) {
		one_round(c);
		c->returned[ROUND]++;
	}
	return NULL;
}

UNTRACED static void end(const char *how)
{
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "segv"))
		*nowhere = 0;
	if (!strcmp(how, "abrt"))
		abort();
	if (!strcmp(how, "_exit"))
		_exit(STATUS);
	if (!strcmp(how, "quick_exit"))
		quick_exit(STATUS);
	syscall(SYS_exit_group, STATUS);
}

UNTRACED static uint64_t returned(void)
{
	uint64_t calls = 0;

	for (int i = 0; i < THREADS; i++)
		for (int f = 0; f < FUNCTIONS; f++)
			calls += counts[i].returned[f];
	return calls;
}

UNTRACED static void show(void)
{
	static const char *const names[] = {[ROUND] = "one_round", [NEST] = "nest", [LEAF] = "leaf"};

	for (int i = 0; i < THREADS; i++)
		for (int f = 0; f < FUNCTIONS; f++)
			printf("%lu\t%s\t%lu\t%lu\n", counts[i].tid, names[f], counts[i].begun[f],
			        counts[i].returned[f]);
}

UNTRACED int main(int argc, char **argv)
{
	int file = open(argv[1], O_RDWR | O_CREAT, 0600);
	struct timespec moment = {0, 0};
	unsigned short seed[3] = {0, 0, 0};
	pthread_t thread;

	if (file < 0 || ftruncate(file, THREADS * sizeof(*counts)) != 0)
		return 1;
	counts = mmap(NULL, THREADS * sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (counts == MAP_FAILED)
		return 1;
	if (argc < 4) {
		show();
		return 0;
	}
	seed[2] = (unsigned short)strtol(argv[2], NULL, 10);
	moment.tv_nsec = (long)(erand48(seed) * LONGEST_US * 1000);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, work, (void *)(uintptr_t)&counts[i]) != 0)
			return 1;
	while (seed[2] % 3 == 0 && returned() < CALLS)
		sched_yield();
	nanosleep(&moment, NULL);
	end(argv[3]);
	return 1;
}
