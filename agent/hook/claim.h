/*
 * Claims a thread's writer for records that the agent writes outside of hooks (events.h,
 * sync.c, exec.h), and releases it afterwards. Meanwhile a signal handler on the same
 * thread uses the nested writer, so that it cannot tear the record.
 */
#ifndef FXT_AGENT_CLAIM_H
#define FXT_AGENT_CLAIM_H

#include "agent/base/self.h"

/* Returns the thread's nested writer, for a handler that interrupted a hook. NULL: the
 * thread cannot have one, or another handler that was interrupted uses it; calls that begin
 * now are lost. */
struct fxt_thread_writer *agent_nested(void);

/*
 * Claims the calling thread's writer for a record of the agent's own, and returns it. Until
 * agent_release() all hooks of the thread use the nested writer, and signals are blocked if
 * handlers run other code of the thread (preempted.h). The call around the record is not
 * elided any more (elided.h). NULL: nothing can be recorded here and now. Call it outside
 * of hooks.
 */
struct fxt_thread_writer *agent_claim(void);
/* The same for a wait. A wait may end without a record; agent_end_frame() keeps the call
 * around it from being elided if there is one. */
struct fxt_thread_writer *agent_claim_for_wait(void);
/* The same as agent_claim() for something that begins like a call: an unknown stack becomes
 * that of a new coroutine. */
struct fxt_thread_writer *agent_claim_for_call(void);
void agent_release(struct fxt_thread_writer *writer);

/*
 * Call this before the thread waits, and before it becomes another user, whose connection
 * the manager would refuse.
 *
 * A forked child starts its own recording at its first hook: its rebirth. If there was no
 * hook so far and its parent recorded waits, this function starts it. Otherwise no trace
 * would have the waits of workers without instrumented code. The child cannot read its
 * parent's categories any more. Therefore agent_child_before_fork() and agent_child_made(),
 * which a fork of libc calls, note them. After other forks this function does nothing.
 */
void agent_child_begins(void);
void agent_child_before_fork(void);
void agent_child_made(void);

/* Returns the present time for the next record of a claimed writer, later than all its
 * earlier times. */
uint64_t agent_stamp(struct fxt_thread_writer *writer);

#endif
