/*
 * Reads the memory of glibc's locks. It tells which thread holds a lock. Before a call that
 * releases one, it also tells whether the call frees the lock and whether it wakes a
 * thread. The caller passes the lock to libc next, so the program reads this memory anyway.
 * An answer is exact unless another thread changes the lock between the look and the call.
 *
 * A release wakes a thread once. If the lock is taken and freed again before that thread
 * runs, the second release wakes none.
 */
#ifndef FXT_AGENT_LOCK_STATE_H
#define FXT_AGENT_LOCK_STATE_H

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include "writer/shared/atomics.h"

enum lock_release {
	LOCK_STAYS, /* the lock remains held, by this thread or by other readers */
	LOCK_FREED, /* and no thread sleeps that the call would wake */
	LOCK_WAKES,
};

/* Bits of a mutex's kind. */
#define LOCK_TYPE         3
#define LOCK_ROBUST       16
#define LOCK_PRIO_INHERIT 32
#define LOCK_PRIO_PROTECT 64
#define LOCK_CEILING      0xfff80000u /* in the lock word of a PRIO_PROTECT mutex */

static inline enum lock_release lock_release_of_mutex(const pthread_mutex_t *mutex)
{
	int kind = load_relaxed(&mutex->__data.__kind);
	uint32_t word = (uint32_t)load_relaxed(&mutex->__data.__lock);

	if ((kind & LOCK_TYPE) == PTHREAD_MUTEX_RECURSIVE && load_relaxed(&mutex->__data.__count) > 1)
		return LOCK_STAYS;
	if (kind & (LOCK_ROBUST | LOCK_PRIO_INHERIT)) /* the word has the owner's id */
		return word & FUTEX_WAITERS ? LOCK_WAKES : LOCK_FREED;
	if (kind & LOCK_PRIO_PROTECT)
		word &= ~LOCK_CEILING;
	return word > 1 ? LOCK_WAKES : LOCK_FREED;
}

/* The number of the thread that holds the mutex; 0: none, or it is about to get or release
 * it. */
static inline uint32_t lock_holder_of_mutex(const pthread_mutex_t *mutex)
{
	if (load_relaxed(&mutex->__data.__kind) & (LOCK_ROBUST | LOCK_PRIO_INHERIT))
		return (uint32_t)load_relaxed(&mutex->__data.__lock) & FUTEX_TID_MASK;
	return (uint32_t)load_relaxed(&mutex->__data.__owner);
}

/* The number of the thread that holds it for writing. Readers leave no number. */
static inline uint32_t lock_holder_of_rwlock(const pthread_rwlock_t *rwlock)
{
	return (uint32_t)load_relaxed(&rwlock->__data.__cur_writer);
}

/* Bits of a rwlock's words. */
#define LOCK_WRITER_WAITS 2u /* in __readers: a writer has it, or waits for the readers */
#define LOCK_READERS_WAIT 4u /* in __readers: until that writer has had it */
#define LOCK_READER_SHIFT 3
#define LOCK_HAS_SLEEPER  2u /* in __wrphase_futex and __writers_futex */

/* `leaving` readers are inside the same call already, and may be counted still. */
static inline enum lock_release lock_release_of_rwlock(const pthread_rwlock_t *rwlock, uint32_t leaving)
{
	uint32_t word = load_relaxed(&rwlock->__data.__readers), readers = word >> LOCK_READER_SHIFT;
	bool phase_has_sleeper = load_relaxed(&rwlock->__data.__wrphase_futex) & LOCK_HAS_SLEEPER;
	bool wakes;

	if (load_relaxed(&rwlock->__data.__cur_writer)) {
		wakes = load_relaxed(&rwlock->__data.__writers_futex) & LOCK_HAS_SLEEPER ||
		        (readers && phase_has_sleeper);
	} else {
		if (readers > leaving + 1)
			return LOCK_STAYS;
		wakes = word & LOCK_READERS_WAIT || (word & LOCK_WRITER_WAITS && phase_has_sleeper);
	}
	return wakes ? LOCK_WAKES : LOCK_FREED;
}

/* A semaphore's value is its lower half, and the number of waiters its upper half. A waiter
 * counts until it has its token, so each token that is there belongs to one of them. */
static inline enum lock_release lock_release_of_semaphore(const sem_t *semaphore)
{
	uint64_t word = load_relaxed((const uint64_t *)(const void *)semaphore);

	return (uint32_t)word < word >> 32 ? LOCK_WAKES : LOCK_FREED;
}

#endif
