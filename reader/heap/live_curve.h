/*
 * What lived of a heap over time, in a bounded number of points. Each point is a moment as it was; of many
 * that lie close together some are left out, but never the least, the most and the last of their step: so the
 * highest peak is there, however short it was, and a curve of few changes is whole.
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
	struct fxt_live_point *points; /* in the order of time; whoever has the curve frees them */
	size_t count, room;
	unsigned step_bits; /* points are left out within steps of 2^step_bits ns */
};

/* Adds what lives from a time on, which is not before that of the point added last; no point, if nothing has
 * changed. */
void fxt_live_curve_add(struct fxt_live_curve *curve, struct fxt_live_point point);

#endif
