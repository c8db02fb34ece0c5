/*
 * Every call that waits for another thread, and surely does: it is let go only once it is seen to sleep. Then
 * all of them again where there is nothing to wait for, and where they refuse their arguments. Prints "call
 * object" for each wait that happened; the object on the heap has no name.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include "asleep.h"

#define UNTRACED __attribute__((no_instrument_function))

enum { OBJECT_BYTES = 1024 }; /* of the largest, a thread */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, companion = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_mutex_t *on_heap;
static sem_t semaphore;
static mtx_t c11_mutex;
static cnd_t c11_condition;
static pthread_t joined;
static volatile int turn, done, tid, may_end, result;

UNTRACED static struct timespec in_a_minute(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_sec += 60;
	return time;
}
#define LATER    (&(struct timespec[]){in_a_minute(CLOCK_REALTIME)}[0])
#define LATER_BY CLOCK_MONOTONIC, (&(struct timespec[]){in_a_minute(CLOCK_MONOTONIC)}[0])
#define NEVER    (&(struct timespec){0, -1})
#define NEVER_BY CLOCK_MONOTONIC, NEVER
#define NO_CLOCK CLOCK_PROCESS_CPUTIME_ID, LATER

UNTRACED static void nothing(void)
{
}

UNTRACED static void *target(void *unused)
{
	while (!may_end)
		sched_yield();
	return unused;
}

UNTRACED static int c11_target(void *unused)
{
	target(unused);
	return 7;
}

UNTRACED static int join_c11(void)
{
	int code;

	return thrd_join(joined, &code) == thrd_success ? code - 7 : -1;
}

UNTRACED static void begin_target(void)
{
	may_end = 0;
	pthread_create(&joined, NULL, target, NULL);
}

UNTRACED static void begin_c11_target(void)
{
	may_end = 0;
	thrd_create(&joined, c11_target, NULL);
}

UNTRACED static void end_target(void)
{
	may_end = 1;
}

/* Functions that make a call wait, and let it go. The thread that waited undoes the
 * rest. */
struct wait {
	const char *call, *object;
	const void *address;
	void (*hold)(void);
	int (*wait)(void);
	void (*let_go)(void);
};

#define WAIT(call, object, address, hold, let_go, arguments, undo) \
	UNTRACED static int wait_##call##_##object(void)           \
	{                                                          \
		int error = call arguments;                        \
                                                                   \
		undo;                                              \
		return error;                                      \
	}
#define STEP(name, statements)          \
	UNTRACED static void name(void) \
	{                               \
		statements;             \
	}

STEP(lock_mutex, pthread_mutex_lock(&mutex))
STEP(unlock_mutex, pthread_mutex_unlock(&mutex))
STEP(lock_heap, pthread_mutex_lock(on_heap))
STEP(unlock_heap, pthread_mutex_unlock(on_heap))
STEP(lock_rwlock, pthread_rwlock_wrlock(&rwlock))
STEP(unlock_rwlock, pthread_rwlock_unlock(&rwlock))
STEP(post, sem_post(&semaphore))
STEP(signal_condition, pthread_mutex_lock(&companion); pthread_cond_signal(&condition);
        pthread_mutex_unlock(&companion))
STEP(broadcast, pthread_mutex_lock(&companion); pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&companion))
STEP(signal_c11, cnd_signal(&c11_condition))
STEP(broadcast_c11, cnd_broadcast(&c11_condition))
STEP(lock_c11, mtx_lock(&c11_mutex))
STEP(unlock_c11, mtx_unlock(&c11_mutex))
STEP(arrive, pthread_barrier_wait(&barrier))

#define LOCKED     (pthread_mutex_lock(&companion), &companion)
#define C11_LOCKED (mtx_lock(&c11_mutex), &c11_mutex)

#define WAITS(X)                                                                                             \
	X(pthread_mutex_lock, mutex, &mutex, lock_mutex, unlock_mutex, (&mutex), unlock_mutex())             \
	X(pthread_mutex_timedlock, mutex, &mutex, lock_mutex, unlock_mutex, (&mutex, LATER), unlock_mutex()) \
	X(pthread_mutex_clocklock, mutex, &mutex, lock_mutex, unlock_mutex, (&mutex, LATER_BY),              \
	        unlock_mutex())                                                                              \
	X(pthread_mutex_lock, on_heap, on_heap, lock_heap, unlock_heap, (on_heap), unlock_heap())            \
	X(pthread_rwlock_rdlock, rwlock, &rwlock, lock_rwlock, unlock_rwlock, (&rwlock), unlock_rwlock())    \
	X(pthread_rwlock_timedrdlock, rwlock, &rwlock, lock_rwlock, unlock_rwlock, (&rwlock, LATER),         \
	        unlock_rwlock())                                                                             \
	X(pthread_rwlock_clockrdlock, rwlock, &rwlock, lock_rwlock, unlock_rwlock, (&rwlock, LATER_BY),      \
	        unlock_rwlock())                                                                             \
	X(pthread_rwlock_wrlock, rwlock, &rwlock, lock_rwlock, unlock_rwlock, (&rwlock), unlock_rwlock())    \
	X(pthread_rwlock_timedwrlock, rwlock, &rwlock, lock_rwlock, unlock_rwlock, (&rwlock, LATER),         \
	        unlock_rwlock())                                                                             \
	X(pthread_rwlock_clockwrlock, rwlock, &rwlock, lock_rwlock, unlock_rwlock, (&rwlock, LATER_BY),      \
	        unlock_rwlock())                                                                             \
	X(sem_wait, semaphore, &semaphore, nothing, post, (&semaphore), nothing())                           \
	X(sem_timedwait, semaphore, &semaphore, nothing, post, (&semaphore, LATER), nothing())               \
	X(sem_clockwait, semaphore, &semaphore, nothing, post, (&semaphore, LATER_BY), nothing())            \
	X(pthread_cond_wait, condition, &condition, nothing, signal_condition, (&condition, LOCKED),         \
	        pthread_mutex_unlock(&companion))                                                            \
	X(pthread_cond_timedwait, condition, &condition, nothing, broadcast, (&condition, LOCKED, LATER),    \
	        pthread_mutex_unlock(&companion))                                                            \
	X(pthread_cond_clockwait, condition, &condition, nothing, signal_condition,                          \
	        (&condition, LOCKED, LATER_BY), pthread_mutex_unlock(&companion))                            \
	X(mtx_lock, c11_mutex, &c11_mutex, lock_c11, unlock_c11, (&c11_mutex), unlock_c11())                 \
	X(mtx_timedlock, c11_mutex, &c11_mutex, lock_c11, unlock_c11, (&c11_mutex, LATER), unlock_c11())     \
	X(cnd_wait, c11_condition, &c11_condition, nothing, signal_c11, (&c11_condition, C11_LOCKED),        \
	        unlock_c11())                                                                                \
	X(cnd_timedwait, c11_condition, &c11_condition, nothing, broadcast_c11,                              \
	        (&c11_condition, C11_LOCKED, LATER), unlock_c11())                                           \
	X(pthread_barrier_wait, barrier, &barrier, nothing, arrive, (&barrier), nothing())                   \
	X(pthread_join, thread, (void *)joined, begin_target, end_target, (joined, NULL), nothing())         \
	X(pthread_timedjoin_np, thread, (void *)joined, begin_target, end_target, (joined, NULL, LATER),     \
	        nothing())                                                                                   \
	X(pthread_clockjoin_np, thread, (void *)joined, begin_target, end_target, (joined, NULL, LATER_BY),  \
	        nothing())

WAITS(WAIT)
UNTRACED static int wait_thrd_join_thread(void)
{
	return join_c11();
}

#define ROW(call, object, address, hold, let_go, arguments, undo) \
	{#call, #object, address, hold, wait_##call##_##object, let_go},
UNTRACED static const struct wait *all_waits(size_t *count)
{
	static struct wait waits[32];
	struct wait now[] = {WAITS(ROW){
	        "thrd_join", "thread", (void *)joined, begin_c11_target, wait_thrd_join_thread, end_target}};

	*count = sizeof(now) / sizeof(*now);
	return memcpy(waits, now, sizeof(now));
}

UNTRACED static void *wait_in_turn(void *unused)
{
	size_t count;
	const struct wait *waits = all_waits(&count);

	tid = (int)syscall(SYS_gettid);
	for (size_t i = 0; i < count; i++) {
		while (turn != (int)i + 1)
			sched_yield();
		result = waits[i].wait();
		done = (int)i + 1;
	}
	return unused;
}

/* Nothing here waits, and what a call says of wrong arguments is what it says bare. */
UNTRACED static void never_wait(void)
{
	pthread_t thread;

	printf("%d %d %d\n", pthread_mutex_timedlock(&mutex, NEVER), pthread_mutex_unlock(&mutex),
	        pthread_mutex_clocklock(&mutex, NO_CLOCK));
	printf("%d %d\n", pthread_rwlock_timedrdlock(&rwlock, NEVER),
	        pthread_rwlock_clockwrlock(&rwlock, NO_CLOCK));
	sem_post(&semaphore);
	printf("%d", sem_timedwait(&semaphore, NEVER));
	printf(" %d\n", errno);
	printf("%d", sem_clockwait(&semaphore, NO_CLOCK));
	printf(" %d\n", errno);
	printf("%d\n", sem_timedwait(&semaphore, LATER));
	for (int i = 0; i < 1000; i++) {
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_timedrdlock(&rwlock, LATER);
		pthread_rwlock_unlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
		mtx_lock(&c11_mutex);
		mtx_unlock(&c11_mutex);
	}
	pthread_create(&thread, NULL, target, NULL);
	while (pthread_tryjoin_np(thread, NULL) == EBUSY)
		sched_yield();
}

UNTRACED int main(void)
{
	pthread_t waiter;
	size_t count;
	const struct wait *waits;

	on_heap = malloc(sizeof(*on_heap));
	pthread_mutex_init(on_heap, NULL);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&semaphore, 0, 0);
	mtx_init(&c11_mutex, mtx_timed);
	cnd_init(&c11_condition);
	waits = all_waits(&count);
	pthread_create(&waiter, NULL, wait_in_turn, NULL);
	while (tid == 0)
		sched_yield();
	for (size_t i = 0; i < count; i++) {
		waits[i].hold();
		turn = (int)i + 1;
		until_asleep(tid, strcmp(waits[i].object, "thread") == 0 ? (void *)joined : waits[i].address,
		        OBJECT_BYTES);
		waits[i].let_go();
		while (done != (int)i + 1)
			sched_yield();
		printf("%s\t%s\n", waits[i].call, waits[i].object);
		if (result != 0 && result != PTHREAD_BARRIER_SERIAL_THREAD)
			printf("%s: %d\n", waits[i].call, result);
	}
	never_wait();
	return 0;
}
