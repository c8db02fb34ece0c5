/*
 * Tells readers that a lock's life ends: an instant "lock ends" of category "sync" with the
 * address in its argument "object". Later waits at this address are for another lock.
 *
 * A life ends when the program destroys or initialises the lock, frees the block that holds
 * it, if the heap is recorded, or leaves the call that has it on its stack. The last is
 * noticed at the next wait at the address. Only locks that a thread has waited for get a
 * record. The others cost one look into a set.
 */
#ifndef FXT_AGENT_LOCK_LIVES_H
#define FXT_AGENT_LOCK_LIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "agent/base/attributes.h"
#include "writer/engine/thread_writer.h"
#include "writer/shared/atomics.h"

/* A thread begins to wait for the lock, which is in a variable with static storage or may
 * be on a stack. Called before the wait gets its begin. */
void agent_lock_is_awaited(const void *lock, bool is_static);

/* Writes a userspace-object record for the lock, unless the trace has one of its present
 * life: its name is the type that the waiting call takes, as in "pthread_mutex_t". So the
 * argument "object" of a wait leads to an object. SLOW_PATH. */
void agent_lock_describe(struct fxt_thread_writer *writer, const void *lock, const char *call);

/* In a forked child, which has no waits of its own yet. */
void agent_lock_lives_forget(void);

/* The highest address of a lock that a thread has waited for; 0: there was no wait. */
extern HIDDEN uint64_t agent_locks_high;

/* Ends the lives of all locks in these bytes. */
void agent_locks_end(const void *memory, size_t bytes);

/* The block of `bytes` bytes is about to be freed. */
static inline void agent_locks_freed(const void *block, size_t bytes)
{
	if (unlikely((uint64_t)(uintptr_t)block <= load_relaxed(&agent_locks_high)))
		agent_locks_end(block, bytes);
}

#endif
