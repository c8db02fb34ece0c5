/*
 * Bounds of the offset between the clocks of two machines, from messages between them. A
 * message has a time of one clock at which it was sent, and a time of the other clock at which
 * it was received. These bound the offset from one side. Messages of the other direction bound
 * it from the other side.
 *
 * The clocks go at rates that differ by a constant, so their offset is a line over time. Each
 * bound is a point that the line must not be below, or above. A line that keeps to the points
 * of the convex hull keeps to all. The hulls have some tens of points, and memory grows with
 * them alone.
 */
#ifndef FXT_FXT_MERGE_LINKS_H
#define FXT_FXT_MERGE_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rates of two machines' CLOCK_MONOTONIC differ by less. */
#define FXT_MERGE_DRIFT_MAX 1200e-6

/* At the time `at`, the line is at least at `least`; both in ns, less than 2^61 from 0. */
struct fxt_merge_point {
	int64_t at, least;
};

struct fxt_merge_hull {
	struct fxt_merge_point *points;
	size_t count, room;
};

/* Converts times x of one clock to another one: x + offset + drift * (x - at). While the
 * messages were exchanged, the result is wrong by at most error_ns. */
struct fxt_merge_offset {
	int64_t at, offset;
	double drift;
	uint64_t error_ns;
};

/* Two machines, by their numbers. `offset` converts times of the second one's clock to the
 * first one's. */
struct fxt_merge_link {
	uint32_t first, second;
	struct fxt_merge_hull low, high; /* points of the offset, and of the negated offset */
	struct fxt_merge_offset offset;  /* valid if it is fit */
	bool is_fit;
};

/* All zeros: none. */
struct fxt_merge_links {
	struct fxt_merge_link *items;
	size_t count, room;
	size_t latest;    /* the item that was found last */
	const char *lack; /* a phrase for people: why some traces are not linked */
};

/* Adds a message that machine `from` sent at its time `sent`, and `to` received. */
void fxt_merge_links_add(
        struct fxt_merge_links *links, uint32_t from, uint32_t to, int64_t sent, int64_t received);

/* Fits a line to each link's bounds. The line has a drift only if that more than doubles the
 * room between the bounds. A link stays without a line if it has bounds of one side only, or
 * if no line keeps to its bounds. */
void fxt_merge_links_fit(struct fxt_merge_links *links);

void fxt_merge_links_free(struct fxt_merge_links *links);

/* The same offset, of the other clock. */
struct fxt_merge_offset fxt_merge_offset_inverse(const struct fxt_merge_offset *offset);

/* `inner` leads from a clock to a second one, and `outer` from there to a third one. Returns
 * the way from the first to the third. */
struct fxt_merge_offset fxt_merge_offset_chain(
        const struct fxt_merge_offset *inner, const struct fxt_merge_offset *outer);

#endif
