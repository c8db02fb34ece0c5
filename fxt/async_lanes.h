/*
 * Async spans for a picture: a track for each name, category and process, and in it as many
 * lanes (lanes.h) as spans overlap.
 *
 *   request    |--- 1 ---|  |-- 4 --|
 *                |- 2 -| |----- 5 -----|
 *                  |----- 3 -----|
 */
#ifndef FXT_FXT_ASYNC_LANES_H
#define FXT_FXT_ASYNC_LANES_H

#include "lanes.h"
#include "reader/stats/async.h"

/* Most lanes of a track, and most tracks; further spans are counted in lanes.omitted. */
enum { FXT_ASYNC_ROWS = 64, FXT_ASYNC_TRACKS = 120 };

struct fxt_async_track {
	uint64_t process;        /* koid */
	uint32_t name, category; /* ids of strings */
	bool is_shared;          /* another category has the name */
	uint64_t spans, open;
	size_t rows;
};

struct fxt_async_lanes {
	struct fxt_async_track *tracks;
	size_t count, room;
	struct fxt_lanes lanes; /* whose thread is the index of a track; times in ns */
};

/* Reads the spans that the scan's filter shows. Returns false if not all of the file could
 * be read again. */
bool fxt_async_lanes_read(struct fxt_async_lanes *async, const struct fxt_scan *scan, size_t item_limit);

void fxt_async_lanes_free(struct fxt_async_lanes *async);

#endif
