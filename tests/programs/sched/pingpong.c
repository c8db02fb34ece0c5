/*
 * Two threads take turns: one computes while the other waits for it. At its end each prints
 * its own measurements, tab-separated: thread id, ns it waited, ns of CPU time it used, and
 * how often the kernel switched it away. The waiting time is the time of its waits, less
 * the time that it ran in them.
 */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 40, TURN_NS = 4000000 };

static sem_t turn[2];
static char line[2][128];

__attribute__((no_instrument_function)) static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t wait_for(sem_t *semaphore)
{
	uint64_t ran = now(CLOCK_THREAD_CPUTIME_ID), begin = now(CLOCK_MONOTONIC), end;

	sem_wait(semaphore);
	end = now(CLOCK_MONOTONIC);
	return end - begin - (now(CLOCK_THREAD_CPUTIME_ID) - ran);
}

static void compute(void)
{
	uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + TURN_NS;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void *play(void *side)
{
	int me = (int)(intptr_t)side;
	uint64_t waited = 0;
	struct rusage usage;

	for (int i = 0; i < TURNS; i++) {
		waited += wait_for(&turn[me]);
		compute();
		sem_post(&turn[!me]);
	}
	getrusage(RUSAGE_THREAD, &usage);
	snprintf(line[me], sizeof(line[me]), "%d\t%" PRIu64 "\t%" PRIu64 "\t%ld\n", gettid(), waited,
	        now(CLOCK_THREAD_CPUTIME_ID), usage.ru_nvcsw + usage.ru_nivcsw);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	sem_init(&turn[0], 0, 1);
	sem_init(&turn[1], 0, 0);
	for (intptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, play, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%s%s", line[0], line[1]);
	return 0;
}
