/* Stacks that the program declares: the one on which a context of ucontext runs, and the
 * one for its signal handlers. Addresses alone are not enough: such a stack may be an array
 * in a function's frame, and then lies inside the thread's own stack. */
#include <signal.h>
#include "agent/base/arch.h"
#include "agent/base/attributes.h"
#include "jumps.h"
#include "agent/base/real.h"
#include "agent/hook/preempted.h"
#include "agent/hook/stacks.h"

/* ---- coroutines ---- */

static bool context_leaves_own_calls(uint64_t stack_pointer)
{
	const struct fxt_frame *newest = slot_top(agent_self.slot) - 1;

	return agent_stack_is_own(stack_pointer) && !is_sentinel(newest) &&
	       is_left(agent_self.writer, newest, agent_stack_offset(stack_pointer));
}

/* Only contexts made by makecontext() have known bounds. Others run on a stack that is
 * known already, or on an unknown one. */
static void context_runs_next(const ucontext_t *context)
{
	uint64_t low = (uint64_t)(uintptr_t)context->uc_stack.ss_sp, bytes = context->uc_stack.ss_size;
	uint64_t stack_pointer = arch_context_stack_pointer(context);

	if (load_relaxed(&agent_recording) == AGENT_QUIET || fxt_engine_was_forked(&agent_engine))
		return;
	if (!agent_attach())
		return;
	/* A context that was saved in a handler gives the signal stack as its own. */
	if (stack_pointer - low > bytes || agent_signal_stack_of(low))
		bytes = 0;
	/* A context may be made anew in the place of another one, or may have been saved by
	 * a caller. */
	if (agent_coroutine_runs(low, bytes, stack_pointer) || context_leaves_own_calls(stack_pointer))
		agent_jump_leaves(stack_pointer, true);
	/* The hooks' fast path would mistake a call on a part of the thread's stack for one
	 * of the thread's own. Also, the next hook may be the exit of a different call of
	 * the function whose frame is on top here. */
	agent_force_slow_path(agent_self.writer);
}

/* A handler that has interrupted a hook runs another context, and saves its own. */
static __attribute__((noinline)) int context_swap_in_hook(
        ucontext_t *restrict from, const ucontext_t *restrict to)
{
	struct agent_preempted hook;
	bool is_left = agent_preempt(&hook);
	int result;

	context_runs_next(to);
	result = REAL(swapcontext)(from, to);
	if (is_left)
		agent_preempted_returns(&hook);
	return result;
}

EXPORT int swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to)
{
	if (load_relaxed(&agent_recording) != AGENT_QUIET && agent_is_in_hook())
		return context_swap_in_hook(from, to);
	context_runs_next(to);
	/* A tail call: a context may be resumed more than once, and nothing of ours may
	 * then be on its stack. */
	return REAL(swapcontext)(from, to);
}

EXPORT int setcontext(const ucontext_t *to)
{
	context_runs_next(to);
	return REAL(setcontext)(to);
}

/* ---- signal stacks ---- */

EXPORT int sigaltstack(const stack_t *restrict stack, stack_t *restrict before)
{
	int result = REAL(sigaltstack)(stack, before);

	if (result == 0 && stack)
		agent_set_signal_stack(stack);
	return result;
}
