/*
 * Functions that the programs of these tests call, with counters, also for their children:
 * report() prints "function calls", tab-separated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline, unused))

static struct {
	unsigned long leaf, nest;
} * counts;

KEPT static void leaf(void)
{
	__atomic_add_fetch(&counts->leaf, 1, __ATOMIC_RELAXED);
}

KEPT static void nest(int depth)
{
	__atomic_add_fetch(&counts->nest, 1, __ATOMIC_RELAXED);
	if (depth > 1)
		nest(depth - 1);
	else
		leaf();
}

/* Shared with children: before anything is called. */
UNTRACED static inline void begin_counting(void)
{
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		exit(100);
}

UNTRACED static inline void report(void)
{
	printf("leaf\t%lu\n", counts->leaf);
	if (counts->nest)
		printf("nest\t%lu\n", counts->nest);
}
