/*
 * Triggers that calls raise: when a call of some function, or a span that the program says
 * (said.h), begins, ends, or takes at least a given time (fxtrun
 * --trigger='serve>5ms:snapshot'). The manager's decision on a name has the numbers of its
 * triggers, and the control memory describes them. Whether a call took its time is known at
 * its exit. Sessions with triggers send all calls to agent_enter_general() and
 * agent_leave_general(), so that other sessions look for no triggers.
 *
 * The manager carries triggers out, with one exception: at the begin or the end of a call a
 * process starts or stops recording its own calls at once ('serve=begin:start',
 * 'serve=end:stop'). Calls that begin while it is stopped get unrecorded frames, as with a
 * filter by caller.
 */
#ifndef FXT_AGENT_TRIGGERS_H
#define FXT_AGENT_TRIGGERS_H

#include "elided.h"
#include "writer/engine/decisions.h"

/* The decision on the function, or the span, with this reference. 0: there is none, or it
 * has no triggers. */
static inline uint64_t agent_trigger_decision(uint64_t ref, unsigned triggers)
{
	const struct fxt_control *control = agent_engine.control;
	uint64_t index = fxt_is_span(ref) ? fxt_span_name(ref) : ref & FXT_INDEX_LOCAL, decision;

	if (!(load_relaxed(&control->has_triggers) & triggers) || index >= FXT_STRING_LOCAL_FIRST)
		return 0;
	decision = load_relaxed(fxt_decision(control, (uint32_t)index));
	if (fxt_is_span(ref))
		return fxt_decision_is_on_text(decision) ? decision : 0;
	return fxt_decision_is_on(decision, ref) ? decision : 0;
}

/* The number of the trigger that the call of this frame raises as it ends; 0: none. Such a
 * call is recorded even if its function has used up its calls. */
static inline uint32_t agent_trigger_of(const struct fxt_frame *frame, uint64_t end)
{
	uint32_t number = FXT_DECIDED_TRIGGER_OF(agent_trigger_decision(frame->function, FXT_TRIGGERS_END));
	const struct fxt_call_trigger *trigger;

	if (number == 0)
		return 0;
	trigger = &agent_engine.control->triggers[number - 1];
	if (end - frame->start < trigger->ticks)
		return 0;
	if (trigger->action != FXT_CALL_TELLS)
		return number;
	if (frame->call_site & FXT_FRAME_UNRECORDED)
		return 0;
	agent_keep_around(frame + 1);
	return number;
}

/* The number of the trigger that a call raises as it begins, for the function with this
 * reference. The process's own part is done here. */
uint32_t agent_trigger_begin(uint64_t ref);

/* Carries the trigger out, or reports it to the manager. Call it when the call's record is
 * committed and the writer is not WRITING. It does nothing for 0, nor if the manager has
 * not yet looked at an earlier report. */
void agent_trigger_raise(uint32_t number);

#endif
