/*
 * Hooks that are left and come back. A scheduler may preempt its fibers: the handler of a
 * timer's signal saves the fiber that it interrupted by swapcontext(), and runs another
 * one. If it interrupted a hook, that hook goes on when the fiber is resumed.
 *
 * A hook has its thread's writer, and on a coroutine's stack the coroutine's writer too.
 * While it is away, the thread needs a writer for the hooks of other fibers:
 *
 *   the hook is a coroutine's       The hook needs the thread's writer only to be busy. So
 *                                   the writer becomes idle now, and busy again before the
 *                                   hook goes on.
 *   the hook is on the thread's     The hook may have half written its record. So the thread
 *   own stack, or writes to the     takes another writer until the hook goes on. No other
 *   writer's chunk                  code runs on the thread's own stack until then.
 *
 * This works for one hook of a thread at a time. Therefore all hooks of the process block
 * signals from the first such switch on, and so do claims (claim.h). Nothing can preempt
 * them then.
 */
#ifndef FXT_AGENT_PREEMPTED_H
#define FXT_AGENT_PREEMPTED_H

#include "agent/base/self.h"

/* A hook that is away. It lies on the stack of the fiber. */
struct agent_preempted {
	const struct agent_self *thread;
	int process;
	struct fxt_thread_writer *writer, *nested, *claimed;
	struct fxt_thread_slot *slot;
	/* what the writer becomes again; FXT_IDLE: it stayed busy, and the thread has
	 * another */
	uint32_t busy;
};

/* Call this in a handler that has interrupted a hook, before the thread runs another
 * context. Fills *hook, and takes the thread out of the hook. False: that is not
 * possible. */
bool agent_preempt(struct agent_preempted *hook);

/* Call this when the fiber of the hook was resumed. Puts the thread back into the hook. */
void agent_preempted_returns(const struct agent_preempted *hook);

#endif
