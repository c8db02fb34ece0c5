/*
 * Measures the cost of recording the heap: heap THREADS PAIRS
 *
 * It prints the nanoseconds of a pair of malloc and free. The time begins when all threads
 * are ready, and ends when the last one is done. Each thread makes PAIRS pairs, three calls
 * deep. malloc serves their sizes from its fastest lists.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNTRACED    __attribute__((no_instrument_function))
#define THREADS_MAX 64
#define WARM_UP     100000

static pthread_barrier_t ready;

UNTRACED static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline)) void inner(long pairs)
{
	for (long i = 0; i < pairs; i++) {
		void *block = malloc(16 + (size_t)(i & 15) * 16);

		__asm__ volatile("" : "+r"(block) : : "memory");
		free(block);
	}
	__asm__ volatile("");
}

static __attribute__((noinline)) void middle(long pairs)
{
	inner(pairs);
	__asm__ volatile("");
}

struct span {
	long pairs;
	uint64_t start, end;
};

static void *outer(void *argument)
{
	struct span *span = argument;

	middle(WARM_UP);
	pthread_barrier_wait(&ready);
	span->start = now();
	middle(span->pairs);
	span->end = now();
	return NULL;
}

UNTRACED int main(int argc, char **argv)
{
	int threads = argc == 3 ? atoi(argv[1]) : 0;
	long pairs = argc == 3 ? atol(argv[2]) : 0;
	pthread_t thread[THREADS_MAX];
	struct span span[THREADS_MAX];
	uint64_t first = UINT64_MAX, last = 0;

	if (threads < 1 || threads > THREADS_MAX || pairs < 1) {
		fprintf(stderr, "usage: heap THREADS PAIRS\n");
		return 2;
	}
	pthread_barrier_init(&ready, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		span[i].pairs = pairs;
		pthread_create(&thread[i], NULL, outer, &span[i]);
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		first = span[i].start < first ? span[i].start : first;
		last = span[i].end > last ? span[i].end : last;
	}
	printf("%.3f\n", (double)(last - first) / (double)pairs);
}
