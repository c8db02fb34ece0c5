/*
 * Sums up the waits of a trace (waits.h) by lock: which threads waited, and which held the
 * lock during that time. A lock's blame has, for each call path that held it, the time for
 * which other threads waited.
 *
 *   lock index_lock     3 waits, 12 ms
 *     blame              keeper > rebuild_index held it for 10 ms, while main > handle > look_up waited
 *
 * A wait's time is in the blame once, divided among the threads that held the lock during
 * it. The time after the release belongs to no holder. If the trace has no release of the
 * lock, the time belongs to the thread that had the lock when the wait began, if that is
 * known: the wait goes on, or code that is not recorded released the lock.
 */
#ifndef FXT_READER_CONTENTION_H
#define FXT_READER_CONTENTION_H

#include "waits.h"

struct fxt_blame {
	uint32_t lock;                /* index into fxt_contention.locks */
	uint32_t holder, holder_path; /* thread id, by its release; FXT_NOTHING: unknown */
	uint64_t keeper;              /* koid of the holder without a release; 0: unknown */
	uint32_t waiter, waiter_path; /* paths are of fxt_waits.paths */
	bool is_free;                 /* the lock was released, and the waiter not running
	                                 yet */
	uint64_t waits;               /* with a part here */
	uint64_t ns;
};

struct fxt_contended_lock {
	uint64_t process, object;
	uint32_t life;   /* how many locks ended at this address before it */
	uint32_t symbol; /* FXT_NOTHING: it has none */
	uint32_t name;   /* of the function of the first wait */
	uint64_t waits, ns, longest;
	uint64_t open;    /* waits without an end */
	uint32_t at_once; /* the most waiters at a time */
};

struct fxt_contention {
	struct fxt_contended_lock *locks; /* longest waited for first */
	struct fxt_blame *blames;         /* by lock, then longest first */
	size_t lock_count, lock_room, blame_count, blame_room;
	struct fxt_index lock_index, blame_index;
};

/* Sums up the waits for locks and semaphores that the scan's filter chooses. Their paths
 * must be known (fxt_waits_walk()). */
void fxt_contention_read(
        struct fxt_contention *contention, const struct fxt_waits *waits, const struct fxt_scan *scan);

void fxt_contention_free(struct fxt_contention *contention);

#endif
