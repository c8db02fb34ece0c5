/*
 * Draws a part of the timeline: each item covers the columns of its time. If several items
 * share a column, the one with the largest part of it is shown.
 */
#ifndef FXT_FXT_TUI_PICTURE_H
#define FXT_FXT_TUI_PICTURE_H

#include "tracks.h"

struct fxt_picture {
	const struct fxt_window_lanes *lanes;
	uint64_t from, to;                    /* ns */
	uint64_t origin;                      /* ns: times on the screen count from there */
	int left, width;                      /* in columns; `left` is the width of the
	                                         threads' names */
	const struct fxt_lane_item *selected; /* NULL: none */
	const char *found;                    /* part of the names to be marked; "": none */
};

/* Draws the ruler: the time since the picture's start, at regular columns. */
void fxt_picture_ruler(const struct fxt_picture *picture, int line);

/* Draws a track; the first track of a thread also shows the thread's name. */
void fxt_picture_track(const struct fxt_picture *picture, int line, struct fxt_track track, bool is_cursor);

/* Draws two lines that describe an item of a track: a slice, the thread's activity, or a
 * loss. `item` is NULL if there is none. */
void fxt_picture_details(const struct fxt_picture *picture, int line, struct fxt_track track,
        const struct fxt_lane_item *item, bool is_loss);

#endif
