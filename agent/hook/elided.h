/*
 * Calls that are elided when they end, because they were short (fxtrun --min-duration) or
 * because their function had used up its calls when they began (--max-calls). Sessions with
 * such limits send all calls to agent_enter_general() and agent_leave_general(), as do
 * sessions that filter by caller (filter.h).
 *
 * A call is recorded, however short, if something inside it is recorded: another call, a
 * wait, an event, or a slice for losses. Otherwise that record would have no caller in the
 * trace, and the elided time would not belong to one caller alone. Calls that cannot be
 * accounted for are recorded too: calls of a function without an index of its own, of a
 * handler that came into a hook or into a wait, and of threads beyond those with a table.
 * An inherited call (writer/format/inherited.h) is shown unless it is short or was one too
 * many, and is in no sum.
 *
 *   main     |---------------------------------------|     kept: long
 *   serve       |----------------|  |--|                   kept, kept: a wait is inside of it
 *   parse         |-|  |--|                                elided; lock's wait below is recorded
 *   lock                            |w|
 */
#ifndef FXT_AGENT_ELIDED_H
#define FXT_AGENT_ELIDED_H

#include "frames.h"
#include "writer/engine/elided.h"

/* Something is recorded inside the newest call of the writer, so that call is recorded too.
 * The writer is SLOW_PATH. */
void agent_keep_newest(const struct fxt_thread_writer *writer);

/* A frame is about to be taken off and is recorded: keeps the call around it. */
static inline void agent_keep_around(const struct fxt_frame *frame)
{
	struct fxt_frame *around = (struct fxt_frame *)(uintptr_t)(frame - 1);

	around->call_site |= FXT_FRAME_KEPT; /* has no effect in a sentinel */
}

/* A frame without a record is about to be taken off: records inside it are now inside the
 * call around it. */
static inline void agent_keep_around_kept(const struct fxt_frame *frame)
{
	if (frame->call_site & FXT_FRAME_KEPT)
		agent_keep_around(frame);
}

/* A frame was pushed for a call that may be elided. The writer is not IDLE, here and
 * below. */
void agent_count_entered(
        struct fxt_thread_writer *writer, struct fxt_thread_slot *slot, struct fxt_frame *frame);

/* Whether the newest call, which has this frame and ends at `end`, is elided. If so, it is
 * counted and its frame taken off. */
bool agent_elides(struct fxt_thread_writer *writer, struct fxt_thread_slot *slot,
        const struct fxt_frame *frame, uint64_t end);

/* Whether the newest call, which has this frame, was being elided when a jump left the hook
 * that did it. If so, the call counts, and its frame is still to be taken off. */
bool agent_was_eliding(const struct fxt_thread_writer *writer, const struct fxt_frame *frame);

#endif
