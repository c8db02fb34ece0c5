/*
 * The slow path's operations on a shadow stack (frames.h): ending calls that the fast path
 * has no room for, counting lost calls, and ending calls that have no exit hook.
 */
#ifndef FXT_AGENT_SHADOW_H
#define FXT_AGENT_SHADOW_H

#include "frames.h"

/* All functions below are for the thread that runs on the writer's stack. The writer is
 * SLOW_PATH, and the thread does not hold the engine's lock. */

/*
 * Whether the writer may record now. Call it before any of the functions below. It also
 * ends calls that an earlier run left open: they are recorded as abandoned at the end of
 * that run.
 */
bool agent_may_record(struct fxt_thread_writer *writer);

/*
 * Makes the writer's next record later than `ticks`, a time of another writer of its track.
 * If the writer's open calls belong to an earlier run, they still end with that run: `last`
 * at its end is kept.
 */
static inline void agent_raise_last(struct fxt_thread_writer *writer, uint64_t ticks)
{
	if (ticks <= writer->last)
		return;
	if (writer->run != load_relaxed(&agent_engine.run) && !writer->run_last)
		writer->run_last = writer->last;
	store_relaxed(&writer->last, ticks);
}

/* Makes room on the shadow stack if necessary. Returns whether a frame can be pushed. */
bool agent_make_room(struct fxt_thread_writer *writer);

/* Opens a call that was open elsewhere: in the process's parent, or on its coroutine's
 * former track. `ref` is the function's reference in this process. False: there is no
 * room. */
bool agent_push_inherited(struct fxt_thread_writer *writer, const struct fxt_frame *call, uint64_t ref);

/*
 * Writes the record of the newest call or wait, which has this frame, and takes the frame
 * off. May take new chunks and wait for the manager. If there is no room, a call is counted
 * as lost. In a full oneshot buffer the frame stays, with all those below it, for a
 * collector (fxt_stack_keep). False: recording has ended since, and the call is still open.
 * An abandoned call, left by longjmp, an exception or the end of its thread, has the
 * argument "abandoned".
 */
bool agent_end_frame(
        struct fxt_thread_writer *writer, const struct fxt_frame *frame, uint64_t end, bool is_abandoned);

/* Counts calls as lost. The last of them ended at `ticks`. */
void agent_count_lost(struct fxt_thread_writer *writer, uint64_t calls, uint64_t ticks);

/* Records the newest call as abandoned, ending at `end`, and takes it off. */
void agent_abandon_newest(struct fxt_thread_writer *writer, uint64_t end);

/* Records all calls as abandoned, ending now. */
void agent_abandon_all(struct fxt_thread_writer *writer);

/* Records all calls as ending now, and not as abandoned: their coroutine continues them on
 * another track. */
void agent_suspend_all(struct fxt_thread_writer *writer);

/* Abandons the calls that a new call at `stack_offset` shows to be dead (is_dead() in
 * frames.h). */
void agent_abandon_dead(struct fxt_thread_writer *writer, uint64_t stack_offset, const void *call_site);

/*
 * Abandons the calls that a jump to the frame at `stack_offset` left. Calls at the same
 * offset are abandoned too, except the oldest: a function that calls setjmp() is never
 * inlined, so the others were inlined into it. With `keep_equal` all of them stay, because
 * after a catch the agent cannot tell which one caught.
 */
void agent_abandon_below(struct fxt_thread_writer *writer, uint64_t stack_offset, bool keep_equal);

/*
 * Begins a wait inside a call at `stack_pointer`. `ref` and `site` are as in
 * writer/engine/waits.h. Returns the time, which is unique on the thread. 0: there is no
 * room, and the wait is not recorded.
 */
uint64_t agent_begin_wait(
        struct fxt_thread_writer *writer, uint64_t ref, uint64_t site, uint64_t stack_pointer);

/* Returns the frame of the wait that began at `begin`, for agent_end_frame(). Abandons
 * calls that are still open inside the wait, so it is the newest frame. NULL: the wait
 * ended with an earlier run. */
const struct fxt_frame *agent_find_wait(struct fxt_thread_writer *writer, uint64_t begin);

/* Returns the frame of the newest call of `function`, or NULL. */
struct fxt_frame *agent_find_frame(const struct fxt_thread_writer *writer, const void *function);

/*
 * Completes a hook that will not continue, because a jump left the signal handler that had
 * interrupted it. If the newest frame's record is written already, takes the frame off.
 * Closes the chunk, because its last record may be half written; committed records are
 * whole. Afterwards the thread may record into the writer again.
 */
void agent_finish_left_hook(struct fxt_thread_writer *writer);

#endif
