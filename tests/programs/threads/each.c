/*
 * Calls each function of locks, semaphores and joins a number of times of its own, where none has to wait: a
 * library that interposes it counts as many.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c11;
static sem_t semaphore;
static int times;

/* Once more than the function before. */
#define EACH(call, undo)                          \
	do {                                      \
		times++;                          \
		for (int i = 0; i < times; i++) { \
			if ((call) != 0)          \
				abort();          \
			undo;                     \
		}                                 \
	} while (0)

static void *run(void *argument)
{
	return argument;
}

static int run_c11(void *unused)
{
	(void)unused;
	return 0;
}

int main(void)
{
	struct timespec limit;
	pthread_t thread;
	thrd_t c11_thread;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 100;
	mtx_init(&c11, mtx_timed);
	sem_init(&semaphore, 0, 1);
	EACH(pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex));
	EACH(pthread_mutex_trylock(&mutex), pthread_mutex_unlock(&mutex));
	EACH(pthread_mutex_timedlock(&mutex, &limit), pthread_mutex_unlock(&mutex));
	EACH(pthread_mutex_clocklock(&mutex, CLOCK_REALTIME, &limit), pthread_mutex_unlock(&mutex));
	EACH(pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock));
	EACH(pthread_rwlock_tryrdlock(&rwlock), pthread_rwlock_unlock(&rwlock));
	EACH(pthread_rwlock_timedrdlock(&rwlock, &limit), pthread_rwlock_unlock(&rwlock));
	EACH(pthread_rwlock_clockrdlock(&rwlock, CLOCK_REALTIME, &limit), pthread_rwlock_unlock(&rwlock));
	EACH(pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock));
	EACH(pthread_rwlock_trywrlock(&rwlock), pthread_rwlock_unlock(&rwlock));
	EACH(pthread_rwlock_timedwrlock(&rwlock, &limit), pthread_rwlock_unlock(&rwlock));
	EACH(pthread_rwlock_clockwrlock(&rwlock, CLOCK_REALTIME, &limit), pthread_rwlock_unlock(&rwlock));
	EACH(mtx_lock(&c11), mtx_unlock(&c11));
	EACH(mtx_trylock(&c11), mtx_unlock(&c11));
	EACH(mtx_timedlock(&c11, &limit), mtx_unlock(&c11));
	EACH(sem_wait(&semaphore), sem_post(&semaphore));
	EACH(sem_trywait(&semaphore), sem_post(&semaphore));
	EACH(sem_timedwait(&semaphore, &limit), sem_post(&semaphore));
	EACH(sem_clockwait(&semaphore, CLOCK_REALTIME, &limit), sem_post(&semaphore));
	EACH(pthread_create(&thread, NULL, run, NULL), pthread_join(thread, NULL));
	EACH(pthread_create(&thread, NULL, run, NULL), pthread_timedjoin_np(thread, NULL, &limit));
	EACH(pthread_create(&thread, NULL, run, NULL),
	        pthread_clockjoin_np(thread, NULL, CLOCK_REALTIME, &limit));
	EACH(thrd_create(&c11_thread, run_c11, NULL), thrd_join(c11_thread, NULL));
	return 0;
}
