/*
 * The stacks of coroutines, and the tracks of the trace for their calls.
 *
 * A coroutine is code on a stack that is neither its thread's own nor a signal stack
 * (stacks.h). A program may have any number of them. The agent knows each by the range of
 * its stack: exactly if the program set it (contexts.c), otherwise from the stack pointers
 * of its calls. A stack can be part of another one, a thread's or a coroutine's, for
 * example as a local array of a function there. The inner stack counts while it runs. Once
 * frames of the outer stack cover it, its function has returned and the coroutine is gone.
 *
 * A coroutine needs a track while it has calls open. A track is a slot of the engine, and
 * there are at most AGENT_TRACKS. If every track has open calls, a coroutine that begins a
 * call takes the least recently used track. The calls open on that track end in the trace
 * at that moment, and each is recorded once. Their coroutine keeps them aside. When it runs
 * again they are open on its new track, as inherited calls (writer/format/inherited.h):
 * those slices show what its later calls are inside of, and count nothing.
 *
 *   track 7    | f                 ||inherited g       |      f was suspended, g goes on
 *            |  | f's callee     ||   | g's callee | |
 */
#ifndef FXT_AGENT_COROUTINES_H
#define FXT_AGENT_COROUTINES_H

#include "agent/base/self.h"

#define AGENT_TRACKS 2048

struct agent_coroutine;

/* Whether the stack of some coroutine is part of a thread's stack. */
extern bool agent_stacks_on_stacks;

/*
 * Whether `stack_pointer` is on a coroutine's stack. If so, *writer is the coroutine's
 * writer, SLOW_PATH, for agent_coroutine_release(). *writer is NULL if the coroutine has
 * none and cannot have one now. A call that begins (`is_call`) gets a writer if possible,
 * and otherwise counts as lost. The thread's own writer is SLOW_PATH.
 */
bool agent_coroutine_claim(uint64_t stack_pointer, bool is_call, struct fxt_thread_writer **writer);

/* Claims the writer for a stack that is known to be a coroutine's, possibly a new one's. */
struct fxt_thread_writer *agent_coroutine_claim_new(uint64_t stack_pointer);

/* Returns the writer, SLOW_PATH, of the coroutine that the thread ran last, if that
 * coroutine has open calls; otherwise NULL. A handler on a signal stack interrupted it. */
struct fxt_thread_writer *agent_coroutine_claim_interrupted(void);

/* The thread is done with a writer that it claimed. Does nothing to the thread's own
 * writer. */
void agent_coroutine_release(struct fxt_thread_writer *writer);

/* The calling thread is about to continue at `stack_pointer`, on the stack with these exact
 * bounds. `bytes` is 0 if the stack is known already or unknown. Returns whether this
 * leaves calls of a coroutine. */
bool agent_coroutine_runs(uint64_t low, uint64_t bytes, uint64_t stack_pointer);

/* These addresses are a new thread's stack: no coroutine is there any more. */
void agent_coroutines_leave(uint64_t low, uint64_t bytes);

/* In a forked child: the slots of coroutines were its parent's. */
void agent_coroutines_forget(void);

#endif
