/*
 * One thread waits for a lock, is let go, and does not run yet: a signal handler keeps it. Meanwhile the other
 * thread locks and unlocks PAIRS times. The same for each kind of lock. Prints "call<tab>alone<tab>beside" for
 * each: the call that lets the waiter go, once, and on x86-64 the instructions of one pair without a waiter and
 * beside one, counted by the processor's trap flag; else 0.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <threads.h>
#include <unistd.h>
#include "asleep.h"
#include "../hooks/trap_flag.h"

#define UNTRACED __attribute__((no_instrument_function))

enum { PAIRS = 1000 };

static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static mtx_t c11_mutex;
static volatile int tid, is_kept, may_go_on;

UNTRACED static void keep(int unused)
{
	(void)unused;
	for (is_kept = 1; !may_go_on;)
		sched_yield();
}

/* ---- the locks ---- */

#define STEP(name, statements)          \
	UNTRACED static void name(void) \
	{                               \
		statements;             \
	}

STEP(lock_mutex, pthread_mutex_lock(&mutex))
STEP(unlock_mutex, pthread_mutex_unlock(&mutex))
STEP(pair_mutex, pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex))
STEP(lock_twice, pthread_mutex_lock(&mutex); pthread_mutex_lock(&mutex))
STEP(unlock_twice, pthread_mutex_unlock(&mutex); pthread_mutex_unlock(&mutex))
STEP(lock_c11, mtx_lock(&c11_mutex))
STEP(unlock_c11, mtx_unlock(&c11_mutex))
STEP(pair_c11, mtx_lock(&c11_mutex); mtx_unlock(&c11_mutex))
STEP(write_lock, pthread_rwlock_wrlock(&rwlock))
STEP(read_lock, pthread_rwlock_rdlock(&rwlock))
STEP(unlock_rwlock, pthread_rwlock_unlock(&rwlock))
STEP(write_pair, pthread_rwlock_wrlock(&rwlock); pthread_rwlock_unlock(&rwlock))
STEP(read_pair, pthread_rwlock_rdlock(&rwlock); pthread_rwlock_unlock(&rwlock))
STEP(no_lock, )
STEP(post, sem_post(&semaphore))
STEP(take, sem_wait(&semaphore))

#define MUTEX(type, protocol, robustness)                                                              \
	{                                                                                              \
		"pthread_mutex_unlock", &mutex, sizeof(mutex), type, protocol, robustness, lock_mutex, \
		        lock_mutex, unlock_mutex, unlock_mutex, pair_mutex                             \
	}

static const struct lock {
	const char *call;
	const void *object;
	size_t bytes;
	int type, protocol, robustness; /* of a mutex */
	void (*hold)(void), (*wait)(void), (*free)(void), (*undo)(void), (*pair)(void);
} locks[] = {
        MUTEX(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED),
        MUTEX(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED),
        MUTEX(PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED),
        MUTEX(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST),
        MUTEX(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED),
        {"pthread_mutex_unlock", &mutex, sizeof(mutex), PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE,
                PTHREAD_MUTEX_STALLED, lock_twice, lock_mutex, unlock_twice, unlock_mutex, pair_mutex},
        {"mtx_unlock", &c11_mutex, sizeof(c11_mutex), 0, 0, 0, lock_c11, lock_c11, unlock_c11, unlock_c11,
                pair_c11},
        {"pthread_rwlock_unlock", &rwlock, sizeof(rwlock), 0, 0, 0, write_lock, write_lock, unlock_rwlock,
                unlock_rwlock, write_pair},
        {"pthread_rwlock_unlock", &rwlock, sizeof(rwlock), 0, 0, 0, write_lock, read_lock, unlock_rwlock,
                unlock_rwlock, read_pair},
        {"sem_post", &semaphore, sizeof(semaphore), 0, 0, 0, no_lock, take, post, no_lock, post},
};

UNTRACED static void make_mutex(const struct lock *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, lock->type);
	pthread_mutexattr_setprotocol(&attributes, lock->protocol);
	pthread_mutexattr_setrobust(&attributes, lock->robustness);
	pthread_mutex_init(&mutex, &attributes);
}

/* ---- instructions ---- */

#ifdef __x86_64__
static volatile long instructions;

UNTRACED static void trap(int unused)
{
	(void)unused;
	instructions++;
}

UNTRACED static long count(void (*pair)(void))
{
	instructions = 0;
	CHANGE_TRAP_FLAG("orq", TRAP_FLAG);
	pair();
	CHANGE_TRAP_FLAG("andq", ~TRAP_FLAG);
	return instructions;
}
#else
UNTRACED static long count(void (*pair)(void))
{
	pair();
	return 0;
}
#endif

/* ---- the two threads ---- */

UNTRACED static void *wait_in_lock(void *argument)
{
	const struct lock *lock = argument;

	tid = gettid();
	lock->wait();
	lock->undo();
	return NULL;
}

UNTRACED static void wake_once(const struct lock *lock)
{
	pthread_t thread;
	long alone, beside;

	tid = is_kept = may_go_on = 0;
	make_mutex(lock);
	lock->pair();
	alone = count(lock->pair);
	if (lock->object == &semaphore)
		sem_init(&semaphore, 0, 0);
	lock->hold();
	pthread_create(&thread, NULL, wait_in_lock, (void *)lock);
	while (!tid)
		sched_yield();
	until_asleep(tid, lock->object, lock->bytes);
	pthread_kill(thread, SIGUSR1);
	while (!is_kept)
		sched_yield();
	lock->free();
	for (int i = 0; i < PAIRS; i++)
		lock->pair();
	beside = count(lock->pair);
	may_go_on = 1;
	pthread_join(thread, NULL);
	printf("%s\t%ld\t%ld\n", lock->call, alone, beside);
}

UNTRACED int main(void)
{
	struct sigaction keeps = {.sa_handler = keep, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &keeps, NULL);
#ifdef __x86_64__
	struct sigaction traps = {.sa_handler = trap};

	sigaction(SIGTRAP, &traps, NULL);
#endif
	sem_init(&semaphore, 0, 0);
	mtx_init(&c11_mutex, mtx_plain);
	for (size_t i = 0; i < sizeof(locks) / sizeof(*locks); i++)
		wake_once(&locks[i]);
	return 0;
}
