#include "decisions.h"
#include <string.h>
#include "engine.h"

/* Marks the function unless it is gone, or has another name by now. */
static void decisions_leave_out(struct fxt_engine *e, uint64_t address, uint32_t index)
{
	const struct fxt_function_table *table = &e->functions;
	uint64_t at = fxt_function_hash(address), word;

	while ((word = table->entries[at & table->mask]) != 0 && word != (fxt_function_key(address) | index))
		at++;
	if (word)
		store_relaxed(&table->entries[at & table->mask], word ^ FXT_FUNCTION_LEFT_OUT);
}

void fxt_decisions_carry_out(struct fxt_engine *e)
{
	if (!e->control->has_filter)
		return;
	for (; e->decided < e->next_string; e->decided++) {
		/* Acquire: pairs with the manager's release, the decision is whole. */
		uint64_t decision = load_acquire(fxt_decision(e->control, e->decided));

		if (decision == 0)
			return;
		if (decision & FXT_DECIDED_LEAVE_OUT)
			decisions_leave_out(e, decision >> FXT_FRAME_INDEX_BITS, e->decided);
	}
}

void fxt_decisions_forget(struct fxt_engine *e)
{
	if (e->control->has_filter)
		memset(fxt_decision(e->control, 0), 0, FXT_DECISIONS * sizeof(uint64_t));
	e->decided = 1;
}
