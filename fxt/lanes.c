#include "lanes.h"

#include <stdlib.h>
#include "reader/trace/index.h"

void fxt_lanes_init(struct fxt_lanes *lanes, size_t item_limit)
{
	*lanes = (struct fxt_lanes){.item_limit = item_limit};
}

void fxt_lanes_free(struct fxt_lanes *lanes)
{
	for (size_t i = 0; i < lanes->count; i++)
		free(lanes->items[i].items);
	for (size_t i = 0; i < lanes->thread_count; i++)
		free(lanes->rows_of[i].lane_of);
	free(lanes->items);
	free(lanes->rows_of);
	*lanes = (struct fxt_lanes){0};
}

/* Returns NULL if there are too many lanes. */
static struct fxt_lane *lanes_of(struct fxt_lanes *lanes, uint32_t thread, uint32_t row)
{
	if (row >= FXT_LANE_ROWS)
		return NULL;
	fxt_make_zeroed(lanes->rows_of, lanes->thread_count, thread);
	struct fxt_lane_rows *rows = &lanes->rows_of[thread];

	fxt_make_zeroed(rows->lane_of, rows->count, row);
	if (rows->lane_of[row] == 0) {
		if (lanes->count == FXT_LANES_MAX)
			return NULL;
		fxt_make_room(lanes->items, lanes->count, lanes->room);
		lanes->items[lanes->count++] = (struct fxt_lane){.thread = thread, .row = row};
		rows->lane_of[row] = (uint32_t)lanes->count;
	}
	return &lanes->items[rows->lane_of[row] - 1];
}

/* Merges an item into its neighbour if both together are short enough. */
static bool lanes_merge(struct fxt_lane_item *into, const struct fxt_lane_item *item, uint64_t width)
{
	uint64_t start = item->start < into->start ? item->start : into->start;
	uint64_t end = item->end > into->end ? item->end : into->end;

	if (end - start >= width)
		return false;
	into->start = start;
	into->end = end;
	into->sum += item->sum;
	into->count += item->count;
	into->is_open |= item->is_open;
	if (item->longest > into->longest) {
		into->longest = item->longest;
		into->name = item->name;
		into->is_call = item->is_call;
	}
	return true;
}

/* Doubles the width until there is room. This ends, because any two neighbours are
 * shorter than the width at some point. */
static void lanes_coarsen(struct fxt_lanes *lanes)
{
	size_t limit = lanes->item_limit > 4 * lanes->count ? lanes->item_limit : 4 * lanes->count;

	while (lanes->item_count >= limit && lanes->width < UINT64_MAX / 2) {
		lanes->width = lanes->width ? 2 * lanes->width : 16;
		for (size_t i = 0; i < lanes->count; i++) {
			struct fxt_lane *lane = &lanes->items[i];
			size_t kept = 0;

			for (size_t j = 1; j < lane->count; j++)
				if (!lanes_merge(&lane->items[kept], &lane->items[j], lanes->width))
					lane->items[++kept] = lane->items[j];
			lanes->item_count -= lane->count - (kept + 1);
			lane->count = kept + 1;
		}
	}
}

void fxt_lanes_add(struct fxt_lanes *lanes, uint32_t thread, uint32_t row, const struct fxt_lane_item *slice)
{
	struct fxt_lane *lane = lanes_of(lanes, thread, row);

	if (!lane) {
		lanes->omitted += slice->count;
		return;
	}
	if (lane->count > 0 && lanes_merge(&lane->items[lane->count - 1], slice, lanes->width))
		return;
	fxt_make_room(lane->items, lane->count, lane->room);
	lane->items[lane->count++] = *slice;
	lanes->item_count++;
	lanes_coarsen(lanes);
}
