#include "hooks.h"

void agent_enter_probing(void *function, void *call_site, uint64_t stack_offset)
{
	struct fxt_block *block = agent_self.block;
	uint64_t word;

	if (unlikely(!block)) {
		agent_enter_first(function, call_site, stack_offset);
		return;
	}
	word = fxt_function_find(&agent_engine.functions, (uint64_t)(uintptr_t)function);
	if (likely(word))
		agent_enter_known(block, function, call_site, stack_offset, word, agent_engine.clock);
	else if (block->busy != FXT_IDLE)
		agent_enter_nested(block, function, call_site, stack_offset);
	else
		agent_enter_slow_path(block, function, call_site, stack_offset);
}

void agent_enter_otherwise(void *function, void *call_site, uint64_t stack_pointer)
{
	if (agent_is_borrower())
		add_relaxed(&agent_engine.control->lost_without_slot, 1);
	else
		agent_enter_probing(function, call_site, agent_stack_offset(stack_pointer));
}

void agent_leave_otherwise(void *function, uint64_t stack_pointer)
{
	if (!agent_is_borrower()) /* else it was counted when it began */
		agent_leave(function, stack_pointer, agent_engine.clock);
}
