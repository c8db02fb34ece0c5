/*
 * Records of the agent's own, which no hook writes: events.h, sync.h, exec.h. A block is claimed for them, so
 * that no handler of the same thread tears them, and released.
 */
#ifndef FXT_AGENT_CLAIM_H
#define FXT_AGENT_CLAIM_H

#include "agent/base/self.h"

/* The thread's second block, for a handler inside a hook; NULL: it cannot have one, or another handler is
 * inside a hook on it already, and what comes now is lost. */
struct fxt_block *agent_nested(void);

/*
 * The block for records of the agent's own, with all hooks of the thread led into the nested one, until
 * agent_release(). NULL: nothing can be recorded here and now. From outside of hooks.
 */
struct fxt_block *agent_claim(void);
/* The same for a wait, which may come to leave no record: the call that it is inside of is kept (elided.h)
 * once it does. */
struct fxt_block *agent_claim_for_wait(void);
void agent_release(struct fxt_block *block);

/*
 * The calling thread is about to wait, or to become another user, whom the manager would refuse. A forked
 * child that has called nothing so far is born again by this, if its parent recorded waits; else the waits of
 * workers without instrumented code would be in no trace. What it has to know for that is noted around the
 * fork, as it cannot read its parent's categories any more. Forks past libc are not known of.
 */
void agent_child_begins(void);
void agent_child_before_fork(void);
void agent_child_made(void);

/* A time for the next record in a claimed block: later than all earlier ones. */
uint64_t agent_stamp(struct fxt_block *block);

#endif
