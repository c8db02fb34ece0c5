/*
 * The tracks of the timeline, one below the other: async spans, threads, counters. Each
 * thread has one for its activity, and one for each depth of its calls, as deep as any that
 * was shown so far, so that tracks do not jump about.
 */
#ifndef FXT_FXT_TUI_TRACKS_H
#define FXT_FXT_TUI_TRACKS_H

#include "window.h"

/* A track of a thread; `row` is the depth of its calls, or FXT_TRACK_ACTIVITY. In a track of
 * async spans or counters (said.h), `thread` is an index plus 1, and `row` tells overlapping
 * spans apart. */
enum { FXT_TRACK_ACTIVITY = -1 };
struct fxt_track {
	uint32_t thread;
	int row;
	enum { FXT_TRACK_ASYNC = -1, FXT_TRACK_THREAD, FXT_TRACK_COUNTER } kind; /* in this order */
};

struct fxt_tracks {
	struct fxt_track *items;
	size_t count, room;
	uint32_t *rows_of; /* by thread */
	size_t thread_count;
};

/* Updates the tracks from the lanes. */
void fxt_tracks_update(struct fxt_tracks *tracks, const struct fxt_window_lanes *lanes);
void fxt_tracks_free(struct fxt_tracks *tracks);

/* The place of a track, or of the one nearest to it. */
size_t fxt_tracks_find(const struct fxt_tracks *tracks, struct fxt_track track);

/* The lane of a thread's row; NULL: it has no slices. */
const struct fxt_lane *fxt_track_lane(const struct fxt_lanes *lanes, uint32_t thread, uint32_t row);

/* An item of a lane by its place in time, regardless of the order in which items were
 * added. */
const struct fxt_lane_item *fxt_track_item(const struct fxt_lane *lane, size_t place);

/* The place of the first item that ends after a moment, in ns, or begins at it, for an
 * item may have no length; lane->count: there is none. */
size_t fxt_track_after(const struct fxt_lane *lane, uint64_t ns);

#endif
