/*
 * What is done to a shadow stack (frames.h) on the slow path: calls that are recorded whatever it takes, that
 * are lost, or that ended without their exit hook.
 */
#ifndef FXT_AGENT_SHADOW_H
#define FXT_AGENT_SHADOW_H

#include "frames.h"

/* All below: SLOW_PATH in the block, without the lock, by the thread that runs on the block's stack. */

/*
 * To be asked before any other of these: whether the block records at all. Calls left open by an earlier run
 * are recorded as abandoned, ending with it.
 */
bool agent_may_record(struct fxt_block *block);

/* Whether a frame can be pushed on the shadow stack, which has made room for it. */
bool agent_make_room(struct fxt_block *block);

/* Opens a call that was open elsewhere, on its parent's shadow stack or its coroutine's former one; `word` is
 * its function's here. False: there is no room. */
bool agent_push_inherited(struct fxt_block *block, const struct fxt_frame *call, uint64_t word);

/*
 * Writes the newest call or wait, of this frame, whatever it takes, and takes it off; or counts it as lost if
 * it is a call. In a oneshot buffer that is full it stays below a mark instead, with all others
 * (fxt_stack_keep). False: nothing of that, because recording has ended meanwhile; the call is open still. An
 * abandoned call, left by longjmp, an exception or the end of its thread, carries the argument "abandoned".
 */
bool agent_end_frame(struct fxt_block *block, const struct fxt_frame *frame, uint64_t end, bool is_abandoned);

/* Counts calls that cannot be recorded, the last of them at `ticks`. */
void agent_count_lost(struct fxt_block *block, uint64_t calls, uint64_t ticks);

/* Records the newest call as abandoned, ending at `end`, and takes it off. */
void agent_abandon_newest(struct fxt_block *block, uint64_t end);

/* Records all calls as abandoned, ending now. */
void agent_abandon_all(struct fxt_block *block);

/* Records all calls as ending now: their coroutine goes on with them on another row. */
void agent_suspend_all(struct fxt_block *block);

/* Abandons the calls that a new entry at `stack_offset` finds dead. */
void agent_abandon_dead(struct fxt_block *block, uint64_t stack_offset, const void *call_site);

/*
 * The same for those left by a jump to the frame at `stack_offset`. Calls as low as it are left too unless
 * they are the oldest there (a function that calls setjmp is inlined nowhere, so the others are inlined into
 * it); with `keep_equal` they stay, for where an exception is caught nobody knows which of them it was.
 */
void agent_abandon_below(struct fxt_block *block, uint64_t stack_offset, bool keep_equal);

/*
 * A wait begins, in a call whose stack pointer is `stack_pointer`; `word` and `symbol` as writer/waits.h has
 * them. Returns the time, which is unique on the thread; 0: there is no room, it is not recorded.
 */
uint64_t agent_begin_wait(struct fxt_block *block, uint64_t word, uint32_t symbol, uint64_t stack_pointer);

/* The frame of the wait that began at `begin`, for agent_end_frame(): the newest, as calls inside of it were
 * left. NULL: it ended with an earlier run. */
const struct fxt_frame *agent_find_wait(struct fxt_block *block, uint64_t begin);

/* The frame of the newest call of that function; NULL = there is none. */
struct fxt_frame *agent_find_frame(const struct fxt_block *block, const void *function);

/*
 * A jump out of a signal handler has left the hook that the handler interrupted, wherever in it that was.
 * Takes off a frame whose record is written already, and closes the chunk, whose last record may be half
 * written: what was committed is whole. Afterwards the thread may record into the block again.
 */
void agent_finish_left_hook(struct fxt_block *block);

#endif
