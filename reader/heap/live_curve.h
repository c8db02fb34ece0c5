/*
 * The live bytes and blocks of a heap over time, in a bounded number of points. Each point
 * is an actual moment. Points that lie close together are thinned out, but the least, the
 * greatest and the last of each step stay. The highest peak is therefore in the curve,
 * however short it was, and a curve of few changes is complete.
 */
#ifndef FXT_READER_LIVE_CURVE_H
#define FXT_READER_LIVE_CURVE_H

#include <stddef.h>
#include <stdint.h>

#define FXT_LIVE_CURVE_POINTS 4096 /* at most */

struct fxt_live_point {
	uint64_t ns;
	uint64_t bytes;
	uint64_t objects;
};

/* All zeros is an empty one. */
struct fxt_live_curve {
	struct fxt_live_point *points; /* in the order of time; the owner of the curve frees
	                                  them */
	size_t count, room;
	unsigned step_bits; /* points are thinned out within steps of 2^step_bits ns */
};

/* Adds the state from a time on, which is not before the last point's. Adds no point if the
 * state has not changed. */
void fxt_live_curve_add(struct fxt_live_curve *curve, struct fxt_live_point point);

#endif
