/*
 * Bounds of the offset between the clocks of two machines, from messages between them. A
 * message that was sent at one time of one clock and received at another time of the other
 * clock bounds the offset from one side. Messages of the other direction bound it from the
 * other side.
 *
 * The clocks go at rates that differ by a constant, so their offset is a line over time.
 * Each bound is a point that the line must not be below, or above. Only the points on the
 * convex hull matter: a line that keeps to them keeps to all. Memory grows with the hulls,
 * which have some tens of points, and not with the messages.
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

/* A clock from another one: its time is x + offset + drift * (x - at), at the other's time
 * x. Within the time of the messages it is wrong by at most error_ns. */
struct fxt_merge_offset {
	int64_t at, offset;
	double drift;
	uint64_t error_ns;
};

/* Two machines, by the number of the first trace of each. The offset is that of the first
 * one's clock from the second one's. */
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
	const char *lack; /* why traces that are not linked are not: a phrase for people */
};

/* Adds a message that machine `from` sent at its time `sent`, and `to` received. */
void fxt_merge_links_add(
        struct fxt_merge_links *links, uint32_t from, uint32_t to, int64_t sent, int64_t received);

/* Fits a line to each link's bounds. It has no drift unless that leaves it less than half of
 * the room between the bounds. A link without a line has bounds of one side only, or no line
 * keeps to its bounds. */
void fxt_merge_links_fit(struct fxt_merge_links *links);

void fxt_merge_links_free(struct fxt_merge_links *links);

/* The same offset, of the other clock. */
struct fxt_merge_offset fxt_merge_offset_inverse(const struct fxt_merge_offset *offset);

/* `inner` leads from a clock to a second one, and `outer` from there to a third one. Returns
 * the way from the first to the third. */
struct fxt_merge_offset fxt_merge_offset_chain(
        const struct fxt_merge_offset *inner, const struct fxt_merge_offset *outer);

#endif
