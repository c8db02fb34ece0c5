/*
 * Fits lines between the bounds of clocks' offsets (links.h). Runs on the main thread. It
 * must not keep a line that a message contradicts.
 */
#include "links.h"

#include <stdlib.h>
#include "reader/trace/index.h"

#define STEPS 200 /* of a search; each leaves two thirds of the range */

/* ---- hulls ---- */

static int hull_compare(const void *left, const void *right)
{
	const struct fxt_merge_point *a = left, *b = right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (a->least > b->least) - (a->least < b->least);
}

/* Whether `b` is below the line from `a` to `c`, or on it. */
static bool hull_is_below(
        const struct fxt_merge_point *a, const struct fxt_merge_point *b, const struct fxt_merge_point *c)
{
	return ((__int128)b->at - a->at) * ((__int128)c->least - a->least) >=
	       ((__int128)b->least - a->least) * ((__int128)c->at - a->at);
}

/* Leaves only the points of the upper hull, in the order of time. */
static void hull_reduce(struct fxt_merge_hull *hull)
{
	struct fxt_merge_point *p = hull->points;
	size_t kept = 0;

	if (hull->count == 0)
		return;
	qsort(p, hull->count, sizeof(*p), hull_compare);
	for (size_t i = 0; i < hull->count; i++) {
		if (kept > 0 && p[kept - 1].at == p[i].at)
			kept--;
		while (kept > 1 && hull_is_below(&p[kept - 2], &p[kept - 1], &p[i]))
			kept--;
		p[kept++] = p[i];
	}
	hull->count = kept;
}

static void hull_add(struct fxt_merge_hull *hull, int64_t at, int64_t least)
{
	if (hull->count == hull->room)
		hull_reduce(hull);
	if (2 * hull->count >= hull->room) {
		hull->room = hull->room ? 2 * hull->room : 256;
		hull->points = fxt_resize(hull->points, hull->room, sizeof(*hull->points));
	}
	hull->points[hull->count++] = (struct fxt_merge_point){at, least};
}

/* ---- lines ---- */

/* A line's value at time 0 is `start`; times and values are relative to a point of the
 * hulls, so that a double has them to less than a nanosecond. */
struct fit {
	const struct fxt_merge_link *link;
	int64_t at, offset;
};

/* The least start that a line with this drift may have, and the greatest one. */
static double fit_low(const struct fit *f, double drift)
{
	const struct fxt_merge_hull *hull = &f->link->low;
	double low = 0;

	for (size_t i = 0; i < hull->count; i++) {
		double start = (double)(hull->points[i].least - f->offset) -
		               drift * (double)(hull->points[i].at - f->at);

		low = i == 0 || start > low ? start : low;
	}
	return low;
}

static double fit_high(const struct fit *f, double drift)
{
	const struct fxt_merge_hull *hull = &f->link->high;
	double high = 0;

	for (size_t i = 0; i < hull->count; i++) {
		double start = (double)(-hull->points[i].least - f->offset) -
		               drift * (double)(hull->points[i].at - f->at);

		high = i == 0 || start < high ? start : high;
	}
	return high;
}

static double fit_room(const struct fit *f, double drift, double at)
{
	(void)at;
	return fit_high(f, drift) - fit_low(f, drift);
}

/* How far a line with this drift may be at a time. */
static double fit_highest(const struct fit *f, double drift, double at)
{
	return fit_high(f, drift) + drift * at;
}

static double fit_deepest(const struct fit *f, double drift, double at)
{
	return -(fit_low(f, drift) + drift * at);
}

/* The drift in the range for which the function, which is concave, has the greatest
 * value. */
static double fit_search(const struct fit *f, double from, double to,
        double (*value)(const struct fit *, double, double), double at)
{
	for (int i = 0; i < STEPS && from < to; i++) {
		double third = (to - from) / 3;

		if (value(f, from + third, at) < value(f, to - third, at))
			from += third;
		else
			to -= third;
	}
	return (from + to) / 2;
}

/* The last drift on the way to `end` for which there is a line. */
static double fit_limit(const struct fit *f, double drift, double end)
{
	for (int i = 0; i < STEPS; i++) {
		double middle = (drift + end) / 2;

		if (fit_room(f, middle, 0) >= 0)
			drift = middle;
		else
			end = middle;
	}
	return drift;
}

/* How far another line between the bounds may be from this one, at a time. */
static double fit_error(const struct fit *f, double start, double drift, const double limits[2], double at)
{
	double high = fit_search(f, limits[0], limits[1], fit_highest, at),
	       low = fit_search(f, limits[0], limits[1], fit_deepest, at), line = start + drift * at;
	double above = fit_highest(f, high, at) - line, below = line + fit_deepest(f, low, at);

	return above > below ? above : below;
}

static int64_t link_end(const struct fxt_merge_link *link, bool is_last)
{
	const struct fxt_merge_hull *low = &link->low, *high = &link->high;
	int64_t a = low->points[is_last ? low->count - 1 : 0].at,
	        b = high->points[is_last ? high->count - 1 : 0].at;

	return (a > b) == is_last ? a : b;
}

static void link_fit(struct fxt_merge_link *link)
{
	hull_reduce(&link->low);
	hull_reduce(&link->high);
	if (link->low.count == 0 || link->high.count == 0)
		return;
	const struct fit f = {link, link_end(link, false), link->low.points[0].least};
	double best = fit_search(&f, -FXT_MERGE_DRIFT_MAX, FXT_MERGE_DRIFT_MAX, fit_room, 0);
	double drift = fit_room(&f, 0, 0) * 2 >= fit_room(&f, best, 0) ? 0 : best;
	double start = (fit_low(&f, drift) + fit_high(&f, drift)) / 2;

	if (fit_room(&f, drift, 0) < 0)
		return;
	const double limits[2] = {
	        fit_limit(&f, drift, -FXT_MERGE_DRIFT_MAX), fit_limit(&f, drift, FXT_MERGE_DRIFT_MAX)};
	double first = fit_error(&f, start, drift, limits, 0),
	       last = fit_error(&f, start, drift, limits, (double)(link_end(link, true) - f.at));

	link->offset = (struct fxt_merge_offset){.at = f.at,
	        .offset = f.offset + (int64_t)start,
	        .drift = drift,
	        .error_ns = (uint64_t)(first > last ? first : last) + 1};
	link->is_fit = true;
}

/* ---- the interface ---- */

static struct fxt_merge_link *links_find(struct fxt_merge_links *links, uint32_t first, uint32_t second)
{
	for (size_t i = 0; i < links->count; i++) {
		struct fxt_merge_link *link = &links->items[links->latest];

		if (link->first == first && link->second == second)
			return link;
		links->latest = (links->latest + 1) % links->count;
	}
	fxt_make_room(links->items, links->count, links->room);
	links->items[links->count] = (struct fxt_merge_link){.first = first, .second = second};
	links->latest = links->count++;
	return &links->items[links->latest];
}

void fxt_merge_links_add(
        struct fxt_merge_links *links, uint32_t from, uint32_t to, int64_t sent, int64_t received)
{
	if (from < to)
		hull_add(&links_find(links, from, to)->low, received, sent - received);
	else
		hull_add(&links_find(links, to, from)->high, sent, sent - received);
}

void fxt_merge_links_fit(struct fxt_merge_links *links)
{
	for (size_t i = 0; i < links->count; i++)
		link_fit(&links->items[i]);
}

void fxt_merge_links_free(struct fxt_merge_links *links)
{
	for (size_t i = 0; i < links->count; i++) {
		free(links->items[i].low.points);
		free(links->items[i].high.points);
	}
	free(links->items);
}

struct fxt_merge_offset fxt_merge_offset_inverse(const struct fxt_merge_offset *offset)
{
	return (struct fxt_merge_offset){.at = offset->at + offset->offset,
	        .offset = -offset->offset,
	        .drift = -offset->drift / (1 + offset->drift),
	        .error_ns = offset->error_ns};
}

struct fxt_merge_offset fxt_merge_offset_chain(
        const struct fxt_merge_offset *inner, const struct fxt_merge_offset *outer)
{
	double behind = (double)(inner->at + inner->offset - outer->at);

	return (struct fxt_merge_offset){.at = inner->at,
	        .offset = inner->offset + outer->offset + (int64_t)(outer->drift * behind),
	        .drift = inner->drift + outer->drift + inner->drift * outer->drift,
	        .error_ns = inner->error_ns + outer->error_ns};
}
