#include "live_curve.h"

#include "reader/trace/index.h"

/* Keeps the least, the greatest and the last of points[first..end), which belong to one
 * step, in their order, from `kept` on. Returns the new number of points. */
static size_t curve_thin_step(struct fxt_live_point *points, size_t first, size_t end, size_t kept)
{
	size_t least = first, most = first;

	for (size_t i = first; i < end; i++) {
		if (points[i].bytes < points[least].bytes)
			least = i;
		if (points[i].bytes > points[most].bytes)
			most = i;
	}
	for (size_t i = first; i < end; i++)
		if (i == least || i == most || i == end - 1)
			points[kept++] = points[i];
	return kept;
}

static void curve_thin(struct fxt_live_curve *c)
{
	size_t kept = 0;

	for (size_t first = 0, end; first < c->count; first = end) {
		end = first + 1;
		while (end < c->count &&
		        c->points[end].ns >> c->step_bits == c->points[first].ns >> c->step_bits)
			end++;
		kept = curve_thin_step(c->points, first, end, kept);
	}
	c->count = kept;
}

/* Doubles the step until half of the points are gone, so that the cost of thinning is small
 * beside that of adding. */
static void curve_make_room(struct fxt_live_curve *c)
{
	for (curve_thin(c); c->count > FXT_LIVE_CURVE_POINTS / 2; curve_thin(c))
		c->step_bits++;
}

void fxt_live_curve_add(struct fxt_live_curve *c, struct fxt_live_point point)
{
	const struct fxt_live_point *last = c->count ? &c->points[c->count - 1] : NULL;

	if (last && last->bytes == point.bytes && last->objects == point.objects)
		return;
	if (c->count == FXT_LIVE_CURVE_POINTS)
		curve_make_room(c);
	fxt_make_room(c->points, c->count, c->room);
	c->points[c->count++] = point;
}
