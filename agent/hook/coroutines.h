/*
 * The stacks of coroutines, and the rows of the trace that their calls go to.
 *
 * A coroutine is code on a stack that is neither its thread's own nor a signal stack (stacks.h). The program
 * may have any number of them. Each is known by the range of its stack: exactly, where the program told it
 * (contexts.c), else by the stack pointers of its calls. A stack can be a part of another one, of a thread's
 * or of a coroutine's, as a local array of a function there. The inner one counts while it runs. Once frames
 * of the outer stack cover it, its function has returned and the coroutine is gone.
 *
 * A coroutine needs a row, which is a slot of the engine, while it has calls open. There are at most
 * AGENT_ROWS. A coroutine that begins a call while every row has open calls takes the row that was not used
 * for longest. The calls that are open there end in the trace at that moment, each recorded once. Its
 * coroutine keeps them apart, and when it runs again they are open on the row it gets then, as inherited
 * (writer/inherited.h): those slices tell what its later calls are inside of, and count nothing.
 *
 *   row 7    | f                 ||inherited g       |      f was suspended, g goes on
 *            |  | f's callee     ||   | g's callee | |
 */
#ifndef FXT_AGENT_COROUTINES_H
#define FXT_AGENT_COROUTINES_H

#include "agent/base/self.h"

#define AGENT_ROWS 2048

struct agent_coroutine;

/* Whether the stack of some coroutine is a part of a thread's. */
extern bool agent_stacks_on_stacks;

/*
 * Whether `stack_pointer` is on a coroutine's stack. If so *block is the coroutine's, SLOW_PATH, for
 * agent_coroutine_release(); or NULL, because the coroutine has none and cannot have one now. A call that
 * begins (`is_call`) gets one if it can, and counts as lost otherwise. The thread's own block is SLOW_PATH.
 */
bool agent_coroutine_claim(uint64_t stack_pointer, bool is_call, struct fxt_block **block);

/* The same for a stack that is known to be a coroutine's, which may be new. */
struct fxt_block *agent_coroutine_claim_new(uint64_t stack_pointer);

/* The block of the coroutine that the thread ran last, SLOW_PATH, if that has open calls; else NULL. A
 * handler on a signal stack interrupted it. */
struct fxt_block *agent_coroutine_claim_interrupted(void);

/* The thread is done with a block that it claimed; does nothing to its own. */
void agent_coroutine_release(struct fxt_block *block);

/* The calling thread is about to go on at `stack_pointer`, on the stack of these bounds, which are exact;
 * `bytes` 0: somewhere that is known already, or not at all. Whether that leaves calls of a coroutine. */
bool agent_coroutine_runs(uint64_t low, uint64_t bytes, uint64_t stack_pointer);

/* These addresses are a new thread's stack: no coroutine is there any more. */
void agent_coroutines_leave(uint64_t low, uint64_t bytes);

/* In a forked child: the slots of coroutines were its parent's. */
void agent_coroutines_forget(void);

#endif
