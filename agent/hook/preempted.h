/*
 * Hooks that are left and come back. A scheduler may preempt its fibers: the handler of a
 * timer's signal saves the fiber that it interrupted by swapcontext(), and runs another one.
 * If it interrupted a hook, that hook goes on when the fiber is resumed.
 *
 * A hook has its thread's writer, and on a coroutine's stack the coroutine's writer too.
 * While it is away, the thread needs a writer for the hooks of other fibers:
 *
 *   the hook is a coroutine's       it only keeps the thread's writer busy. That one is idle
 *                                   meanwhile, and busy again before the hook goes on.
 *   it is on the thread's own       its record may be half written. No other code runs on
 *   stack, or writes to the         that stack meanwhile. The thread takes another writer
 *   writer's chunk                  for other fibers, until the hook goes on.
 *
 * This is right for one hook of a thread at a time. So from the first time on all hooks of
 * the process block signals, and none is preempted any more.
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
	uint32_t busy; /* what the writer is to be again; FXT_IDLE: it stays busy */
};

/* The calling thread, in a handler that has interrupted a hook, is about to run another
 * context. Fills *hook, and the thread is outside of hooks then. False: that is not
 * possible. */
bool agent_preempt(struct agent_preempted *hook);

/* The fiber of the hook was resumed. */
void agent_preempted_returns(const struct agent_preempted *hook);

#endif
