/*
 * What a call costs: calls THREADS CALLS prints the nanoseconds a call took, from the moment all threads were
 * ready to the moment the last was done. Each thread calls a function of its own that does next to nothing,
 * CALLS times.
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
static long calls;

static __attribute__((noinline)) long leaf(long value)
{
	__asm__ volatile("" : "+r"(value));
	return value + 1;
}

UNTRACED static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct span {
	uint64_t start, end;
};

UNTRACED static void *loop(void *argument)
{
	struct span *span = argument;
	long value = 0;

	for (long i = 0; i < WARM_UP; i++)
		value = leaf(value);
	pthread_barrier_wait(&ready);
	span->start = now();
	for (long i = 0; i < calls; i++)
		value = leaf(value);
	span->end = now();
	return NULL;
}

UNTRACED int main(int argc, char **argv)
{
	int threads = argc == 3 ? atoi(argv[1]) : 0;
	pthread_t thread[THREADS_MAX];
	struct span span[THREADS_MAX];
	uint64_t first = UINT64_MAX, last = 0;

	calls = argc == 3 ? atol(argv[2]) : 0;
	if (threads < 1 || threads > THREADS_MAX || calls < 1) {
		fprintf(stderr, "usage: calls THREADS CALLS\n");
		return 2;
	}
	pthread_barrier_init(&ready, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, loop, &span[i]);
	for (int i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		first = span[i].start < first ? span[i].start : first;
		last = span[i].end > last ? span[i].end : last;
	}
	printf("%.3f\n", (double)(last - first) / (double)calls);
}
