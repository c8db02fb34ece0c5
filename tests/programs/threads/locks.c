/*
 * Waits that surely happen: each lock is released only once the other thread is seen to wait for it. Between
 * them, locks that are never waited for. Prints "name waits", tab-separated.
 */
#include <pthread.h>
#include <semaphore.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "asleep.h"

#define UNTRACED __attribute__((no_instrument_function))
#define KEPT     __attribute__((noinline))

enum { ROUNDS = 20, FREE = 100000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t ready, go, waited;
static int told;
static volatile int tid;

#define UNTIL_ASLEEP_IN(object) until_asleep(tid, &(object), sizeof(object))

KEPT void take_turns(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		sem_wait(&waited);
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
		sem_wait(&waited);
		pthread_mutex_lock(&held);
		told = 0;
		while (!told)
			pthread_cond_wait(&cond, &held);
		pthread_mutex_unlock(&held);
		sem_wait(&waited);
	}
}

UNTRACED static void *second(void *unused)
{
	tid = (int)syscall(SYS_gettid);
	sem_post(&ready);
	sem_wait(&go);
	take_turns();
	return unused;
}

KEPT void give_turns(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		UNTIL_ASLEEP_IN(mutex);
		pthread_mutex_unlock(&mutex);
		UNTIL_ASLEEP_IN(waited);
		pthread_rwlock_wrlock(&rwlock);
		sem_post(&waited);
		UNTIL_ASLEEP_IN(rwlock);
		pthread_rwlock_unlock(&rwlock);
		UNTIL_ASLEEP_IN(waited);
		sem_post(&waited);
		UNTIL_ASLEEP_IN(cond);
		pthread_mutex_lock(&held);
		told = 1;
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&held);
		UNTIL_ASLEEP_IN(waited);
		pthread_mutex_lock(&mutex);
		sem_post(&waited);
	}
}

KEPT void lock_freely(void)
{
	for (int i = 0; i < FREE; i++) {
		pthread_mutex_lock(&held);
		pthread_mutex_unlock(&held);
		sem_post(&ready);
		sem_wait(&ready);
	}
}

UNTRACED int main(void)
{
	pthread_t thread;

	sem_init(&ready, 0, 0);
	sem_init(&go, 0, 0);
	sem_init(&waited, 0, 0);
	pthread_create(&thread, NULL, second, NULL);
	while (tid == 0)
		sched_yield();
	while (sem_trywait(&ready) != 0)
		sched_yield();
	lock_freely();
	UNTIL_ASLEEP_IN(go);
	pthread_mutex_lock(&mutex);
	sem_post(&go);
	give_turns();
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	printf("pthread_cond_wait\t%d\npthread_mutex_lock\t%d\npthread_rwlock_rdlock\t%d\nsem_wait\t%d\n",
	        ROUNDS, ROUNDS, ROUNDS, 3 * ROUNDS + 1);
	return 0;
}
