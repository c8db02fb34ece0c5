#include "tracks.h"

#include <stdlib.h>
#include "said.h"
#include "tui.h"
#include "writer/shared/search.h"

static bool tracks_have(uint32_t thread)
{
	return fxt_tui.threads[thread].count > 0 && fxt_filter_has_thread(fxt_tui.scan->filter, thread);
}

static void tracks_add(struct fxt_tracks *tracks, struct fxt_track track)
{
	fxt_make_room(tracks->items, tracks->count, tracks->room);
	tracks->items[tracks->count++] = track;
}

void fxt_tracks_update(struct fxt_tracks *tracks, const struct fxt_window_lanes *lanes)
{
	for (size_t i = 0; i < lanes->slices.count; i++) {
		const struct fxt_lane *lane = &lanes->slices.items[i];

		fxt_make_zeroed(tracks->rows_of, tracks->thread_count, lane->thread);
		if (tracks->rows_of[lane->thread] <= lane->row)
			tracks->rows_of[lane->thread] = lane->row + 1;
	}
	tracks->count = 0;
	for (uint32_t i = 0; fxt_said_async_rows(i) > 0; i++)
		for (int row = 0; row < fxt_said_async_rows(i); row++)
			tracks_add(tracks, (struct fxt_track){i + 1, row, FXT_TRACK_ASYNC});
	for (uint32_t thread = 1; thread < fxt_tui.scan->thread_count; thread++) {
		int rows = thread < tracks->thread_count ? (int)tracks->rows_of[thread] : 0;

		for (int row = FXT_TRACK_ACTIVITY; tracks_have(thread) && row < rows; row++)
			tracks_add(tracks, (struct fxt_track){thread, row, FXT_TRACK_THREAD});
	}
	for (uint32_t i = 0; fxt_said_has_counter(i); i++)
		if (fxt_said_shows_counter(i))
			tracks_add(tracks, (struct fxt_track){i + 1, 0, FXT_TRACK_COUNTER});
}

void fxt_tracks_free(struct fxt_tracks *tracks)
{
	free(tracks->items);
	free(tracks->rows_of);
	*tracks = (struct fxt_tracks){0};
}

static int tracks_compare(const struct fxt_track *a, const struct fxt_track *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

size_t fxt_tracks_find(const struct fxt_tracks *tracks, struct fxt_track track)
{
	size_t found = 0;

	for (size_t i = 0; i < tracks->count; i++)
		if (tracks_compare(&tracks->items[i], &track) <= 0)
			found = i;
	return found;
}

const struct fxt_lane *fxt_track_lane(const struct fxt_lanes *lanes, uint32_t thread, uint32_t row)
{
	if (thread >= lanes->thread_count || row >= lanes->rows_of[thread].count ||
	        lanes->rows_of[thread].lane_of[row] == 0)
		return NULL;
	return &lanes->items[lanes->rows_of[thread].lane_of[row] - 1];
}

const struct fxt_lane_item *fxt_track_item(const struct fxt_lane *lane, size_t place)
{
	bool is_backward = lane->items[0].start > lane->items[lane->count - 1].start;

	return &lane->items[is_backward ? lane->count - 1 - place : place];
}

static bool tracks_is_over(const struct fxt_lane_item *item, uint64_t ns)
{
	return item->end <= ns && item->start < ns;
}

size_t fxt_track_after(const struct fxt_lane *lane, uint64_t ns)
{
	return partition_point(i, lane->count, tracks_is_over(fxt_track_item(lane, i), ns));
}
