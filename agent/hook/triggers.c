#include "triggers.h"

static void trigger_act(struct fxt_control *control, const struct fxt_call_trigger *trigger, uint64_t times)
{
	if (trigger->once_after == 0 || trigger->once_after == times)
		store_relaxed(&control->mutes_calls, trigger->action == FXT_CALL_STOPS);
}

void agent_trigger_raise(uint32_t number)
{
	struct fxt_control *control = agent_engine.control;
	struct fxt_call_trigger *trigger;
	uint64_t times;
	uint32_t bit;

	if (number == 0)
		return;
	trigger = &control->triggers[number - 1];
	bit = UINT32_C(1) << (number - 1);
	times = add_relaxed(&trigger->raised, 1) + 1;
	if (trigger->action != FXT_CALL_TELLS)
		trigger_act(control, trigger, times);
	/* Release: pairs with the manager's acquire of the bit. The call is recorded and
	 * counted by then. */
	else if (!(or_release(&control->triggered, bit) & bit))
		fxt_engine_send_triggered(&agent_engine);
}

uint32_t agent_trigger_begin(uint64_t ref)
{
	uint32_t number = FXT_DECIDED_BEGIN_TRIGGER_OF(agent_trigger_decision(ref, FXT_TRIGGERS_BEGIN));

	if (number == 0 || agent_engine.control->triggers[number - 1].action == FXT_CALL_TELLS)
		return number;
	agent_trigger_raise(number);
	return 0;
}
