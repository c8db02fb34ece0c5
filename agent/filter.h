/*
 * Which calls are recorded, where that depends on what they are called by: only under some functions, not
 * under others, to some depth (fxtrun --only-under, --not-under, --depth). Then every call gets a frame, and
 * a frame's state tells of the calls inside of it; the hooks that the compiler calls send all calls to
 * agent_enter_otherwise() and agent_leave_otherwise(). The rest of a session has no such state.
 *
 *   state of a frame = state of the one below it, changed by what is known of the function
 *
 * It lies in the part of fxt_frame.call_site that an address has no bits in (writer/slot.h).
 */
#ifndef FXT_AGENT_FILTER_H
#define FXT_AGENT_FILTER_H

#include "frames.h"
#include "writer/decisions.h"
#include "writer/inherited.h"
#include "writer/left_out.h"
#include "writer/waits.h"

/* Whether what calls are inside of decides whether they are recorded. */
static inline bool agent_filters_by_callers(void)
{
	const struct fxt_control *control = agent_engine.control;

	return control->depth_limit || control->has_under;
}

/* Whether the session filters calls, by that or when they end (left_out.h). */
static inline bool agent_filters_calls(void)
{
	return agent_filters_by_callers() || fxt_leaves_out_calls(agent_engine.control);
}

/* Whether the manager has decided on the function that has this word. It never does where names have no
 * index of their own, and needs not where a decision may come later. */
static inline bool agent_filter_knows(uint64_t word)
{
	const struct fxt_control *control = agent_engine.control;
	uint32_t index = (uint32_t)(word & FXT_INDEX_LOCAL);

	return !control->awaits_decisions || index >= FXT_STRING_LOCAL_FIRST ||
	       load_acquire(fxt_decision(control, index)) != 0;
}

/* The state that calls inside a frame begin with. A handler's calls are inside of those it interrupted. */
static inline uint64_t agent_filter_inside(const struct fxt_block *block, const struct fxt_frame *frame)
{
	const struct fxt_control *control = agent_engine.control;

	if (is_sentinel(frame) && block == agent_self.nested)
		frame = slot_top(agent_self.slot) - 1;
	if (!is_sentinel(frame))
		return frame->call_site & FXT_FRAME_STATE &
		       ~(FXT_FRAME_LEFT_OUT | FXT_FRAME_KEPT | FXT_FRAME_COUNTED);
	if (control->has_under & FXT_UNDER_ONLY)
		return 0;
	return fxt_frame_depth(control->depth_limit ? control->depth_limit : FXT_FRAME_DEPTH_MAX);
}

/* The state of a frame for a call of the function that has this word, inside of `outer`. */
static inline uint64_t agent_filter_state(
        const struct fxt_block *block, const struct fxt_frame *outer, uint64_t word)
{
	const struct fxt_control *control = agent_engine.control;
	uint64_t state = agent_filter_inside(block, outer), index = fxt_frame_index(word);
	uint64_t decision = index < FXT_DECISIONS ? load_relaxed(fxt_decision(control, (uint32_t)index)) : 0;

	if ((decision ^ word) >> FXT_FRAME_INDEX_BITS) /* not decided, or about another function */
		decision = 0;
	if (decision & FXT_DECIDED_NOT_UNDER)
		state |= FXT_FRAME_NOT_UNDER;
	if (state & FXT_FRAME_NOT_UNDER)
		return state | FXT_FRAME_LEFT_OUT;
	if (decision & FXT_DECIDED_ONLY_UNDER)
		state = fxt_frame_depth(control->depth_limit ? control->depth_limit : FXT_FRAME_DEPTH_MAX);
	if (!(state & fxt_frame_depth(FXT_FRAME_DEPTH_MAX)))
		return state | FXT_FRAME_LEFT_OUT;
	return control->depth_limit ? state - fxt_frame_depth(1) : state;
}

/* What a frame for that call has in place of its call site. */
static inline const void *agent_filter_site(
        const struct fxt_block *block, const struct fxt_frame *outer, uint64_t word, const void *call_site)
{
	uint64_t state = 0;

	if (agent_filters_by_callers())
		state = fxt_is_wait(word) ? agent_filter_inside(block, outer)
		                          : agent_filter_state(block, outer, word);
	return (const void *)((uintptr_t)call_site | (uintptr_t)state);
}

#endif
