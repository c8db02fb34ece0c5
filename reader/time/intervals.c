/*
 * Sorted intervals of threads, with running sums, in a spill. They are added by one thread;
 * several may read them afterwards, each with a reader of its own. A query must be cheap
 * for consecutive calls, so it searches from the place of the last one.
 */
#include "intervals.h"

#include <stdlib.h>
#include "reader/trace/index.h"
#include "writer/shared/search.h"

void fxt_intervals_init(struct fxt_intervals *l)
{
	*l = (struct fxt_intervals){0};
	fxt_spill_init(&l->items, sizeof(struct fxt_interval), FXT_SPILL_MEMORY_BYTES);
}

void fxt_intervals_free(struct fxt_intervals *l)
{
	fxt_spill_free(&l->items);
	free(l->first);
	free(l->count);
	*l = (struct fxt_intervals){.items = {.fd = -1}};
}

void fxt_intervals_add(struct fxt_intervals *l, uint64_t owner, uint64_t start, uint64_t end)
{
	struct fxt_interval interval = {start, end, l->items.count, owner};

	if (start < end)
		fxt_spill_add(&l->items, &interval);
}

/* Until they are summed up, `before` is the order in which they were added. */
static int intervals_compare(const void *left, const void *right)
{
	const struct fxt_interval *a = left, *b = right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->before > b->before) - (a->before < b->before);
}

/* Sums the intervals up, and removes the overlap of intervals with the same owner. */
static void intervals_sum_up(struct fxt_intervals *l)
{
	struct fxt_spill_window window = {0};
	struct fxt_spill summed;
	struct fxt_interval interval, last = {0};
	uint64_t sum = 0;

	fxt_spill_sort(&l->items, intervals_compare);
	fxt_spill_init(&summed, sizeof(interval), FXT_SPILL_MEMORY_BYTES);
	for (uint64_t i = 0; i < l->items.count; i++) {
		interval = *(const struct fxt_interval *)fxt_spill_at(&l->items, &window, i);
		if (i == 0 || interval.owner != last.owner)
			last = (struct fxt_interval){.owner = interval.owner}, sum = 0;
		if (interval.start < last.end)
			interval.start = last.end;
		if (interval.start >= interval.end)
			continue;
		interval.before = sum;
		sum += interval.end - interval.start;
		fxt_spill_add(&summed, &interval);
		last = interval;
	}
	fxt_spill_free(&l->items);
	l->items = summed;
}

static bool intervals_is_before(const struct fxt_intervals *l, uint64_t place, uint64_t owner, bool behind)
{
	struct fxt_interval interval;

	fxt_spill_read(&l->items, place, 1, &interval);
	return interval.owner < owner || (behind && interval.owner == owner);
}

/* The first interval of an owner, or the place where it would stand. */
static uint64_t intervals_find_owner(const struct fxt_intervals *l, uint64_t owner, bool behind)
{
	return partition_point(i, l->items.count, intervals_is_before(l, i, owner, behind));
}

void fxt_intervals_finish(struct fxt_intervals *l, const uint64_t *owners, size_t thread_count)
{
	intervals_sum_up(l);
	l->thread_count = thread_count;
	l->first = fxt_allocate(thread_count * sizeof(*l->first) + 1);
	l->count = fxt_allocate(thread_count * sizeof(*l->count) + 1);
	for (size_t i = 0; i < thread_count; i++) {
		l->first[i] = intervals_find_owner(l, owners[i], false);
		l->count[i] = intervals_find_owner(l, owners[i], true) - l->first[i];
	}
}

static const struct fxt_interval *intervals_at(struct fxt_interval_reader *reader, uint64_t index)
{
	return fxt_spill_at(&reader->intervals->items, &reader->window, index);
}

/* Finds the first interval that begins after a moment: doubles the step from the reader's
 * place, and then halves it. */
static uint64_t intervals_find(struct fxt_interval_reader *reader, uint64_t moment)
{
	uint64_t low = reader->intervals->first[reader->thread];
	uint64_t high = low + reader->intervals->count[reader->thread], step = 1;

	if (reader->place < high && intervals_at(reader, reader->place)->start <= moment) {
		low = reader->place + 1;
		while (step < high - low && intervals_at(reader, low + step)->start <= moment) {
			low += step + 1;
			step *= 2;
		}
		if (step < high - low)
			high = low + step;
	} else {
		high = reader->place;
		while (step < high - low && intervals_at(reader, high - step)->start > moment) {
			high -= step;
			step *= 2;
		}
		if (step < high - low)
			low = high - step + 1;
	}
	return low + partition_point(i, high - low, intervals_at(reader, low + i)->start <= moment);
}

/* Moves the reader to a moment. Returns the sum up to it. */
static uint64_t intervals_seek(struct fxt_interval_reader *reader, uint64_t moment, bool is_end)
{
	const struct fxt_intervals *l = reader->intervals;
	uint64_t first = l->first[reader->thread], last = first + l->count[reader->thread];
	struct fxt_interval interval = {0};

	if (moment >= reader->low && moment <= reader->high)
		return reader->before + (reader->is_inside ? moment - reader->low : 0);
	uint64_t next = intervals_find(reader, moment);

	/* The next query, going backwards, has its end near; inside a call, this call's
	 * start is far from it. */
	if (is_end)
		reader->place = next;
	if (next > first)
		interval = *intervals_at(reader, next - 1);
	reader->is_inside = moment < interval.end;
	reader->low = reader->is_inside ? interval.start : interval.end;
	reader->high = reader->is_inside ? interval.end
	               : next < last     ? intervals_at(reader, next)->start
	                                 : UINT64_MAX;
	reader->before = interval.before + (reader->is_inside ? 0 : interval.end - interval.start);
	return reader->before + (reader->is_inside ? moment - interval.start : 0);
}

uint64_t fxt_intervals_look_up(struct fxt_interval_reader *reader, uint64_t start, uint64_t end)
{
	if (!fxt_intervals_has(reader->intervals, reader->thread)) {
		reader->low = 0;
		reader->high = UINT64_MAX;
		return 0;
	}
	uint64_t up_to_end = intervals_seek(reader, end, true);

	/* The next query, going backwards, lies before the start of this one. */
	return up_to_end - intervals_seek(reader, start, false);
}
