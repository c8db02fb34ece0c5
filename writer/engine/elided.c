#include "elided.h"
#include <string.h>
#include "engine.h"
#include "valid.h"

static void elided_add(struct fxt_elided_function *sum, const struct fxt_elided_function *function)
{
	if (function->calls && (!sum->calls || function->shortest < sum->shortest))
		sum->shortest = function->shortest;
	if (function->longest > sum->longest)
		sum->longest = function->longest;
	sum->calls += function->calls;
	sum->total += function->total;
	sum->sum += function->sum;
	sum->self += function->self;
	sum->own += function->own;
}

static void elided_forget(struct fxt_elided *table)
{
	if (table->end)
		memset(table->functions, 0, table->end * sizeof(*table->functions));
	table->counted_start = table->end = 0;
}

void fxt_elided_recycle(struct fxt_engine *e, uint32_t slot)
{
	struct fxt_elided *from, *to = fxt_elided(e->control, FXT_ELIDED_RECYCLED);

	FXT_ASSERT_LOCKED(e);
	if (!fxt_elides_calls(e->control) || slot >= FXT_ELIDED_THREADS)
		return;
	from = fxt_elided(e->control, slot);
	for (uint32_t i = 0; i < from->end; i++)
		elided_add(&to->functions[i], &from->functions[i]);
	if (from->end > to->end)
		to->end = from->end;
	elided_forget(from);
}

void fxt_elided_clear(struct fxt_engine *e)
{
	FXT_ASSERT_LOCKED(e);
	if (!fxt_elides_calls(e->control))
		return;
	for (uint32_t i = 0; i < e->control->slots_used && i < FXT_ELIDED_THREADS; i++)
		elided_forget(fxt_elided(e->control, i));
	elided_forget(fxt_elided(e->control, FXT_ELIDED_RECYCLED));
	for (uint32_t i = 1; i < e->next_string; i++)
		store_relaxed(&fxt_limit(e->control, i)->begun, 0);
}
