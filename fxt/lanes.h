/*
 * Slices as a picture shows them that must not grow with their number. A lane is a row of the picture, as the
 * calls of one depth in one thread; its items are in the order of time and do not overlap. As long as there
 * are few enough items, each is a slice. Then neighbours of a lane are merged that together are shorter than
 * a width, the same for all lanes, which is doubled whenever there are too many again. What is longer stays
 * exact.
 *
 *   slices    |-a-||b||c||d|    |e|           |------ f ------||g||h|
 *   items     |-a-|[b, c, d]    |e|           |------ f ------|[g, h]
 *
 * No slice is left out of the sums: an item says how many there are in it, and how much of its time they
 * take.
 */
#ifndef FXT_FXT_LANES_H
#define FXT_FXT_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lanes of a thread, and of all together; slices of others are counted only. */
enum { FXT_LANE_ROWS = 256, FXT_LANES_MAX = 8192 };

struct fxt_lane_item {
	uint64_t start, end; /* of the first slice, and of the last */
	uint64_t sum;        /* what the slices add up to: their time, or another weight */
	uint64_t longest;
	uint64_t count;
	uint32_t name; /* of the longest one */
	bool is_call;  /* the longest one */
	bool is_open;  /* one of them never ended */
};

struct fxt_lane {
	uint32_t thread, row;
	struct fxt_lane_item *items;
	size_t count, room;
};

struct fxt_lane_rows {
	uint32_t *lane_of; /* by row, plus 1 */
	size_t count;
};

struct fxt_lanes {
	struct fxt_lane *items;
	size_t count, room;
	size_t item_count, item_limit; /* of all lanes together */
	uint64_t width;                /* what is shorter may be merged; 0: nothing is */
	uint64_t omitted;              /* slices of no lane */
	struct fxt_lane_rows *rows_of; /* by thread */
	size_t thread_count;
};

/* No lanes yet; `item_limit` is the most items, four for each lane at least. */
void fxt_lanes_init(struct fxt_lanes *lanes, size_t item_limit);

/* What is all zeros may be freed, too, and is so afterwards. */
void fxt_lanes_free(struct fxt_lanes *lanes);

/* Adds a slice. Those of a lane come in the order of time, all forward or all backward. */
void fxt_lanes_add(struct fxt_lanes *lanes, uint32_t thread, uint32_t row, const struct fxt_lane_item *slice);

#endif
