/*
 * Waits that began before their process was attached to. The agent knows nothing of them,
 * so the manager looks from time to time whether the threads still wait. At the end it
 * writes them to the trace: as waits, inside of inherited calls (writer/format/inherited.h)
 * of the functions that the threads are in.
 *
 *   ADDED --the thread is back in its call--> WAITING --it has left it, or recorded--> OVER
 *         --it is elsewhere-----------------> LEFT    --it was killed----------------> ENDED_WAITING
 *
 * A thread's own records begin when it goes on, and lie behind its earlier wait. Therefore
 * the wait ends at the last look that found it unchanged.
 */
#ifndef FXT_LAUNCHER_FXTRUN_EARLIER_WAITS_H
#define FXT_LAUNCHER_FXTRUN_EARLIER_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include "launcher/attach/waiting.h"
#include "launcher/manager/session.h"

struct fxt_earlier_waits {
	struct fxt_earlier_wait *items;
	size_t count, room;
	size_t next; /* to be looked at */
};

/* A thread of a process that is attached to by now. If memory is short, it is left out. */
void fxt_earlier_waits_add(struct fxt_earlier_waits *waits, const struct fxt_session *session,
        const struct fxt_waiting *waiting);

/* Looks at some of the waits. Must be called now and then. */
void fxt_earlier_waits_look(struct fxt_earlier_waits *waits, const struct fxt_session *session);

/* The last look, at all. False: it is too early, because a thread is not back in its call
 * yet. Do not look any more afterwards. */
bool fxt_earlier_waits_end(struct fxt_earlier_waits *waits, const struct fxt_session *session);

/* Writes the records, and frees everything. Returns the number of waits. */
size_t fxt_earlier_waits_write(struct fxt_earlier_waits *waits, struct fxt_session *session);

#endif
