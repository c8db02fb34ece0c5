/*
 * Who waited for which lock, and who held it meanwhile: the waits of a trace (waits.h) by lock, and of each
 * lock the blame, which has for each path of calls that held it the time in which it was waited for.
 *
 *   lock index_lock     3 waits, 12 ms
 *     blame              keeper > rebuild_index held it for 10 ms, while main > handle > look_up waited
 *
 * A wait's time is in the blame once, divided among those who held the lock during it; after the release it
 * is nobody's, and before one that the trace does not have somebody's unknown.
 */
#ifndef FXT_READER_CONTENTION_H
#define FXT_READER_CONTENTION_H

#include "waits.h"

struct fxt_blame {
	uint32_t lock;                /* which, of fxt_contention.locks */
	uint32_t holder, holder_path; /* thread id; FXT_NOTHING: unknown */
	uint32_t waiter, waiter_path; /* paths are of fxt_waits.paths */
	bool is_free;                 /* it was released, and the waiter not on its way yet */
	uint64_t waits;               /* that have a part here */
	uint64_t ns;
};

struct fxt_contended_lock {
	uint64_t process, object;
	uint32_t symbol; /* FXT_NOTHING: it has none */
	uint32_t name;   /* of the function that waited first */
	uint64_t waits, ns, longest;
	uint64_t open;    /* waits that never ended */
	uint32_t at_once; /* how many waited at most */
};

struct fxt_contention {
	struct fxt_contended_lock *locks; /* what was waited for the longest first */
	struct fxt_blame *blames;         /* by lock, then the longest first */
	size_t lock_count, lock_room, blame_count, blame_room;
	struct fxt_index lock_index, blame_index;
};

/* Sums up the waits for locks and semaphores that the scan's filter chooses. Their paths are known
 * (fxt_waits_walk()). */
void fxt_contention_read(
        struct fxt_contention *contention, const struct fxt_waits *waits, const struct fxt_scan *scan);

void fxt_contention_free(struct fxt_contention *contention);

#endif
