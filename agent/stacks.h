/*
 * Which row of the trace a call belongs to: the stack it runs on tells.
 *
 * A thread has a row of its own for its own stack, and for signal stacks, whose calls nest on what they
 * interrupted. Every other stack is a coroutine's, whatever thread runs it: it has a slot and a row of its
 * own, named after the thread that brought it first, so that its calls are never taken for those of whoever
 * resumed it. They are recorded on the slow path. Where the bounds of its stack are known (ucontext) that is
 * exact; of a context that a program switches to by itself only the stack pointers of its calls are known,
 * and a call is its own if it is near the newest one.
 *
 * A handler that comes while its thread is inside a hook records in a second slot of the same row ("nested").
 */
#ifndef FXT_AGENT_STACKS_H
#define FXT_AGENT_STACKS_H

#include "self.h"

/* Tells agent_set_stack() of the main thread. From the constructor. */
void agent_set_main_stack(void);

/* Whether some coroutine's stack is a part of a thread's. */
extern bool agent_stacks_on_stacks;

/* Whether the thread's own stack holds no coroutine's, and this address is on it: then nobody need look for a
 * coroutine.
 */
static inline bool agent_stack_is_own(uint64_t stack_pointer)
{
	return agent_stack_offset(stack_pointer) < agent_self.stack_bytes &&
	       !load_relaxed(&agent_stacks_on_stacks);
}

/* The coroutine on whose stack that is, or NULL. With `create`, a call that begins, a stack that belongs to
 * nobody becomes that of a new coroutine; where as many as can be have calls open, the call is counted as
 * lost. Without the engine's lock. */
struct fxt_block *agent_coroutine_at(uint64_t stack_pointer, bool create);

/* The calling thread is about to run a coroutine on this stack, whose bounds are exact from now on. */
void agent_coroutine_bounds(uint64_t low, uint64_t bytes);

/* In a forked child: the slots of coroutines were its parent's. */
void agent_coroutines_forget(void);

/* Whether an address is on the signal stack that this thread runs on now. */
bool agent_is_on_signal_stack(uint64_t address);

/*
 * Whether the calling hook has less than 2 KiB of its stack left. What takes the slow path needs a stack,
 * and takes locks with all signals blocked: a program that uses its stack up, and handles that, must not meet
 * the end of it there. Calls need 1.3 KB, the heap 1.9. False where nobody knows the stack.
 */
bool agent_stack_is_short(void);

#endif
