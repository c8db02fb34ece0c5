/*
 * An anchor: one instant on all the clocks of a machine, with the identity of the machine
 * and its boot. A trace has two, in blob records: one for the moment at which writing
 * began, one for its end. Anchors put traces of different sessions on one timeline. The
 * start alone would not do: a session's rate of the counter is measured, and a few ppm of a
 * counter that began days ago are seconds.
 */
#ifndef FXT_WRITER_ANCHOR_H
#define FXT_WRITER_ANCHOR_H

#include "writer/shared/clock.h"
#include "encode.h"

#define FXT_ANCHOR_BLOB "fxt:anchor"

/* The blob's data. Values that could not be determined are 0. */
struct fxt_anchor {
	/* enum fxt_clock_kind: the clock that the trace's ticks count */
	uint64_t clock;
	uint64_t ticks;        /* now, on that clock */
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC */
	uint64_t realtime_ns;  /* CLOCK_REALTIME */
	uint64_t width_ticks;  /* the three clocks were read within this many ticks */
	/* the kernel's id of this boot, which no other machine has */
	uint8_t boot[16];
	/* Namespaces, by their inode numbers: if they are equal, CLOCK_MONOTONIC and pids
	 * mean the same. */
	uint64_t time_space, pid_space;
};

enum { FXT_ANCHOR_WORDS = 1 + 2 + sizeof(struct fxt_anchor) / 8 };

/* Reads the clocks, as close together as a few tries get it, and the identity of machine
 * and boot. */
struct fxt_anchor fxt_anchor_read(enum fxt_clock_kind clock);

/* Returns the record's size in words. */
static inline size_t fxt_put_anchor(uint64_t *dst, size_t capacity, const struct fxt_anchor *anchor)
{
	return fxt_put_blob(
	        dst, capacity, fxt_string_text(FXT_ANCHOR_BLOB), FXT_BLOB_DATA, anchor, sizeof(*anchor));
}

#endif
