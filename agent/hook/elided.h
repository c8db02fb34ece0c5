/*
 * Elided calls when they end, because they were short (fxtrun --min-duration), or because their
 * function had its calls when they began (--max-calls). Sessions in which that can be send all calls to
 * agent_enter_general() and agent_leave_general(), as those do that filter by what calls are inside of
 * (filter.h).
 *
 * A call is recorded, however short, if something inside of it is: another call, a wait, an event, or a slice
 * for what was lost. Else what is recorded would hang in the air, and what is left out would be no part of
 * its caller's time alone. So is a call of which no account can be kept: of a function without an index of
 * its own, of a handler that came into a hook or into a wait, of a thread beyond those that have a table.
 * An inherited call (writer/inherited.h) is shown unless it is short or was one too many, and in no sum.
 *
 *   main     |---------------------------------------|     kept: long
 *   serve       |----------------|  |--|                   kept, kept: a wait is inside of it
 *   parse         |-|  |--|                                left out; lock's wait below is recorded
 *   lock                            |w|
 */
#ifndef FXT_AGENT_ELIDED_H
#define FXT_AGENT_ELIDED_H

#include "frames.h"
#include "writer/elided.h"

/* Something is recorded inside of the newest call of the block, and so it is recorded too. SLOW_PATH. */
void agent_keep_newest(const struct fxt_block *block);

/* A frame is about to be taken off, for it is recorded. */
static inline void agent_keep_around(const struct fxt_frame *frame)
{
	struct fxt_frame *around = (struct fxt_frame *)(uintptr_t)(frame - 1);

	around->call_site |= FXT_FRAME_KEPT; /* in a sentinel it means nothing */
}

/* The same for one that has no record: what is recorded inside of it is now inside of the call around. */
static inline void agent_keep_around_kept(const struct fxt_frame *frame)
{
	if (frame->call_site & FXT_FRAME_KEPT)
		agent_keep_around(frame);
}

/* A frame was pushed for a call that may be left out. The block is not IDLE, as below. */
void agent_count_entered(struct fxt_block *block, struct fxt_thread_slot *slot, struct fxt_frame *frame);

/* Whether the newest call, of this frame, which ends at `end`, is left out: then it is counted, and taken
 * off. */
bool agent_elides(
        struct fxt_block *block, struct fxt_thread_slot *slot, const struct fxt_frame *frame, uint64_t end);

/* Whether the newest call, of this frame, was being left out when a jump left the hook that did it: then it
 * counts, and is to be taken off. */
bool agent_was_eliding(const struct fxt_block *block, const struct fxt_frame *frame);

#endif
