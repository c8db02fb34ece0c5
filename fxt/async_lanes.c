/*
 * Puts each async span into the first lane of its track that is free when it begins. Runs
 * on the main thread. A trace may have a name a span, so tracks and lanes are limited.
 */
#include "async_lanes.h"

#include <stdlib.h>

static uint64_t async_process(const struct fxt_scan *scan, const struct fxt_async_span *span)
{
	return scan->tables.threads[span->thread].process;
}

static int async_by_track_and_time(const void *left, const void *right, void *scan)
{
	const struct fxt_async_span *a = left, *b = right;
	uint64_t of_a = async_process(scan, a), of_b = async_process(scan, b);

	if (of_a != of_b)
		return of_a < of_b ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static struct fxt_async_track *async_add_track(
        struct fxt_async_lanes *async, const struct fxt_async_group *group, uint64_t process)
{
	fxt_make_room(async->tracks, async->count, async->room);
	async->tracks[async->count] = (struct fxt_async_track){.process = process,
	        .name = group->name,
	        .category = group->category,
	        .is_shared = group->is_shared};
	return &async->tracks[async->count++];
}

/* Adds the spans of one track, which are in the order of their begins. */
static void async_add_spans(struct fxt_async_lanes *async, const struct fxt_scan *scan,
        const struct fxt_async_span *spans, size_t count)
{
	struct fxt_async_track *track = &async->tracks[async->count - 1];
	uint64_t ends[FXT_ASYNC_ROWS] = {0}; /* of the last span in each lane */

	track->spans = count;
	for (size_t i = 0; i < count; i++) {
		uint64_t start = fxt_scan_ns(scan, spans[i].start), end = fxt_scan_ns(scan, spans[i].end);
		struct fxt_lane_item item = {.start = start,
		        .end = end,
		        .sum = end - start,
		        .longest = end - start,
		        .count = 1,
		        .name = track->name,
		        .is_call = true,
		        .is_open = spans[i].is_open};
		size_t row = 0;

		track->open += spans[i].is_open;
		while (row < track->rows && ends[row] > start)
			row++;
		if (row == FXT_ASYNC_ROWS) {
			async->lanes.omitted++;
			continue;
		}
		track->rows = row == track->rows ? row + 1 : track->rows;
		ends[row] = end;
		fxt_lanes_add(&async->lanes, (uint32_t)async->count - 1, (uint32_t)row, &item);
	}
}

bool fxt_async_lanes_read(struct fxt_async_lanes *async, const struct fxt_scan *scan, size_t item_limit)
{
	struct fxt_asyncs asyncs;
	bool is_whole = fxt_asyncs_read(&asyncs, scan);

	*async = (struct fxt_async_lanes){0};
	fxt_lanes_init(&async->lanes, item_limit);
	if (asyncs.count > 1)
		qsort_r(asyncs.spans, asyncs.count, sizeof(*asyncs.spans), async_by_track_and_time,
		        (void *)(uintptr_t)scan);
	for (size_t i = 0, next; i < asyncs.count; i = next) {
		const struct fxt_async_span *first = &asyncs.spans[i];
		uint64_t process = async_process(scan, first);

		for (next = i + 1; next < asyncs.count && asyncs.spans[next].group == first->group &&
		                   async_process(scan, &asyncs.spans[next]) == process;)
			next++;
		if (async->count == FXT_ASYNC_TRACKS) {
			async->lanes.omitted += next - i;
			continue;
		}
		async_add_track(async, &asyncs.groups[first->group], process);
		async_add_spans(async, scan, first, next - i);
	}
	fxt_asyncs_free(&asyncs);
	return is_whole;
}

void fxt_async_lanes_free(struct fxt_async_lanes *async)
{
	free(async->tracks);
	fxt_lanes_free(&async->lanes);
	*async = (struct fxt_async_lanes){0};
}
