/*
 * How a part of the timeline is drawn: each item over the columns that its time takes. Where several are in
 * one column, that one is seen which has most of it.
 */
#ifndef FXT_FXT_TUI_PICTURE_H
#define FXT_FXT_TUI_PICTURE_H

#include "tracks.h"

struct fxt_picture {
	const struct fxt_window_lanes *lanes;
	uint64_t from, to;                    /* ns */
	uint64_t origin;                      /* ns: times on the screen count from there */
	int left, width;                      /* columns; what is left of them is for names of threads */
	const struct fxt_lane_item *selected; /* NULL: nothing is */
	const char *found;                    /* part of the names that are marked; "": none is */
};

/* Draws how long after its beginning each so many columns are. */
void fxt_picture_ruler(const struct fxt_picture *picture, int line);

/* Draws a line, and in front of its first one the thread's name. */
void fxt_picture_track(const struct fxt_picture *picture, int line, struct fxt_track track, bool is_cursor);

/* Draws in two lines what an item of a line is: a slice, or what its thread did, or what was lost. It is NULL
 * if there is none. */
void fxt_picture_details(const struct fxt_picture *picture, int line, struct fxt_track track,
        const struct fxt_lane_item *item, bool is_loss);

#endif
