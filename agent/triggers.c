#include "triggers.h"

void agent_trigger_raise(uint32_t number)
{
	uint32_t bit = number ? UINT32_C(1) << (number - 1) : 0;

	/* Release: pairs with the acquire of the manager that takes the bit, the call is recorded. */
	if (bit && !(or_release(&agent_engine.control->triggered, bit) & bit))
		fxt_engine_send_triggered(&agent_engine);
}
