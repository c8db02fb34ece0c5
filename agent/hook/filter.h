/*
 * Decides which calls are recorded if that depends on their callers: only under some
 * functions, not under others, or to some depth (fxtrun --only-under, --not-under,
 * --depth). Every call then gets a frame, and a frame's state applies to the calls inside
 * it. The hooks that the compiler calls send all calls to agent_enter_general() and
 * agent_leave_general(). Other sessions have no such state.
 *
 *   state of a frame = state of the one below it, changed by what is known of the function
 *
 * The state lies in the bits of fxt_frame.call_site that an address does not use
 * (writer/shared/slot.h). After a change of the filter, each thread gives its frames new
 * states before its next call begins. The open calls themselves end as they began.
 */
#ifndef FXT_AGENT_FILTER_H
#define FXT_AGENT_FILTER_H

#include "frames.h"
#include "writer/engine/decisions.h"
#include "writer/format/inherited.h"
#include "writer/engine/elided.h"
#include "writer/engine/waits.h"

/* The filter that gave the frames of a writer their states. `writer` NULL: the latest
 * filter. */
static inline const struct fxt_callers_filter *agent_callers_filter(const struct fxt_thread_writer *writer)
{
	uint32_t change = writer ? writer->filter_in_force : load_acquire(&agent_engine.filter_in_force);

	return &agent_engine.callers_filter[change & 1];
}

/* Whether the session filters calls, by their callers or when they end (elided.h), or looks
 * at calls that end (triggers.h). */
static inline bool agent_filters_calls(void)
{
	return load_relaxed(&agent_callers_filter(NULL)->has_states) ||
	       fxt_elides_calls(agent_engine.control) || load_relaxed(&agent_engine.control->has_triggers);
}

/* Whether the manager has decided on the function, or the span, with this reference. It
 * never decides on names without an index of their own, and need not where a decision may
 * come later. Spans have no verdicts, only triggers. */
static inline bool agent_filter_knows(uint64_t ref)
{
	const struct fxt_control *control = agent_engine.control;
	uint32_t index = (uint32_t)(ref & FXT_INDEX_LOCAL);

	if (fxt_is_span(ref))
		return !load_relaxed(&control->has_triggers) || !fxt_span_name(ref) ||
		       load_acquire(fxt_decision(control, (uint32_t)fxt_span_name(ref)));
	return !control->awaits_decisions || index >= FXT_STRING_LOCAL_FIRST ||
	       fxt_decision_is_on(load_acquire(fxt_decision(control, index)), ref);
}

/* Calls are recorded in this state, down to the depth limit. */
static inline uint64_t agent_filter_all(const struct fxt_callers_filter *filter)
{
	uint32_t limit = load_relaxed(&filter->depth_limit);

	return fxt_frame_depth(limit ? limit : FXT_FRAME_DEPTH_MAX);
}

/* The state that calls inside a frame begin with. A handler's calls are inside the calls
 * that it interrupted. */
static inline uint64_t agent_filter_inside(
        const struct fxt_thread_writer *writer, const struct fxt_frame *frame)
{
	const struct fxt_callers_filter *filter = agent_callers_filter(writer);

	if (is_sentinel(frame) && writer == agent_self.nested)
		frame = slot_top(agent_self.slot) - 1;
	if (!is_sentinel(frame))
		return frame->call_site & FXT_FRAME_STATE &
		       ~(FXT_FRAME_UNRECORDED | FXT_FRAME_KEPT | FXT_FRAME_COUNTED);
	return load_relaxed(&filter->has_under) & FXT_UNDER_ONLY ? 0 : agent_filter_all(filter);
}

/* The decision on the function with this reference. 0: there is none, or it was on another
 * function. */
static inline unsigned agent_filter_decision(const struct fxt_thread_writer *writer, uint64_t ref)
{
	uint64_t index = fxt_frame_index(ref);
	uint64_t decision =
	        index < FXT_DECISIONS ? load_relaxed(fxt_decision(agent_engine.control, (uint32_t)index)) : 0;

	if (!fxt_decision_is_on(decision, ref))
		return 0;
	return fxt_decided_by(decision, writer->filter_in_force);
}

/* The state of a frame for a call inside `outer` of the function with this reference. */
static inline uint64_t agent_filter_state(
        const struct fxt_thread_writer *writer, const struct fxt_frame *outer, uint64_t ref)
{
	const struct fxt_callers_filter *filter = agent_callers_filter(writer);
	uint64_t state = agent_filter_inside(writer, outer);
	unsigned decision = agent_filter_decision(writer, ref);

	if (decision & FXT_DECIDED_NOT_UNDER)
		state |= FXT_FRAME_NOT_UNDER;
	if (state & FXT_FRAME_NOT_UNDER)
		return state | FXT_FRAME_UNRECORDED;
	if (decision & FXT_DECIDED_ONLY_UNDER)
		state = agent_filter_all(filter);
	/* The function has no mark but is excluded: other functions are filtered by it, or
	 * its mark is about to be set, or was just removed. */
	if (decision & FXT_DECIDED_EXCLUDE)
		return state | FXT_FRAME_UNRECORDED;
	if (!(state & fxt_frame_depth(FXT_FRAME_DEPTH_MAX)))
		return state | FXT_FRAME_UNRECORDED;
	return load_relaxed(&filter->depth_limit) ? state - fxt_frame_depth(1) : state;
}

/* Whether the frames of the writer have states of an earlier filter
 * (agent_filter_follow_change). */
static inline bool agent_filter_has_changed(const struct fxt_thread_writer *writer)
{
	/* Acquire: pairs with the helper's release. */
	return writer->filter_in_force != load_acquire(&agent_engine.filter_in_force);
}

/* The call site with the state for a call of an excluded function that must have a frame
 * (slow_path.c). */
static inline const void *agent_filter_site_unrecorded(
        const struct fxt_thread_writer *writer, const struct fxt_frame *outer, const void *call_site)
{
	uint64_t state = load_relaxed(&agent_callers_filter(writer)->has_states)
	                         ? agent_filter_inside(writer, outer)
	                         : 0;

	return (const void *)((uintptr_t)call_site | (uintptr_t)(state | FXT_FRAME_UNRECORDED));
}

/* Gives the frames of the writer the states of the filter in force. The writer is
 * SLOW_PATH. */
void agent_filter_follow_change(struct fxt_thread_writer *writer);

/* The value that a frame for this call keeps as its call site: the address with the
 * state. */
static inline const void *agent_filter_site(const struct fxt_thread_writer *writer,
        const struct fxt_frame *outer, uint64_t ref, const void *call_site)
{
	uint64_t state = 0;

	if (load_relaxed(&agent_callers_filter(writer)->has_states))
		state = fxt_is_wait(ref) ? agent_filter_inside(writer, outer)
		                         : agent_filter_state(writer, outer, ref);
	if (load_relaxed(&agent_engine.control->mutes_calls) && !fxt_is_wait(ref))
		state |= FXT_FRAME_UNRECORDED;
	return (const void *)((uintptr_t)call_site | (uintptr_t)state);
}

#endif
