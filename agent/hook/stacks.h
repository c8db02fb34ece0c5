/*
 * Finds the track that a call belongs to: the stack it runs on decides.
 *
 * A thread has a track for its own stack. Signal stacks have none: their calls nest on the
 * calls that they interrupted, wherever the stacks lie, also inside the thread's stack. The
 * agent learns of signal stacks from the program (contexts.c) or from the kernel. Every
 * other stack is a coroutine's, whatever thread runs it, and has a track of its own
 * (coroutines.h), so that its calls are never taken for calls of the thread that resumed
 * it. Coroutines' calls are recorded on the slow path.
 *
 * A handler that comes while its thread is inside a hook records in a second slot of the
 * same track ("nested").
 */
#ifndef FXT_AGENT_STACKS_H
#define FXT_AGENT_STACKS_H

#include <signal.h>
#include "coroutines.h"
#include "frames.h"

/* Passes the main thread's stack to agent_set_stack(). Called by the constructor. */
void agent_set_main_stack(void);

/* Whether an address is on the thread's own stack, and there is no need to look for a
 * coroutine. */
static inline bool agent_stack_is_own(uint64_t stack_pointer)
{
	return agent_stack_offset(stack_pointer) < agent_self.stack_bytes &&
	       !load_relaxed(&agent_stacks_on_stacks);
}

/*
 * Returns the writer for the code at `stack_pointer`: `own`, which is the calling thread's
 * and SLOW_PATH, or a coroutine's, SLOW_PATH too, for agent_coroutine_release(). NULL: the
 * stack is a coroutine's that has no writer. A call that begins (`is_call`) makes an
 * unknown stack that of a new coroutine. Without a writer it is counted as lost.
 */
struct fxt_thread_writer *agent_writer_at(
        struct fxt_thread_writer *own, uint64_t stack_pointer, bool is_call);

/* A stack pointer as the frames of a writer keep it. */
static inline uint64_t agent_frame_offset(const struct fxt_thread_writer *writer, uint64_t stack_pointer)
{
	return is_coroutines(writer) ? stack_pointer : agent_stack_offset(stack_pointer);
}

/* The calling thread has set this signal stack. */
void agent_set_signal_stack(const stack_t *stack);

/* Asks the kernel whether an address is on a signal stack that the agent does not know
 * yet. */
void agent_look_for_signal_stack(uint64_t address);

/*
 * The slow path needs this much of a stack. It takes locks with all signals blocked: a
 * program that uses its stack up, and handles that, must not reach the end of it there.
 * Calls need 1.3 KB, the heap 1.9.
 */
#define AGENT_STACK_LEAST 2048

/* Whether the calling hook has that many bytes of its stack left; true if the stack is
 * unknown. */
bool agent_stack_has(uint64_t bytes);

static inline bool agent_stack_is_short(void)
{
	return !agent_stack_has(AGENT_STACK_LEAST);
}

#endif
