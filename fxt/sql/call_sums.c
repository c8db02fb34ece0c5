/*
 * Sums up calls by thread and function, for the table call_sums. One walk on the main
 * thread: a call's self time is rounded like that of a row of calls, so both tables have
 * equal sums.
 */
#include <stdlib.h>
#include "lists.h"
#include "sums.h"

enum { LATELY = 1024 }; /* entries of the cache; a power of two */

struct adder {
	struct fxt_sql_trace *trace;
	struct fxt_sql_call_sums *sums;
	uint32_t lately[LATELY]; /* indices of sums, by the low bits of names */
};

static struct fxt_sql_call_sum *adder_find(struct adder *adder, uint32_t thread, uint32_t name)
{
	struct fxt_sql_call_sums *sums = adder->sums;
	uint32_t *lately = &adder->lately[name % LATELY];
	uint32_t hash;

	if (*lately < sums->count && sums->items[*lately].name == name &&
	        sums->items[*lately].thread == thread)
		return &sums->items[*lately];
	hash = fxt_hash_word((uint64_t)thread << 32 | name);
	for (struct fxt_probe probe = fxt_probe(&sums->index, hash); fxt_probe_next(&sums->index, &probe);) {
		*lately = probe.id;
		if (sums->items[probe.id].name == name && sums->items[probe.id].thread == thread)
			return &sums->items[probe.id];
	}
	*lately = (uint32_t)sums->count;
	fxt_index_add(&sums->index, hash, *lately);
	fxt_make_room(sums->items, sums->count, sums->room);
	sums->items[sums->count] =
	        (struct fxt_sql_call_sum){.thread = thread, .name = name, .shortest = UINT64_MAX};
	return &sums->items[sums->count++];
}

/* UINT64_MAX: the sum does not fit. */
static inline uint64_t adder_sum(uint64_t sum, uint64_t value)
{
	return sum > UINT64_MAX - value ? UINT64_MAX : sum + value;
}

static inline void adder_add(struct adder *adder, const struct fxt_slice *slice, uint64_t inside)
{
	struct fxt_sql_call_sum *sum;
	uint64_t duration;

	if (!slice->is_call)
		return;
	sum = adder_find(adder, slice->thread, slice->name);
	duration = fxt_sql_duration(adder->trace, slice->start, slice->end);
	sum->calls++;
	sum->duration = adder_sum(sum->duration, duration);
	sum->self = adder_sum(sum->self, fxt_sql_self(adder->trace, duration, inside));
	if (duration < sum->shortest)
		sum->shortest = duration;
	if (duration > sum->longest)
		sum->longest = duration;
}

static inline void adder_leave(void *state, const struct fxt_walk_frame *frame)
{
	adder_add(state, &frame->slice, frame->inside);
}

static inline void adder_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	(void)parent;
	adder_add(state, slice, 0);
}

static const struct fxt_visitor adder_visitor = {
        .leave = adder_leave, .leaf = adder_leaf, .looks_near = true};

const struct fxt_sql_call_sums *fxt_sql_call_sums(struct fxt_sql_trace *trace)
{
	struct adder adder = {.trace = trace};
	struct fxt_walker walker;

	/* Partial sums last until the query that was interrupted ends: its cursors point to
	 * them. */
	if (trace->call_sums && (!trace->call_sums->is_partial || trace->is_interrupted))
		return trace->call_sums;
	fxt_sql_call_sums_free(trace->call_sums);
	adder.sums = trace->call_sums = fxt_allocate(sizeof(*adder.sums));
	fxt_walk_begin(&walker, &trace->scan);
	while (!trace->is_interrupted && fxt_walk_step(&walker, &adder_visitor, &adder))
		trace->bytes_read += walker.block->bytes;
	trace->is_short |= walker.is_short;
	fxt_walk_end(&walker);
	adder.sums->is_partial = trace->is_interrupted;
	return adder.sums;
}

void fxt_sql_call_sums_free(struct fxt_sql_call_sums *sums)
{
	if (!sums)
		return;
	free(sums->items);
	fxt_index_free(&sums->index);
	free(sums);
}

/* ---- the table ---- */

enum {
	SUM_FUNCTION,
	SUM_FUNCTION_ID,
	SUM_MODULE,
	SUM_TID,
	SUM_THREAD,
	SUM_PID,
	SUM_PROCESS,
	SUM_CALLS,
	SUM_DURATION,
	SUM_SELF,
	SUM_SHORTEST,
	SUM_LONGEST,
};

static size_t list_count_call_sums(struct fxt_sql_trace *trace)
{
	return fxt_sql_call_sums(trace)->count;
}

static void list_call_sum_value(sqlite3_context *context, struct fxt_sql_trace *trace, size_t row, int column)
{
	static const enum fxt_sql_field fields[] = {[SUM_FUNCTION] = FXT_SQL_NAME,
	        [SUM_FUNCTION_ID] = FXT_SQL_NAME_ID,
	        [SUM_MODULE] = FXT_SQL_MODULE,
	        [SUM_TID] = FXT_SQL_TID,
	        [SUM_THREAD] = FXT_SQL_THREAD,
	        [SUM_PID] = FXT_SQL_PID,
	        [SUM_PROCESS] = FXT_SQL_PROCESS};
	const struct fxt_sql_call_sum *sum = &fxt_sql_call_sums(trace)->items[row];
	const struct fxt_sql_row of_a_call = {.thread = sum->thread, .name = sum->name};
	const uint64_t numbers[] = {sum->calls, sum->duration, sum->self, sum->shortest, sum->longest};

	if (column < SUM_CALLS)
		fxt_sql_field_value(context, trace, &of_a_call, fields[column]);
	else if (numbers[column - SUM_CALLS] > INT64_MAX)
		sqlite3_result_error(context, "integer overflow", -1); /* as of sum() */
	else
		sqlite3_result_int64(context, (int64_t)numbers[column - SUM_CALLS]);
}

const struct fxt_sql_list fxt_sql_call_sum_list = {list_count_call_sums, list_call_sum_value, NULL};
