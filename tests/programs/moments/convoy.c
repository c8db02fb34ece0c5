/*
 * Threads that queue for a lock: main holds it until all of them are seen to sleep for it, then each of them
 * has it in turn. Prints for each how long it waited, in ns by its own clock.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "../threads/asleep.h"

enum { THREADS = 4 };

static pthread_mutex_t counter_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int tids[THREADS];
static uint64_t waited[THREADS];

__attribute__((no_instrument_function)) static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void take_turn(int number)
{
	uint64_t begin = now();

	tids[number] = gettid();
	pthread_mutex_lock(&counter_lock);
	waited[number] = now() - begin;
	usleep(2000);
	pthread_mutex_unlock(&counter_lock);
}

static void *queue(void *number)
{
	take_turn((int)(intptr_t)number);
	return NULL;
}

static void hold_until_all_queue(void)
{
	for (int i = 0; i < THREADS; i++) {
		while (!tids[i])
			usleep(100);
		until_asleep(tids[i], &counter_lock, sizeof(counter_lock));
	}
}

static void open_gates(void)
{
	hold_until_all_queue();
	pthread_mutex_unlock(&counter_lock);
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_mutex_lock(&counter_lock);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, queue, (void *)i);
	open_gates();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		printf("%llu\n", (unsigned long long)waited[i]);
	return 0;
}
