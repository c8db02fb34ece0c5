#include "hooks.h"

/* Entry of a function that is not where the fast look-up finds it: left out, or new. */
static COLD void hooks_enter_unknown(
        struct fxt_block *block, const void *function, const void *call_site, uint64_t stack_offset)
{
	if (fxt_function_is_left_out(&agent_engine.functions, (uint64_t)(uintptr_t)function))
		return;
	if (block->busy != FXT_IDLE)
		agent_enter_nested(block, function, call_site, stack_offset);
	else
		agent_enter_slow_path(block, function, call_site, stack_offset);
}

void agent_enter_probing(void *function, void *call_site, uint64_t stack_offset)
{
	const struct fxt_function_table *table = &agent_engine.functions;
	uint64_t address = (uint64_t)(uintptr_t)function;
	struct fxt_block *block = agent_self.block;
	uint64_t word = fxt_function_first(table, address);

	if (fxt_function_is(word ^ FXT_FUNCTION_LEFT_OUT, address))
		return;
	if (unlikely(!block)) {
		agent_enter_first(function, call_site, stack_offset);
		return;
	}
	word = fxt_function_probe(table, address, 1, 0);
	if (likely(word))
		agent_enter_known(block, function, call_site, stack_offset, word, FXT_CLOCK_COUNTER);
	else
		hooks_enter_unknown(block, function, call_site, stack_offset);
}

void agent_enter_otherwise(void *function, void *call_site, uint64_t stack_pointer)
{
	uint64_t stack_offset = agent_stack_offset(stack_pointer);
	struct fxt_block *block = agent_self.block;
	uint64_t word;

	if (agent_is_borrower()) {
		add_relaxed(&agent_engine.control->lost_without_slot, 1);
		return;
	}
	word = fxt_function_find(&agent_engine.functions, (uint64_t)(uintptr_t)function);
	if (unlikely(!block))
		agent_enter_first(function, call_site, stack_offset);
	else if (likely(word))
		agent_enter_known(block, function, call_site, stack_offset, word, FXT_CLOCK_MONOTONIC);
	else
		hooks_enter_unknown(block, function, call_site, stack_offset);
}

void agent_leave_otherwise(void *function, uint64_t stack_pointer)
{
	if (!agent_is_borrower()) /* else it was counted when it began */
		agent_leave(function, stack_pointer, agent_engine.clock);
}
