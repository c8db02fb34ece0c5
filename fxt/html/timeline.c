/*
 * Writes the timeline: slices, states and losses as the items of lanes (fxt/lanes.h). Runs
 * on the main thread, and reads the trace once more for the whole run and for each window.
 */
#include "page.h"

#include <inttypes.h>
#include <stdlib.h>
#include "fxt/async_lanes.h"
#include "fxt/json.h"
#include "fxt/lane_slices.h"
#include "reader/stats/counters.h"

/* The most items: slices of the whole run, states of threads, and slices of a window. An
 * item takes about 20 bytes of the page, a merged one 35. */
enum {
	CALLS_MAX = 36000,
	STATES_MAX = 12000,
	WINDOW_MAX = 80000,
	ASYNC_MAX = 12000,
	POINTS_MAX = 16000 /* of counters, 15 bytes each */
};

/* ---- writing ---- */

/* Writes an item as numbers: the distance from the end of the item before it; its length;
 * then the name id with three flag bits (merged, call, open). A merged item adds its count,
 * sum and maximum. So does an item whose sum is another weight than its time. */
static void timeline_item(
        struct fxt_html *page, const struct fxt_lane_item *item, uint64_t before, bool is_string)
{
	bool is_merged = item->count > 1 || item->sum != item->end - item->start;
	uint32_t name = is_string ? fxt_html_name(&page->names, item->name) : item->name;

	fprintf(page->out, "%" PRId64 ",%" PRIu64 ",%" PRIu64, (int64_t)(item->start - before),
	        item->end - item->start,
	        (uint64_t)name << 3 | (uint64_t)item->is_open << 2 | (uint64_t)item->is_call << 1 |
	                (uint64_t)is_merged);
	if (is_merged)
		fprintf(page->out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, item->count, item->sum,
		        item->longest);
}

static void timeline_lane(struct fxt_html *page, const struct fxt_lane *lane, uint64_t origin, bool is_string)
{
	bool is_backward = lane->items[0].start > lane->items[lane->count - 1].start;

	fprintf(page->out, "[%" PRIu32 ",%" PRIu32 ",[", lane->thread, lane->row);
	for (size_t i = 0; i < lane->count; i++) {
		const struct fxt_lane_item *item = &lane->items[is_backward ? lane->count - 1 - i : i];

		fputs(i > 0 ? "," : "", page->out);
		timeline_item(page, item, origin, is_string);
		origin = item->end;
	}
	fputs("]]", page->out);
}

/* Writes lanes; those of threads without slices are left out. */
static void timeline_lanes(struct fxt_html *page, const char *key, const struct fxt_lanes *lanes,
        bool is_string, bool is_of_threads)
{
	uint64_t origin = fxt_scan_ns(page->scan, page->scan->start);
	const char *before = "";

	fprintf(page->out, "\"%s\": {\"width\": %" PRIu64 ", \"left_out\": %" PRIu64 ", \"lanes\": [", key,
	        lanes->width, lanes->omitted);
	for (size_t i = 0; i < lanes->count; i++) {
		if (is_of_threads && page->threads[lanes->items[i].thread].count == 0)
			continue;
		fprintf(page->out, "%s\n", before);
		timeline_lane(page, &lanes->items[i], origin, is_string);
		before = ",";
	}
	fputs("]}", page->out);
}

/* ---- the program's own events ---- */

/* Writes async spans: a track for each name of a process, and its lanes. */
static void timeline_async(struct fxt_html *page)
{
	struct fxt_async_lanes async;

	page->is_changed |= !fxt_async_lanes_read(&async, page->scan, ASYNC_MAX);
	fputs("\"async_tracks\": [", page->out);
	for (size_t i = 0; i < async.count; i++) {
		const struct fxt_async_track *track = &async.tracks[i];

		fputs(i > 0 ? ",\n[" : "\n[", page->out);
		fxt_html_object(page, FXT_OBJECT_PROCESS, track->process);
		fprintf(page->out, ", %" PRIu32 ", %" PRIu32 ", %" PRIu64 ", %" PRIu64 "]",
		        fxt_html_name(&page->names, track->name),
		        fxt_html_name(&page->names, track->category), track->spans, track->open);
	}
	fputs("],\n", page->out);
	timeline_lanes(page, "async", &async.lanes, true, false);
	fxt_async_lanes_free(&async);
}

static void timeline_points(struct fxt_html *page, const struct fxt_counter *counter)
{
	uint64_t start = fxt_scan_ns(page->scan, page->scan->start);

	for (size_t i = 0; i < counter->point_count; i++) {
		const struct fxt_counter_point *point = &counter->points[i];
		const double numbers[] = {point->value, point->min, point->max};

		fprintf(page->out, "%s%" PRIu64, i > 0 ? "," : "",
		        fxt_scan_ns(page->scan, point->time) - start);
		for (size_t j = 0; j < 3; j++) {
			putc(',', page->out);
			fxt_json_number(page->out, numbers[j]);
		}
	}
}

/* Writes counters: names and points, each a time, its value, and the least and the greatest
 * value of the points that it stands for. */
static void timeline_counters(struct fxt_html *page)
{
	struct fxt_counters counters;

	page->is_changed |= !fxt_counters_read(&counters, page->scan, POINTS_MAX);
	fprintf(page->out, "\"counters_not_drawn\": %zu,\n\"counters\": [",
	        counters.count > FXT_COUNTERS_DRAWN ? counters.count - FXT_COUNTERS_DRAWN : 0);
	const char *before = "\n[";

	for (size_t i = 0; i < counters.count; i++) {
		const struct fxt_counter *c = &counters.items[i];

		if (c->point_count == 0)
			continue;
		fputs(before, page->out);
		fxt_html_object(page, FXT_OBJECT_PROCESS, c->process);
		fprintf(page->out, ", %" PRIu32 ", %" PRIu32 ", \"%" PRIu64 "\", ",
		        fxt_html_name(&page->names, c->name), fxt_html_name(&page->names, c->category),
		        c->id);
		fxt_json_string_in_html(page->out, c->series);
		fprintf(page->out, ", %" PRIu64 ", [", c->samples);
		timeline_points(page, c);
		fputs("]]", page->out);
		before = ",\n[";
	}
	fputs("]", page->out);
	fxt_counters_free(&counters);
}

/* ---- windows ---- */

/* Writes the slices of all threads during a window. A window has lanes of its own, so it
 * shows more detail than the whole run has for the same time. */
static void timeline_window(struct fxt_html *page, const struct fxt_window *window)
{
	const struct fxt_scan *scan = page->scan;
	uint64_t start = fxt_scan_ns(scan, scan->start);
	uint64_t from = window->from > scan->start ? fxt_scan_ns(scan, window->from) : start;
	uint64_t to = fxt_scan_ns(scan, window->to < scan->end ? window->to : scan->end);
	struct fxt_lanes calls;

	fxt_lanes_init(&calls, WINDOW_MAX);
	page->is_changed |= !fxt_lanes_add_slices(&calls, scan, window->from, window->to);
	fputs("{\"text\": ", page->out);
	fxt_json_string_in_html(page->out, fxt_span(window->text));
	fprintf(page->out, ", \"from\": %" PRIu64 ", \"to\": %" PRIu64 ", \"thread\": %" PRIu32 ",\n",
	        from - start, to - start, window->call.thread);
	timeline_lanes(page, "calls", &calls, true, true);
	fputs("}", page->out);
	fxt_lanes_free(&calls);
}

void fxt_html_timeline(struct fxt_html *page)
{
	const struct fxt_scan *scan = page->scan;
	const struct fxt_filter *filter = scan->filter;
	uint64_t start = fxt_scan_ns(scan, scan->start);
	uint64_t from = filter && filter->from > scan->start ? fxt_scan_ns(scan, filter->from) : start;
	uint64_t to = fxt_scan_ns(scan, filter && filter->to < scan->end ? filter->to : scan->end);
	struct fxt_lanes calls, states;

	fxt_lanes_init(&calls, CALLS_MAX);
	fxt_lanes_init(&states, STATES_MAX);
	page->is_changed |= !fxt_lanes_add_slices(&calls, scan, 0, UINT64_MAX);
	fxt_lanes_add_activity(&states, scan, &page->times->timeline, page->threads, 0, UINT64_MAX);
	fprintf(page->out, "\"timeline\": {\"from\": %" PRIu64 ", \"to\": %" PRIu64 ",\n", from - start,
	        to - start);
	timeline_lanes(page, "calls", &calls, true, true);
	fputs(",\n", page->out);
	timeline_lanes(page, "states", &states, false, true);
	fputs(",\n", page->out);
	timeline_lanes(page, "losses", page->losses, true, true);
	fputs(",\n", page->out);
	timeline_async(page);
	fputs(",\n", page->out);
	timeline_counters(page);
	fputs(",\n", page->out);
	fxt_html_arrows(page);
	fputs(",\n\"windows\": [", page->out);
	for (size_t i = 0; i < page->windows->count; i++) {
		fputs(i > 0 ? ",\n" : "", page->out);
		timeline_window(page, &page->windows->items[i]);
	}
	fputs("]}", page->out);
	fxt_lanes_free(&calls);
	fxt_lanes_free(&states);
}
