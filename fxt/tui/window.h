/*
 * What the timeline shows, read from the trace in as much detail as a screen has columns: all of it once, in
 * lanes in which what is short is merged (lanes.h), and of a smaller part, as soon as that shows more than
 * these tell, those blocks of the file again which have something in it.
 */
#ifndef FXT_FXT_TUI_WINDOW_H
#define FXT_FXT_TUI_WINDOW_H

#include "fxt/lane_slices.h"

struct fxt_window_lanes {
	uint64_t from, to; /* in units of the scan: what they have all of */
	struct fxt_lanes slices, activity;
	bool is_read;
};

/* Between which details there is something to see, in units of the scan; the latter is later. */
void fxt_window_boundaries(uint64_t *first, uint64_t *last);

/* The lanes for a part of the time that is to be drawn in so many columns. They hold until the next call.
 * NULL: reading them was stopped; those that were had before still can be. */
const struct fxt_window_lanes *fxt_window_read(uint64_t from, uint64_t to, unsigned columns);

void fxt_window_free(void);

#endif
