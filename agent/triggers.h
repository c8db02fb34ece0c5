/*
 * Triggers that calls raise: calls of some functions that take so long (fxtrun
 * --trigger='serve>5ms:snapshot'). The manager's decision on a function has the number of its trigger, and
 * the control memory the time; whether a call took it is known at its exit. Sessions with triggers send all
 * calls to agent_enter_otherwise() and agent_leave_otherwise(), so that those of others look for none.
 */
#ifndef FXT_AGENT_TRIGGERS_H
#define FXT_AGENT_TRIGGERS_H

#include "left_out.h"
#include "writer/decisions.h"

/* The number of the trigger that the call of this frame raises as it ends, and which is recorded then however
 * many are left out; 0: none. */
static inline uint32_t agent_trigger_of(const struct fxt_frame *frame, uint64_t end)
{
	const struct fxt_control *control = agent_engine.control;
	uint64_t index = frame->function & FXT_INDEX_LOCAL, decision, number;

	if (!control->has_triggers || index >= FXT_STRING_LOCAL_FIRST ||
	        frame->call_site & FXT_FRAME_LEFT_OUT)
		return 0;
	decision = load_relaxed(fxt_decision(control, (uint32_t)index));
	number = FXT_DECIDED_TRIGGER_OF(decision);
	if (number == 0 || number > FXT_TRIGGERS || !fxt_decision_is_on(decision, frame->function) ||
	        end - frame->start < control->trigger_ticks[number - 1])
		return 0;
	agent_keep_around(frame + 1);
	return (uint32_t)number;
}

/* Tells the manager, with the call's record committed, and not while the block is WRITING. Does nothing for
 * 0, and where the manager was told and has not looked yet. */
void agent_trigger_raise(uint32_t number);

#endif
