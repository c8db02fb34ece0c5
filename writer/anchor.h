/*
 * An anchor: one instant on all the clocks of a machine, and which machine and boot that is. A trace has one
 * of when it began to be written and one of its end, in blob records. By these traces of different sessions
 * come on one timeline: a session's rate of the counter is measured, and a few ppm of a counter that began
 * days ago are seconds.
 */
#ifndef FXT_WRITER_ANCHOR_H
#define FXT_WRITER_ANCHOR_H

#include <string.h>
#include "clock.h"
#include "encode.h"

#define FXT_ANCHOR_BLOB "fxt:anchor"

/* The blob's data. What could not be learnt is 0. */
struct fxt_anchor {
	uint64_t clock;        /* enum fxt_clock_kind: what the trace's ticks are of */
	uint64_t ticks;        /* now, on that clock */
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC */
	uint64_t realtime_ns;  /* CLOCK_REALTIME */
	uint64_t width_ticks;  /* the three were read within so many */
	uint8_t boot[16];      /* the kernel's id of this boot, which no other machine has */
	/* Namespaces, by their inode numbers: where equal, CLOCK_MONOTONIC and pids mean the same. */
	uint64_t time_space, pid_space;
};

enum { FXT_ANCHOR_WORDS = 1 + 2 + sizeof(struct fxt_anchor) / 8 };

/* Reads the clocks, as close together as a few tries get it, and who this is. */
struct fxt_anchor fxt_anchor_read(enum fxt_clock_kind clock);

/* Returns the record's size in words. */
static inline size_t fxt_put_anchor(uint64_t *dst, size_t capacity, const struct fxt_anchor *anchor)
{
	return fxt_put_blob(dst, capacity, fxt_string_inline(FXT_ANCHOR_BLOB, strlen(FXT_ANCHOR_BLOB)),
	        FXT_BLOB_DATA, anchor, sizeof(*anchor));
}

#endif
