/*
 * Three locks live one after the other at each of three addresses: in a static variable, on
 * the heap and on the stack. A thread waits for each of them twice. Other locks are made
 * and destroyed without a wait. Prints the address of each lock that was waited for.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "asleep.h"

enum { LIVES = 3, QUIET = 1000, BLOCK_BYTES = 900 };

static pthread_mutex_t renewed = PTHREAD_MUTEX_INITIALIZER;
static volatile int waiter;

static void *want(void *lock)
{
	waiter = gettid();
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

__attribute__((noinline)) static void contend(pthread_mutex_t *lock)
{
	for (int i = 0; i < 2; i++) {
		pthread_t thread;

		waiter = 0;
		pthread_mutex_lock(lock);
		pthread_create(&thread, NULL, want, lock);
		while (!waiter)
			sched_yield();
		until_asleep(waiter, lock, sizeof(*lock));
		pthread_mutex_unlock(lock);
		pthread_join(thread, NULL);
	}
	printf("%#lx\n", (unsigned long)lock);
}

__attribute__((noinline)) static void on_stack(void)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	contend(&lock);
}

__attribute__((noinline)) static void on_heap(void)
{
	pthread_mutex_t *locks = malloc(BLOCK_BYTES);

	locks[2] = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	contend(&locks[2]);
	free(locks);
}

__attribute__((noinline)) static void anew(void)
{
	contend(&renewed);
	pthread_mutex_destroy(&renewed);
	pthread_mutex_init(&renewed, NULL);
}

int main(void)
{
	for (int i = 0; i < QUIET; i++) {
		pthread_mutex_t quiet;

		pthread_mutex_init(&quiet, NULL);
		pthread_mutex_lock(&quiet);
		pthread_mutex_unlock(&quiet);
		pthread_mutex_destroy(&quiet);
	}
	for (int i = 0; i < LIVES; i++) {
		on_stack();
		on_heap();
		anew();
	}
	return 0;
}
