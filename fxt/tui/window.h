/*
 * The contents of the timeline, read from the trace in as much detail as a screen has
 * columns. All of the trace is read once into lanes that merge short items (lanes.h). If a
 * smaller part would show more than these lanes hold, the blocks of the file that overlap
 * it are read again.
 */
#ifndef FXT_FXT_TUI_WINDOW_H
#define FXT_FXT_TUI_WINDOW_H

#include "fxt/lane_slices.h"

struct fxt_window_lanes {
	uint64_t from, to; /* in units of the scan: the range that the lanes have
	                      completely */
	struct fxt_lanes slices, activity;
	bool is_read;
};

/* The times between which there is something to see, in units of the scan; *last is
 * greater than *first. */
void fxt_window_boundaries(uint64_t *first, uint64_t *last);

/* The lanes for a part of the time that is to be drawn in `columns` columns. They are
 * valid until the next call. NULL: reading them was stopped; the lanes of the call
 * before stay valid. */
const struct fxt_window_lanes *fxt_window_read(uint64_t from, uint64_t to, unsigned columns);

void fxt_window_free(void);

#endif
