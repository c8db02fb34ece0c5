#include "left_out.h"
#include <string.h>
#include "engine.h"

static void left_out_add(struct fxt_left_out_function *sum, const struct fxt_left_out_function *function)
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

static void left_out_forget(struct fxt_left_out *table)
{
	if (table->end)
		memset(table->functions, 0, table->end * sizeof(*table->functions));
	table->counted_start = table->end = 0;
}

void fxt_left_out_recycle(struct fxt_engine *e, uint32_t slot)
{
	struct fxt_left_out *from, *to = fxt_left_out(e->control, FXT_LEFT_OUT_RECYCLED);

	if (!fxt_leaves_out_calls(e->control) || slot >= FXT_LEFT_OUT_THREADS)
		return;
	from = fxt_left_out(e->control, slot);
	for (uint32_t i = 0; i < from->end; i++)
		left_out_add(&to->functions[i], &from->functions[i]);
	if (from->end > to->end)
		to->end = from->end;
	left_out_forget(from);
}

void fxt_left_out_clear(struct fxt_engine *e)
{
	if (!fxt_leaves_out_calls(e->control))
		return;
	for (uint32_t i = 0; i < e->control->slots_used && i < FXT_LEFT_OUT_THREADS; i++)
		left_out_forget(fxt_left_out(e->control, i));
	left_out_forget(fxt_left_out(e->control, FXT_LEFT_OUT_RECYCLED));
	for (uint32_t i = 1; i < e->next_string; i++)
		store_relaxed(&fxt_limit(e->control, i)->begun, 0);
}
