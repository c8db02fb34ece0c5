/*
 * The slow path's operations on a shadow stack (frames.h): calls that are recorded whatever
 * it takes, that are lost, or that ended without their exit hook.
 */
#ifndef FXT_AGENT_SHADOW_H
#define FXT_AGENT_SHADOW_H

#include "frames.h"

/* All functions below need: the writer is SLOW_PATH, the lock is not held, and the caller is
 * the thread that runs on the writer's stack. */

/*
 * Whether the writer records at all. Call it before any of the functions below. Calls left
 * open by an earlier run are recorded as abandoned, ending with that run.
 */
bool agent_may_record(struct fxt_thread_writer *writer);

/* Makes room on the shadow stack if necessary. Returns whether a frame can be pushed. */
bool agent_make_room(struct fxt_thread_writer *writer);

/* Opens a call that was open elsewhere: on its parent's shadow stack, or on its coroutine's
 * former one. `ref` is its function's here. False: there is no room. */
bool agent_push_inherited(struct fxt_thread_writer *writer, const struct fxt_frame *call, uint64_t ref);

/*
 * Writes the newest call or wait, which has this frame, whatever it takes, and takes the
 * frame off. If a call cannot be written, it is counted as lost. In a full oneshot buffer
 * the call stays below a mark instead, with all others (fxt_stack_keep). False: none of
 * this was done, because recording has ended since; the call is still open. An abandoned
 * call, left by longjmp, an exception or the end of its thread, has the argument
 * "abandoned".
 */
bool agent_end_frame(
        struct fxt_thread_writer *writer, const struct fxt_frame *frame, uint64_t end, bool is_abandoned);

/* Counts calls that cannot be recorded, the last one at `ticks`. */
void agent_count_lost(struct fxt_thread_writer *writer, uint64_t calls, uint64_t ticks);

/* Records the newest call as abandoned, ending at `end`, and takes it off. */
void agent_abandon_newest(struct fxt_thread_writer *writer, uint64_t end);

/* Records all calls as abandoned, ending now. */
void agent_abandon_all(struct fxt_thread_writer *writer);

/* Records all calls as ending now: their coroutine continues them on another row. */
void agent_suspend_all(struct fxt_thread_writer *writer);

/* Abandons the calls that a new entry at `stack_offset` finds dead. */
void agent_abandon_dead(struct fxt_thread_writer *writer, uint64_t stack_offset, const void *call_site);

/*
 * Abandons the calls that a jump to the frame at `stack_offset` left. Calls at the same
 * offset are abandoned too, except the oldest: a function that calls setjmp() is never
 * inlined, so the others were inlined into it. With `keep_equal` all of them stay, because
 * after a catch the agent cannot tell which one caught.
 */
void agent_abandon_below(struct fxt_thread_writer *writer, uint64_t stack_offset, bool keep_equal);

/*
 * Begins a wait inside a call at `stack_pointer`. `ref` and `symbol` are as in
 * writer/engine/waits.h. Returns the time, which is unique on the thread. 0: there is no room, and
 * the wait is not recorded.
 */
uint64_t agent_begin_wait(
        struct fxt_thread_writer *writer, uint64_t ref, uint32_t symbol, uint64_t stack_pointer);

/* Returns the frame of the wait that began at `begin`, for agent_end_frame(). It is the
 * newest frame, as calls inside the wait were left. NULL: the wait ended with an earlier
 * run. */
const struct fxt_frame *agent_find_wait(struct fxt_thread_writer *writer, uint64_t begin);

/* The frame of the newest call of `function`; NULL = there is none. */
struct fxt_frame *agent_find_frame(const struct fxt_thread_writer *writer, const void *function);

/*
 * A jump out of a signal handler has left the hook that the handler interrupted, at any
 * place in it. This takes off a frame if its record is written already. It also closes the
 * chunk, since its last record may be half written; committed records are whole. Afterwards
 * the thread may record into the writer again.
 */
void agent_finish_left_hook(struct fxt_thread_writer *writer);

#endif
