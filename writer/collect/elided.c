/*
 * Collects the sums of elided calls and writes them as events (writer/engine/elided.h).
 * Runs on the thread that saves the provider's buffers; the program may still change the
 * sums. It must never trust them: sums that are impossible for the time are cut.
 */
#include "writer/engine/elided.h"
#include "internal.h"
#include "writer/format/encode.h"
#include "writer/engine/strings.h"

/* threads that a process can have, one after the other */
#define THREADS_MOST (UINT64_C(1) << 22)
#define DEPTH_MOST   (UINT64_C(1) << 10)

/* Returns how many tables may hold something: those of the slots in use, and the recycled
 * one. */
static uint32_t elided_tables(struct fxt_collector *c)
{
	uint32_t used = load_acquire(&c->control->slots_used);

	if (used > FXT_ELIDED_THREADS)
		used = FXT_ELIDED_THREADS;
	if (used > 0 && !fxt_control_reach_slot(c->map, used - 1)) {
		c->reason = c->reason ? c->reason : "no memory to read the sums of its elided calls";
		used = 0;
	}
	return used + 1;
}

/* Returns the number of a table: the last of `tables` is the recycled one. */
static uint32_t elided_number(uint32_t at, uint32_t tables)
{
	return at + 1 < tables ? at : (uint32_t)FXT_ELIDED_RECYCLED;
}

/* Cuts sums that there was no time for. The recycled sums may come from any number of
 * threads that have ended. */
static void elided_believe(
        struct fxt_collector *c, uint32_t table, struct fxt_elided_function *f, uint64_t now)
{
	bool is_of_many = table == FXT_ELIDED_RECYCLED;
	uint64_t threads = is_of_many ? THREADS_MOST : 1;
	uint64_t self = f->self < 0 ? -(uint64_t)f->self : (uint64_t)f->self;

	f->calls = fxt_collect_believe_calls(c, f->calls, is_of_many ? c->cpus : 1, now);
	f->total = fxt_collect_believe_ticks(c, f->total, threads, now);
	f->own = fxt_collect_believe_ticks(c, f->own, threads, now);
	f->longest = fxt_collect_believe_ticks(c, f->longest, 1, now);
	if (f->shortest > f->longest && f->shortest != UINT64_MAX)
		f->shortest = f->longest;
	/* Each of several nested calls counts the whole time. */
	f->sum = fxt_collect_believe_ticks(c, f->sum, DEPTH_MOST * threads, now);
	if (fxt_collect_believe_ticks(c, self, DEPTH_MOST * threads, now) != self)
		f->self = 0;
}

/* Returns a copy of the fields needed: nothing is read twice. A thread that died while it
 * elided a call may not have counted it. */
static struct fxt_elided_function elided_read(const struct fxt_elided *table, uint32_t index)
{
	const struct fxt_elided_function *shared = &table->functions[index];
	struct fxt_elided_function copy = {.calls = load_relaxed(&shared->calls),
	        .total = load_relaxed(&shared->total),
	        .sum = load_relaxed(&shared->sum),
	        .self = load_relaxed(&shared->self),
	        .own = load_relaxed(&shared->own),
	        .longest = load_relaxed(&shared->longest),
	        .shortest = load_relaxed(&shared->shortest)};

	if (index == load_relaxed(&table->counted_index) && load_relaxed(&table->counted_start) &&
	        load_relaxed(&table->counted_calls) == copy.calls + 1)
		copy.calls++;
	return copy;
}

static struct fxt_argument elided_ticks(const char *name, uint64_t ticks)
{
	return fxt_argument_uint64(fxt_string_text(name), ticks);
}

static void elided_emit(struct fxt_collector *c, uint32_t table, uint32_t index,
        const struct fxt_elided_function *function, uint64_t now)
{
	uint64_t koid = table == FXT_ELIDED_RECYCLED
	                        ? c->process_koid
	                        : load_relaxed(&fxt_control_slot(c->control, table)->koid);
	const struct fxt_argument arguments[] = {
	        fxt_argument_string(fxt_string_text("function"), fxt_string_index(index)),
	        elided_ticks("calls", function->calls),
	        elided_ticks("total_ticks", function->total),
	        elided_ticks("sum_ticks", function->sum),
	        fxt_argument_int64(fxt_string_text("self_ticks"), function->self),
	        elided_ticks("own_ticks", function->own),
	        elided_ticks("longest_ticks", function->longest),
	        elided_ticks("shortest_ticks", function->shortest),
	};
	uint64_t record[64];

	fxt_copy_append(&c->copy, record,
	        8 * fxt_put_event(record, sizeof(record) / 8, FXT_EVENT_INSTANT,
	                    fxt_thread_inline(c->process_koid, koid), fxt_string_index(FXT_KNOWN_FXT),
	                    fxt_string_text(FXT_ELIDED_EVENT), now, arguments,
	                    sizeof(arguments) / sizeof(*arguments), 0));
}

/* Hands out the sums of one function. Returns the ticks spent in its calls alone. */
static uint64_t elided_take_function(struct fxt_collector *c, uint32_t tables, uint32_t index, uint64_t now)
{
	uint64_t own = 0;

	for (uint32_t at = 0; at < tables; at++) {
		uint32_t number = elided_number(at, tables);
		const struct fxt_elided *table = fxt_elided(c->control, number);

		if (index >= load_relaxed(&table->end))
			continue;
		struct fxt_elided_function function = elided_read(table, index);

		elided_believe(c, number, &function, now);
		if (function.calls || function.self)
			elided_emit(c, number, index, &function, now);
		c->elided.calls += function.calls;
		own += function.own;
	}
	return own;
}

void fxt_collect_elided(struct fxt_collector *c, uint64_t now)
{
	uint64_t rate = c->ticks_per_second ? c->ticks_per_second
	                                    : load_relaxed(&c->control->ticks_per_second),
	         ticks = 0;
	uint32_t tables = c->elides_calls ? elided_tables(c) : 0, end = 0;

	for (uint32_t at = 0; at < tables; at++) {
		const struct fxt_elided *table = fxt_elided(c->control, elided_number(at, tables));
		uint32_t table_end = load_relaxed(&table->end);

		end = table_end > end ? table_end : end;
	}
	for (uint32_t i = 1; i < end && i < FXT_STRING_LOCAL_FIRST; i++)
		if (!c->copy.excluded || !c->copy.excluded[i] || c->copy.kept_from)
			ticks += elided_take_function(c, tables, i, now);
	c->elided.ns += rate ? (uint64_t)((double)ticks * 1e9 / (double)rate) : 0;
}

bool fxt_collect_was_eliding(const struct fxt_collector *c, uint32_t slot, uint64_t start)
{
	return slot < FXT_ELIDED_THREADS && c->elides_calls && fxt_control_reach_slot(c->map, slot) &&
	       load_relaxed(&fxt_elided(c->control, slot)->counted_start) == start;
}
