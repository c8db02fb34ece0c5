/*
 * Slices for a picture of limited size, however many slices there are. A lane is a row of
 * the picture, such as the calls of one depth in one thread. Its items are in the order of
 * time and do not overlap. As long as there are few items, each is one slice. Then
 * neighbours in a lane are merged if together they are shorter than a width. The width is
 * the same for all lanes, and is doubled whenever there are too many items again. Longer
 * slices stay exact.
 *
 *   slices    |-a-||b||c||d|    |e|           |------ f ------||g||h|
 *   items     |-a-|[b, c, d]    |e|           |------ f ------|[g, h]
 *
 * The sums include every slice: an item has the number of its slices, and how much of its
 * time they take.
 */
#ifndef FXT_FXT_LANES_H
#define FXT_FXT_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most lanes of a thread, and of all together; slices in further lanes are only counted. */
enum { FXT_LANE_ROWS = 256, FXT_LANES_MAX = 8192 };

struct fxt_lane_item {
	uint64_t start, end; /* of the first slice, and of the last */
	uint64_t sum;        /* the sum of the slices: their time, or another weight */
	uint64_t longest;
	uint64_t count;
	uint32_t name; /* the longest slice's */
	bool is_call;  /* the longest slice is a call */
	bool is_open;  /* a slice of the item never ended */
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
	size_t item_count, item_limit; /* in all lanes together */
	uint64_t width;                /* items shorter than this may be merged; 0: none
	                                  are */
	uint64_t omitted;              /* slices that have no lane */
	struct fxt_lane_rows *rows_of; /* by thread */
	size_t thread_count;
};

/* Starts without lanes. `item_limit` is the most items; it must allow at least four for
 * each lane. */
void fxt_lanes_init(struct fxt_lanes *lanes, size_t item_limit);

/* Frees the lanes and sets them to all zeros. Lanes that are all zeros may be freed,
 * too. */
void fxt_lanes_free(struct fxt_lanes *lanes);

/* Adds a slice. The slices of a lane come in the order of time, all forward or all
 * backward. */
void fxt_lanes_add(struct fxt_lanes *lanes, uint32_t thread, uint32_t row, const struct fxt_lane_item *slice);

#endif
