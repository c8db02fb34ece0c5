/*
 * Deadlocks at the end of a trace. In a deadlock threads wait for each other in a circle: each
 * waits for a lock of the next one, or joins it. All commands print the same text about one.
 */
#ifndef FXT_FXT_DEADLOCKS_H
#define FXT_FXT_DEADLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include "reader/time/waits.h"

/* A wait that never ended, for a lock or for the end of a thread. */
struct fxt_open_wait {
	struct fxt_wait wait;
	uint64_t koid; /* of the waiting thread */
	size_t circle; /* number of the deadlock that it is part of, from 1 on; 0: of none */
	size_t next;   /* in a deadlock: the place of the wait of the thread that it waits for */
};

struct fxt_deadlocks {
	struct fxt_open_wait *waits; /* by koid, then the innermost wait first */
	size_t count, room;
	size_t circles; /* number of deadlocks */
};

/* Finds the open waits and the circles among them. A circle is closed if each lock's holder
 * is known, and waits in turn. */
void fxt_deadlocks_find(struct fxt_deadlocks *d, const struct fxt_waits *waits, const struct fxt_scan *scan);

/* Prints a note about each deadlock with a wait that the scan's filter chooses. The waits'
 * paths must be known (fxt_waits_walk()). */
void fxt_deadlocks_print(
        const struct fxt_deadlocks *d, const struct fxt_waits *waits, const struct fxt_scan *scan);

/* Finds and prints the deadlocks, for a command that does not need the paths of all waits. It
 * walks the trace only if there may be a deadlock. Returns false if not all of the file could
 * be read again. */
bool fxt_deadlocks_tell(struct fxt_waits *waits, const struct fxt_scan *scan);

void fxt_deadlocks_free(struct fxt_deadlocks *d);

#endif
