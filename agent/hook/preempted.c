/*
 * Takes a thread out of a hook that it leaves behind, and puts it back (preempted.h). Runs
 * on the program's threads, in a signal handler that has interrupted a hook. Must never
 * make a writer idle while that hook may write to its chunk.
 */
#include "preempted.h"
#include "frames.h"
#include "shadow.h"

/* Whether the hook is on the thread's own stack. Its handler is on the same stack, or on a
 * signal stack. */
static bool preempted_is_on_own_stack(void)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);

	return !agent_self.coroutine &&
	       (agent_stack_offset(here) < agent_self.stack_bytes || agent_signal_stack_of(here));
}

/* Gives the thread another writer on the same track. False: there is none. */
static bool preempted_take_another_writer(void)
{
	struct fxt_thread_writer *other =
	        agent_self.other ?: fxt_thread_attach_nested(&agent_engine, agent_self.writer->number);

	if (!other)
		return false;
	agent_self.writer = other;
	agent_self.slot = fxt_slot(&agent_engine, other->number);
	agent_self.nested = agent_self.other = NULL;
	set_sentinel(agent_self.slot, agent_self.stack_bytes);
	return true;
}

/* Ends the handler's own calls, which are on the thread's track. Otherwise later calls of
 * that track would overlap them, since the handler returns only after those. */
static void preempted_end_calls_of_handler(void)
{
	struct fxt_thread_writer *nested = agent_self.nested;

	if (!nested || nested->busy != FXT_IDLE)
		return;
	store_relaxed(&nested->busy, FXT_SLOW_PATH);
	if (agent_may_record(nested))
		agent_abandon_all(nested);
	store_release(&nested->busy, FXT_IDLE);
}

/* With all signals blocked. */
static bool preempted_leave(struct agent_preempted *hook)
{
	struct fxt_thread_writer *writer = agent_self.writer;

	*hook = (struct agent_preempted){.thread = &agent_self,
	        .process = agent_engine.pid,
	        .writer = writer,
	        .nested = agent_self.nested,
	        .claimed = agent_self.claimed,
	        .slot = agent_self.slot};
	/* Hooks of coroutines find the limit 0, and so write nothing to this writer's
	 * chunk. */
	if (preempted_is_on_own_stack() || (writer->busy == FXT_WRITING && load_relaxed(&writer->limit)))
		return preempted_take_another_writer();
	preempted_end_calls_of_handler();
	hook->busy = writer->busy;
	agent_self.claimed = NULL;
	store_release(&writer->busy, FXT_IDLE);
	return true;
}

bool agent_preempt(struct agent_preempted *hook)
{
	uint64_t mask;
	bool is_left;

	if (load_relaxed(&sys_confinement) != SYS_FREE)
		return false;
	agent_block_signals_in_hooks();
	mask = sys_block_signals();
	is_left = preempted_leave(hook);
	sys_restore_signals(mask);
	return is_left;
}

void agent_preempted_returns(const struct agent_preempted *hook)
{
	uint64_t mask;

	/* The hook belongs to the thread and the process that left it. */
	if (hook->thread != &agent_self || hook->process != agent_engine.pid ||
	        fxt_engine_was_forked(&agent_engine))
		return;
	mask = sys_block_signals();
	if (agent_self.writer != hook->writer)
		agent_self.other = agent_self.writer;
	agent_self.writer = hook->writer;
	agent_self.slot = hook->slot;
	agent_self.nested = hook->nested;
	agent_self.claimed = hook->claimed;
	if (hook->busy != FXT_IDLE) {
		store_relaxed(&hook->writer->busy, hook->busy);
		agent_force_slow_path(hook->writer);
	}
	sys_restore_signals(mask);
}
