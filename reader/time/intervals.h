/*
 * Stretches of threads' time that are of one kind (a thread was off its CPU, or the tracer
 * made it wait), and the sum of them between two moments.
 *
 * They are few compared with calls, and in a spill. Each user has a reader, which remembers
 * the place of the last query. Consecutive calls mostly lie between two changes: a query
 * then takes two comparisons, and otherwise the next change is near.
 */
#ifndef FXT_READER_INTERVALS_H
#define FXT_READER_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "reader/trace/spill.h"

/* Times are in units of the scan. */
struct fxt_interval {
	uint64_t start, end;
	uint64_t before; /* sum of the thread's earlier ones */
	uint64_t owner;  /* a thread's id or koid */
};

struct fxt_intervals {
	struct fxt_spill items;  /* struct fxt_interval, by owner and start, once finished */
	uint64_t *first, *count; /* by thread id, thread_count of them */
	size_t thread_count;
};

void fxt_intervals_init(struct fxt_intervals *l);
void fxt_intervals_free(struct fxt_intervals *l);

/* Adds a stretch. Stretches of an owner may come in any order, and overlap. */
void fxt_intervals_add(struct fxt_intervals *l, uint64_t owner, uint64_t start, uint64_t end);

/* Call it when all stretches are added. Thread `id` has the stretches of owners[id]. */
void fxt_intervals_finish(struct fxt_intervals *l, const uint64_t *owners, size_t thread_count);

/* True if the thread has any. */
static inline bool fxt_intervals_has(const struct fxt_intervals *l, uint32_t thread)
{
	return thread < l->thread_count && l->count[thread] > 0;
}

/* The sum does not change its course between `low` and `high`. */
struct fxt_interval_reader {
	const struct fxt_intervals *intervals;
	uint32_t thread;
	bool is_inside;
	uint64_t low, high, before; /* `before`: the sum up to `low` */
	uint64_t place;             /* the place of the last end that was queried */
	struct fxt_spill_window window;
};

static inline void fxt_intervals_read(
        struct fxt_interval_reader *reader, const struct fxt_intervals *intervals, uint32_t thread)
{
	/* Member by member: the items of the window need not be cleared for each thread. */
	reader->intervals = intervals;
	reader->thread = thread;
	reader->is_inside = false;
	reader->low = 1;
	reader->high = reader->before = 0;
	reader->place =
	        thread < intervals->thread_count ? intervals->first[thread] + intervals->count[thread] : 0;
	reader->window.count = 0;
}

uint64_t fxt_intervals_look_up(struct fxt_interval_reader *reader, uint64_t start, uint64_t end);

/* Returns how much of the time between two moments is of the kind, for the reader's
 * thread. */
static inline uint64_t fxt_intervals_between(struct fxt_interval_reader *reader, uint64_t start, uint64_t end)
{
	if (__builtin_expect(start >= reader->low && end <= reader->high, 1))
		return reader->is_inside ? end - start : 0;
	return fxt_intervals_look_up(reader, start, end);
}

#endif
