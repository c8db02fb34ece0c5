/*
 * Two threads, each with the lock that the other one waits for; a third one that waits for
 * a condition that is never signalled; a fourth one that is cancelled in its wait; and
 * main, which joins the first. Prints "ready PID" once the three are seen to wait.
 */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include "asleep.h"

static pthread_mutex_t here = PTHREAD_MUTEX_INITIALIZER, there = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t companion = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static sem_t cancelled;
static volatile int tids[4];

__attribute__((noinline)) static void lock_both(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(second);
}

static void *forth(void *unused)
{
	tids[0] = gettid();
	lock_both(&here, &there);
	return unused;
}

static void *back(void *unused)
{
	tids[1] = gettid();
	lock_both(&there, &here);
	return unused;
}

static void *wait_for_ever(void *unused)
{
	pthread_mutex_lock(&companion);
	tids[2] = gettid();
	pthread_cond_wait(&never, &companion);
	return unused;
}

static void *be_cancelled(void *unused)
{
	tids[3] = gettid();
	sem_wait(&cancelled);
	return unused;
}

int main(void)
{
	pthread_t thread[4];

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread[0], NULL, forth, NULL);
	pthread_create(&thread[1], NULL, back, NULL);
	pthread_create(&thread[2], NULL, wait_for_ever, NULL);
	pthread_create(&thread[3], NULL, be_cancelled, NULL);
	while (!tids[0] || !tids[1] || !tids[2] || !tids[3])
		sched_yield();
	until_asleep(tids[0], &there, sizeof(there));
	until_asleep(tids[1], &here, sizeof(here));
	until_asleep(tids[2], &never, sizeof(never));
	until_asleep(tids[3], &cancelled, sizeof(cancelled));
	pthread_cancel(thread[3]);
	pthread_join(thread[3], NULL);
	printf("ready %d\n", getpid());
	fflush(stdout);
	pthread_join(thread[0], NULL);
	return 0;
}
