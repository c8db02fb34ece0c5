/*
 * Threads that let waiters go on. One call lets three go on. A condition is signalled by
 * one thread, then by another, before the waiter can be back; it is signalled when its one
 * waiter's time is over, then for another one. A semaphore's token is taken from under its
 * waiter, and its wait then ends by a signal; prints how often the waiter got one
 * nevertheless.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "asleep.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int tid, may_go_on, is_too_late;
static int has_ended;

static void *signalled(void *unused)
{
	pthread_mutex_lock(&mutex);
	__atomic_store_n(&tid, gettid(), __ATOMIC_SEQ_CST);
	while (!may_go_on)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *first(void *unused)
{
	pthread_cond_signal(&condition);
	return unused;
}

static void *second(void *unused)
{
	pthread_cond_signal(&condition);
	return unused;
}

static void late(void)
{
	pthread_cond_signal(&condition);
}

static void in_time(void)
{
	pthread_cond_signal(&condition);
}

/* Until somebody else has the mutex when its time is over. */
static void *timed(void *unused)
{
	struct timespec limit;

	pthread_mutex_lock(&mutex);
	__atomic_store_n(&tid, gettid(), __ATOMIC_SEQ_CST);
	while (!is_too_late) {
		clock_gettime(CLOCK_REALTIME, &limit);
		limit.tv_nsec += 100000000;
		limit.tv_sec += limit.tv_nsec / 1000000000;
		limit.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&condition, &mutex, &limit);
	}
	may_go_on = 1;
	in_time();
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *all(void *unused)
{
	pthread_cond_broadcast(&condition);
	return unused;
}

static void *in_vain(void *result)
{
	__atomic_store_n(&tid, gettid(), __ATOMIC_SEQ_CST);
	*(int *)result = sem_wait(&semaphore) == 0 ? 0 : errno;
	__atomic_store_n(&has_ended, 1, __ATOMIC_SEQ_CST);
	return result;
}

static pthread_t begin(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	__atomic_store_n(&tid, 0, __ATOMIC_SEQ_CST);
	pthread_create(&thread, NULL, run, argument);
	while (!__atomic_load_n(&tid, __ATOMIC_SEQ_CST))
		sched_yield();
	return thread;
}

static void run(void *(*body)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, body, NULL);
	pthread_join(thread, NULL);
}

__attribute__((no_instrument_function)) static void handle(int unused)
{
	(void)unused;
}

int main(void)
{
	int result = 0, woken = 0;
	struct sigaction action = {.sa_handler = handle};
	pthread_t thread = begin(signalled, NULL);

	until_asleep(tid, &condition, sizeof(condition));
	pthread_mutex_lock(&mutex);
	may_go_on = 1;
	run(first);
	run(second);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);

	pthread_t threads[3];
	may_go_on = 0;
	for (int i = 0; i < 3; i++) {
		threads[i] = begin(signalled, NULL);
		until_asleep(tid, &condition, sizeof(condition));
	}
	pthread_mutex_lock(&mutex);
	may_go_on = 1;
	run(all);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);

	may_go_on = 0;
	thread = begin(timed, NULL);
	pthread_mutex_lock(&mutex);
	until_asleep(tid, &mutex, sizeof(mutex));
	is_too_late = 1;
	late();
	while (!may_go_on)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);

	sigaction(SIGUSR1, &action, NULL);
	for (sem_init(&semaphore, 0, 0); result != EINTR; woken += result == 0) {
		has_ended = 0;
		thread = begin(in_vain, &result);
		until_asleep(tid, &semaphore, sizeof(semaphore));
		sem_post(&semaphore);
		if (sem_trywait(&semaphore) == 0)
			while (!__atomic_load_n(&has_ended, __ATOMIC_SEQ_CST)) {
				pthread_kill(thread, SIGUSR1);
				sched_yield();
			}
		pthread_join(thread, NULL);
	}
	printf("%d\n", woken);
	return 0;
}
