#include "lapses.h"

#include <stdlib.h>
#include "index.h"

void fxt_lapses_init(struct fxt_lapses *l)
{
	*l = (struct fxt_lapses){0};
	fxt_spill_init(&l->items, sizeof(struct fxt_lapse), FXT_SPILL_MEMORY_BYTES);
}

void fxt_lapses_free(struct fxt_lapses *l)
{
	fxt_spill_free(&l->items);
	free(l->first);
	free(l->count);
	*l = (struct fxt_lapses){.items = {.fd = -1}};
}

void fxt_lapses_add(struct fxt_lapses *l, uint64_t owner, uint64_t start, uint64_t end)
{
	struct fxt_lapse lapse = {start, end, l->items.count, owner};

	if (start < end)
		fxt_spill_add(&l->items, &lapse);
}

/* `before` is the order in which they were added yet. */
static int lapses_compare(const void *left, const void *right)
{
	const struct fxt_lapse *a = left, *b = right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->before > b->before) - (a->before < b->before);
}

/* Sums them up, without what two of an owner have in common. */
static void lapses_sum_up(struct fxt_lapses *l)
{
	struct fxt_spill_window window = {0};
	struct fxt_spill summed;
	struct fxt_lapse lapse, last = {0};
	uint64_t sum = 0;

	fxt_spill_sort(&l->items, lapses_compare);
	fxt_spill_init(&summed, sizeof(lapse), FXT_SPILL_MEMORY_BYTES);
	for (uint64_t i = 0; i < l->items.count; i++) {
		lapse = *(const struct fxt_lapse *)fxt_spill_at(&l->items, &window, i);
		if (i == 0 || lapse.owner != last.owner)
			last = (struct fxt_lapse){.owner = lapse.owner}, sum = 0;
		if (lapse.start < last.end)
			lapse.start = last.end;
		if (lapse.start >= lapse.end)
			continue;
		lapse.before = sum;
		sum += lapse.end - lapse.start;
		fxt_spill_add(&summed, &lapse);
		last = lapse;
	}
	fxt_spill_free(&l->items);
	l->items = summed;
}

/* The first of an owner, or where it would stand. */
static uint64_t lapses_find_owner(const struct fxt_lapses *l, uint64_t owner, bool behind)
{
	uint64_t low = 0, high = l->items.count;
	struct fxt_lapse lapse;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		fxt_spill_read(&l->items, middle, 1, &lapse);
		if (lapse.owner < owner || (behind && lapse.owner == owner))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void fxt_lapses_finish(struct fxt_lapses *l, const uint64_t *owners, size_t thread_count)
{
	lapses_sum_up(l);
	l->thread_count = thread_count;
	l->first = fxt_allocate(thread_count * sizeof(*l->first) + 1);
	l->count = fxt_allocate(thread_count * sizeof(*l->count) + 1);
	for (size_t i = 0; i < thread_count; i++) {
		l->first[i] = lapses_find_owner(l, owners[i], false);
		l->count[i] = lapses_find_owner(l, owners[i], true) - l->first[i];
	}
}

static const struct fxt_lapse *lapses_at(struct fxt_lapse_reader *reader, uint64_t index)
{
	return fxt_spill_at(&reader->lapses->items, &reader->window, index);
}

/* The first that begins after a moment, by steps from where the reader is that double, and then by halves. */
static uint64_t lapses_find(struct fxt_lapse_reader *reader, uint64_t moment)
{
	uint64_t low = reader->lapses->first[reader->thread];
	uint64_t high = low + reader->lapses->count[reader->thread], step = 1;

	if (reader->place < high && lapses_at(reader, reader->place)->start <= moment) {
		low = reader->place + 1;
		while (step < high - low && lapses_at(reader, low + step)->start <= moment) {
			low += step + 1;
			step *= 2;
		}
		if (step < high - low)
			high = low + step;
	} else {
		high = reader->place;
		while (step < high - low && lapses_at(reader, high - step)->start > moment) {
			high -= step;
			step *= 2;
		}
		if (step < high - low)
			low = high - step + 1;
	}
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (lapses_at(reader, middle)->start <= moment)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Moves the reader to where a moment is. Returns the sum up to it. */
static uint64_t lapses_seek(struct fxt_lapse_reader *reader, uint64_t moment, bool is_end)
{
	const struct fxt_lapses *l = reader->lapses;
	uint64_t first = l->first[reader->thread], last = first + l->count[reader->thread];
	struct fxt_lapse lapse = {0};

	if (moment >= reader->low && moment <= reader->high)
		return reader->before + (reader->is_inside ? moment - reader->low : 0);
	uint64_t next = lapses_find(reader, moment);

	/* What comes next, backwards, ends near: in a call this begins far from it. */
	if (is_end)
		reader->place = next;
	if (next > first)
		lapse = *lapses_at(reader, next - 1);
	reader->is_inside = moment < lapse.end;
	reader->low = reader->is_inside ? lapse.start : lapse.end;
	reader->high = reader->is_inside ? lapse.end
	               : next < last     ? lapses_at(reader, next)->start
	                                 : UINT64_MAX;
	reader->before = lapse.before + (reader->is_inside ? 0 : lapse.end - lapse.start);
	return reader->before + (reader->is_inside ? moment - lapse.start : 0);
}

uint64_t fxt_lapses_look_up(struct fxt_lapse_reader *reader, uint64_t start, uint64_t end)
{
	if (!fxt_lapses_has(reader->lapses, reader->thread)) {
		reader->low = 0;
		reader->high = UINT64_MAX;
		return 0;
	}
	uint64_t up_to_end = lapses_seek(reader, end, true);

	/* The one that comes next, backwards, is before this one's start. */
	return up_to_end - lapses_seek(reader, start, false);
}
