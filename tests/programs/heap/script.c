/*
 * A heap with books of its own: script OPERATIONS makes so many random operations in four
 * threads, through every entry point of the allocator, blocks wandering between threads. It
 * keeps its own count of all it did and prints it:
 *
 *   allocated BLOCKS BYTES          by the script, all operations together
 *   freed BLOCKS
 *   checkpoint NUMBER BLOCKS BYTES  what lives at a moment when no thread works
 *   leaked BLOCKS BYTES
 *
 * At a checkpoint every thread waits, and one of them marks the moment with a block of a
 * size of its own (MARK_BYTES + number of the checkpoint). A reader of the trace finds the
 * moment by that size.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, PLACES = 1024, CHECKPOINTS = 10, MARK_BYTES = 1000000, TAKEN = -1 };

/* A place holds a block, or none, or is taken by a thread that works on it. */
static struct place {
	void *block;
	size_t size;
} places[PLACES];

static struct books {
	uint64_t allocated, allocated_bytes, freed, freed_bytes;
} books[THREADS];

static pthread_barrier_t barrier;
static long operations;

static uint32_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

static void *small(size_t size)
{
	return malloc(size);
}

static void *allocate(uint32_t how, size_t size)
{
	void *block = NULL;

	switch (how % 10) {
	case 0:
		return calloc(1, size);
	case 1:
		return aligned_alloc(64, size);
	case 2:
		return posix_memalign(&block, 128, size) ? NULL : block;
	case 3:
		return memalign(32, size);
	case 4:
		return how % 400 ? small(size) : valloc(size);
	case 5:
		return realloc(NULL, size);
	case 6:
		return reallocarray(NULL, 1, size);
	default:
		return small(size);
	}
}

static void book(struct books *b, size_t size)
{
	b->allocated++;
	b->allocated_bytes += size;
}

static void unbook(struct books *b, size_t size)
{
	b->freed++;
	b->freed_bytes += size;
}

static void operate(struct books *b, uint64_t *random)
{
	struct place *place = &places[next(random) % PLACES];
	uint32_t how = next(random);
	size_t size = 1 + next(random) % (how % 64 ? 300 : 20000);
	void *block = __atomic_exchange_n(&place->block, (void *)TAKEN, __ATOMIC_ACQ_REL);

	if (block == (void *)TAKEN)
		return; /* it is another thread's for the moment, who gives it back */
	size_t old = place->size;

	if (!block) {
		block = allocate(how, size);
		place->size = size;
		book(b, size);
	} else if (how % 4 == 0) {
		block = how % 8 ? realloc(block, size) : reallocarray(block, size, 1);
		place->size = size;
		unbook(b, old);
		book(b, size);
	} else {
		free(block);
		unbook(b, old);
		block = NULL;
	}
	__atomic_store_n(&place->block, block, __ATOMIC_RELEASE);
}

static struct books sum(void)
{
	struct books all = {0};

	for (int i = 0; i < THREADS; i++) {
		all.allocated += books[i].allocated;
		all.allocated_bytes += books[i].allocated_bytes;
		all.freed += books[i].freed;
		all.freed_bytes += books[i].freed_bytes;
	}
	return all;
}

static struct {
	uint64_t blocks, bytes;
} checkpoints[CHECKPOINTS];

static void check(int number)
{
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
		struct books all = sum();

		checkpoints[number].blocks = all.allocated - all.freed;
		checkpoints[number].bytes = all.allocated_bytes - all.freed_bytes;
		void *volatile mark = malloc((size_t)MARK_BYTES + (size_t)number);

		free(mark);
	}
	pthread_barrier_wait(&barrier);
}

static void *work(void *argument)
{
	struct books *b = argument;
	uint64_t random = (uint64_t)(b - books) + 1;

	for (int i = 0; i < CHECKPOINTS; i++) {
		long end = operations / THREADS / CHECKPOINTS;

		while (end-- > 0)
			operate(b, &random);
		check(i);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	operations = argc > 1 ? atol(argv[1]) : 1000000;
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &books[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	struct books all = sum();

	printf("allocated %llu %llu\nfreed %llu\n", (unsigned long long)all.allocated,
	        (unsigned long long)all.allocated_bytes, (unsigned long long)all.freed);
	for (int i = 0; i < CHECKPOINTS; i++)
		printf("checkpoint %d %llu %llu\n", i, (unsigned long long)checkpoints[i].blocks,
		        (unsigned long long)checkpoints[i].bytes);
	printf("leaked %llu %llu\n", (unsigned long long)(all.allocated - all.freed),
	        (unsigned long long)(all.allocated_bytes - all.freed_bytes));
	return 0;
}
