/*
 * The shadow stack of one slot: the calls that have begun, oldest first, above a sentinel that is no
 * function. What is done to it out of line is here; the hooks push and pop by themselves (functions.c).
 *
 * Places on a program's stack are kept as distances from that stack's lowest address, so that one comparison
 * tells that a stack pointer is higher than the newest call's or lies on another stack altogether: below the
 * lowest address the distance wraps round to a huge one. The sentinel's distance is the size of the stack.
 */
#ifndef FXT_AGENT_SHADOW_H
#define FXT_AGENT_SHADOW_H

#include "self.h"

static inline struct fxt_frame *slot_top(const struct fxt_thread_slot *slot)
{
	return (struct fxt_frame *)(uintptr_t)load_relaxed(&slot->top);
}

static inline void set_top(struct fxt_thread_slot *slot, const struct fxt_frame *top)
{
	/* Release: the frame is complete before the top covers it. Pairs with the collector's acquire. */
	store_release(&slot->top, (uint64_t)(uintptr_t)top);
}

static inline bool is_sentinel(const struct fxt_frame *frame)
{
	return frame->function == 0;
}

static inline void set_sentinel(const struct fxt_thread_slot *slot, uint64_t stack_bytes)
{
	fxt_slot_frames(&agent_engine, slot)[-1].stack_pointer = stack_bytes;
}

static inline bool is_frame_of(const struct fxt_frame *frame, const void *function)
{
	return fxt_function_is(frame->function, (uint64_t)(uintptr_t)function);
}

/*
 * A frame is dead, left by longjmp or an exception, when a new entry finds it on its own part of the stack:
 * lower than the newcomer, or as high but called from elsewhere. As high and called from the same place is an
 * inlined callee, whose hooks run in its caller's frame.
 */
static inline bool is_dead(const struct fxt_frame *frame, uint64_t place, const void *call_site)
{
	return frame->stack_pointer <= place && /* one test for the most frequent case, a callee of its own */
	       (frame->stack_pointer != place || frame->call_site != (uint64_t)(uintptr_t)call_site);
}

/* The thread's next hook, on whichever stack it may be, comes out of line to be looked at. From anywhere on
 * the thread. */
static inline void stay_out_of_line(struct fxt_block *block)
{
	store_relaxed(&block->limit, 0);
	store_relaxed(&block->top_limit, 0);
}

/* All below: SLOW_PATH in the block, without the lock, by the thread that runs on the block's stack. */

/*
 * Before anything else: whether the block records at all. Calls left open by an earlier run are recorded as
 * abandoned, ending with it.
 */
bool agent_may_record(struct fxt_block *block);

/*
 * Writes the call of a frame, whatever it takes, or counts it as lost. False: neither, because recording has
 * ended meanwhile; the call is open still. An abandoned call, left by longjmp, an
 * exception or the end of its thread, carries the argument "abandoned".
 */
bool agent_record_call(
        struct fxt_block *block, const struct fxt_frame *frame, uint64_t end, bool is_abandoned);

/* Counts calls that cannot be recorded, the first of them at `ticks`. */
void agent_lose(struct fxt_block *block, uint64_t calls, uint64_t ticks);

/* Records the newest call as abandoned, ending at `end`, and takes it off. */
void agent_abandon_newest(struct fxt_block *block, uint64_t end);

/* Records all calls as abandoned, ending now. */
void agent_abandon_all(struct fxt_block *block);

/*
 * The same for those that a new entry at `place` finds dead. Only handlers run outside of the stack of
 * `stack_bytes` (on a signal stack): they nest on what they interrupted, wherever their stack lies.
 */
void agent_abandon_dead(struct fxt_block *block, uint64_t place, const void *call_site, uint64_t stack_bytes);

/*
 * The same for those left by a jump to the frame at `place`. Calls as low as it are left too unless they are
 * the oldest there (a function that calls setjmp is inlined nowhere, so the others are inlined into it); with
 * `keep_equal` they stay, for where an exception is caught nobody knows which of them it was.
 */
void agent_abandon_below(struct fxt_block *block, uint64_t place, uint64_t stack_bytes, bool keep_equal);

/* The frame of the newest call of that function; NULL = there is none. */
struct fxt_frame *agent_find_frame(const struct fxt_block *block, const void *function);

/*
 * A jump out of a signal handler has left the hook which the handler had interrupted. What that hook may have
 * left half done is settled, and the block is the thread's again.
 */
void agent_settle_left_hook(struct fxt_block *block);

#endif
