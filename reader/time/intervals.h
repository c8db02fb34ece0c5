/*
 * Stretches of threads' time that are of one kind (a thread was off its CPU, the tracer let it wait), and how
 * much of that lies between two moments.
 *
 * They are few beside calls, and in a spill. Who asks has a reader of his own, which remembers where it asked
 * last: for calls that come one after the other, most of which lie between two changes, that is two
 * comparisons, and the next change is near.
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
	uint64_t before; /* the sum of those of its thread that are earlier */
	uint64_t owner;  /* whose it is: a thread's id or koid */
};

struct fxt_intervals {
	struct fxt_spill items;  /* struct fxt_interval, by owner and start, once they are finished */
	uint64_t *first, *count; /* by thread id, thread_count of them */
	size_t thread_count;
};

void fxt_intervals_init(struct fxt_intervals *l);
void fxt_intervals_free(struct fxt_intervals *l);

/* Adds a stretch. Those of an owner may come in any order, and overlap. */
void fxt_intervals_add(struct fxt_intervals *l, uint64_t owner, uint64_t start, uint64_t end);

/* All are added; owners[id] is whose stretches a thread has. */
void fxt_intervals_finish(struct fxt_intervals *l, const uint64_t *owners, size_t thread_count);

/* Whether there are any of a thread. */
static inline bool fxt_intervals_has(const struct fxt_intervals *l, uint32_t thread)
{
	return thread < l->thread_count && l->count[thread] > 0;
}

/* Between `low` and `high` nothing changes. */
struct fxt_interval_reader {
	const struct fxt_intervals *intervals;
	uint32_t thread;
	bool is_inside;
	uint64_t low, high, before; /* the last: the sum up to `low` */
	uint64_t place;             /* in the intervals, where the last end was */
	struct fxt_spill_window window;
};

static inline void fxt_intervals_read(
        struct fxt_interval_reader *reader, const struct fxt_intervals *intervals, uint32_t thread)
{
	/* Without the window's items: they would be cleared for each thread. */
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

/* How much of the kind lies between two moments of the reader's thread. */
static inline uint64_t fxt_intervals_between(struct fxt_interval_reader *reader, uint64_t start, uint64_t end)
{
	if (__builtin_expect(start >= reader->low && end <= reader->high, 1))
		return reader->is_inside ? end - start : 0;
	return fxt_intervals_look_up(reader, start, end);
}

#endif
