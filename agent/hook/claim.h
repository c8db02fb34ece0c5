/*
 * Records that the agent writes outside of hooks: events.h, sync.h, exec.h. It claims a
 * writer for them, so that no handler of the same thread tears them, and releases it
 * afterwards.
 */
#ifndef FXT_AGENT_CLAIM_H
#define FXT_AGENT_CLAIM_H

#include "agent/base/self.h"

/* Returns the thread's second writer, for a handler inside a hook. NULL: the thread cannot
 * have one, or another handler is already inside a hook on it; calls that begin now are
 * lost. */
struct fxt_thread_writer *agent_nested(void);

/*
 * Returns the writer for the agent's own records. Until agent_release() all hooks of the
 * thread use the nested writer. NULL: nothing can be recorded here and now. Call it outside
 * of hooks.
 */
struct fxt_thread_writer *agent_claim(void);
/* Claims the writer for a wait, which may end without a record. Once the wait is recorded,
 * the call around it is kept too (elided.h). */
struct fxt_thread_writer *agent_claim_for_wait(void);
void agent_release(struct fxt_thread_writer *writer);

/*
 * The calling thread is about to wait, or to become another user, which the manager would
 * refuse.
 *
 * A forked child that has called nothing so far is reborn by this, if its parent recorded
 * waits. Otherwise no trace would have the waits of workers without instrumented code. The
 * child cannot read its parent's categories any more, so the agent notes around the fork
 * what the child has to know. It does not see forks that bypass libc.
 */
void agent_child_begins(void);
void agent_child_before_fork(void);
void agent_child_made(void);

/* A time for the next record in a claimed writer, later than all earlier ones. */
uint64_t agent_stamp(struct fxt_thread_writer *writer);

#endif
