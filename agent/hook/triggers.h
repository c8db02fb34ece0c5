/*
 * Triggers that calls raise: those of some functions that begin, end, or take so long (fxtrun
 * --trigger='serve>5ms:snapshot'). The manager's decision on a function has the numbers of its triggers, and
 * the control memory what they are; whether a call took its time is known at its exit. Sessions with triggers
 * send all calls to agent_enter_general() and agent_leave_general(), so that those of others look for
 * none.
 *
 * What a trigger does is the manager's business, but for one: by the begin and the end of a call a process
 * starts and stops recording its calls at once ('serve=begin:start', 'serve=end:stop'). Calls that begin
 * while it does not get frames that are left out, as by a filter of what they are inside of.
 */
#ifndef FXT_AGENT_TRIGGERS_H
#define FXT_AGENT_TRIGGERS_H

#include "elided.h"
#include "writer/decisions.h"

/* The decision on the function that has this word; 0: none, or it has no triggers. */
static inline uint64_t agent_trigger_decision(uint64_t word, unsigned triggers)
{
	const struct fxt_control *control = agent_engine.control;
	uint64_t index = word & FXT_INDEX_LOCAL, decision;

	if (!(load_relaxed(&control->has_triggers) & triggers) || index >= FXT_STRING_LOCAL_FIRST)
		return 0;
	decision = load_relaxed(fxt_decision(control, (uint32_t)index));
	return fxt_decision_is_on(decision, word) ? decision : 0;
}

/* The number of the trigger that the call of this frame raises as it ends, and which is recorded then however
 * many are left out; 0: none. */
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

/* The same of a call that begins, of the function that has this word. What is the process's to do is done. */
uint32_t agent_trigger_begin(uint64_t word);

/* Carries it out, or tells the manager; with the call's record committed, and not while the block is WRITING.
 * Does nothing for 0, and tells nobody where the manager was told and has not looked yet. */
void agent_trigger_raise(uint32_t number);

#endif
