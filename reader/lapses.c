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
	struct fxt_spill summed;
	struct fxt_lapse lapse, last = {0};
	uint64_t sum = 0;

	fxt_spill_sort(&l->items, lapses_compare);
	fxt_spill_init(&summed, sizeof(lapse), FXT_SPILL_MEMORY_BYTES);
	for (uint64_t i = 0; i < l->items.count; i++) {
		fxt_spill_read(&l->items, i, 1, &lapse);
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

/* Moves the reader to where a moment is. Returns the sum up to it. */
static uint64_t lapses_seek(struct fxt_lapse_reader *reader, uint64_t moment)
{
	const struct fxt_lapses *l = reader->lapses;
	uint64_t first = l->first[reader->thread], low = first, high = first + l->count[reader->thread];
	struct fxt_lapse lapse, next = {.start = UINT64_MAX};

	if (moment >= reader->low && moment <= reader->high)
		return reader->before + (reader->is_inside ? moment - reader->low : 0);
	/* The last that begins at the moment or before. */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		fxt_spill_read(&l->items, middle, 1, &lapse);
		if (lapse.start <= moment)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < first + l->count[reader->thread])
		fxt_spill_read(&l->items, low, 1, &next);
	if (low == first) {
		lapse = (struct fxt_lapse){0};
	} else {
		fxt_spill_read(&l->items, low - 1, 1, &lapse);
	}
	reader->is_inside = moment < lapse.end;
	reader->low = reader->is_inside ? lapse.start : lapse.end;
	reader->high = reader->is_inside ? lapse.end : next.start;
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
	uint64_t up_to_end = lapses_seek(reader, end);

	/* The one that comes next, backwards, is before this one's start. */
	return up_to_end - lapses_seek(reader, start);
}
