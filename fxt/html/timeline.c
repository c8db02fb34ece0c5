#include "timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include "fxt/json.h"
#include "reader/text.h"
#include "reader/walk.h"
#include "writer/loss.h"

/* Items of a page. An item takes about 20 bytes of it, one that was merged 35. */
enum { CALLS_MAX = 36000, STATES_MAX = 12000, LOSSES_MAX = 4000, WINDOW_MAX = 80000 };

/* ---- losses, while the trace is scanned ---- */

void fxt_html_losses_begin(struct fxt_lanes *losses)
{
	fxt_lanes_free(losses);
	fxt_lanes_init(losses, LOSSES_MAX);
}

void fxt_html_losses_record(struct fxt_lanes *losses, struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_argument lost;

	if (view->type != FXT_RECORD_EVENT || view->event.type != FXT_EVENT_DURATION_COMPLETE ||
	        !fxt_span_is(fxt_tables_text(t, view->event.category), "fxt") ||
	        !fxt_tables_argument(t, view, "records", &lost) || lost.type != FXT_ARGUMENT_UINT64)
		return;
	struct fxt_span name = fxt_tables_text(t, view->event.name);
	bool is_overwritten = fxt_ends_with(name, FXT_LOSS_OVERWRITTEN);
	struct fxt_lane_item item = {.start = fxt_provider_ns(t->provider, view->event.ticks),
	        .end = fxt_provider_ns(t->provider, view->event.extra),
	        .sum = lost.value.word,
	        .longest = lost.value.word,
	        .count = 1,
	        .name = fxt_tables_intern(
	                t, fxt_span(is_overwritten ? "fxt:" FXT_LOSS_OVERWRITTEN : "fxt:" FXT_LOSS_LOST))};

	if (item.end >= item.start)
		fxt_lanes_add(losses, fxt_tables_thread(t, view->event.thread), 0, &item);
}

/* ---- calls, by the walk ---- */

/* Slices that have something between two moments, in units of the scan. */
struct rows {
	const struct fxt_scan *scan;
	uint64_t from, to;
	struct fxt_lanes lanes;
};

static inline void timeline_add(struct rows *rows, const struct fxt_slice *slice, uint64_t depth)
{
	if (slice->end < rows->from || slice->start > rows->to)
		return;
	uint64_t ns = fxt_scan_ns(rows->scan, slice->end - slice->start);
	struct fxt_lane_item item = {.start = fxt_scan_ns(rows->scan, slice->start),
	        .sum = ns,
	        .longest = ns,
	        .count = 1,
	        .name = slice->name,
	        .is_call = slice->is_call,
	        .is_open = slice->is_open};

	item.end = item.start + ns;
	fxt_lanes_add(&rows->lanes, slice->thread, (uint32_t)depth, &item);
}

/* A frame's word is how many slices there are around what is inside of it. */
static void timeline_enter(void *state, struct fxt_walk_frame *frame)
{
	if (!frame->is_context)
		timeline_add(state, &frame->slice, frame[-1].word);
	frame->word = frame[-1].word + 1;
}

static void timeline_leave(void *state, const struct fxt_walk_frame *frame)
{
	(void)state;
	(void)frame;
}

static void timeline_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	timeline_add(state, slice, parent->word);
}

static const struct fxt_visitor visitor = {
        .enter = timeline_enter, .leave = timeline_leave, .leaf = timeline_leaf};

static void timeline_walk(struct fxt_walker *walker, void *state)
{
	fxt_walk_ranges(walker, &visitor, state);
}

/* ---- whether threads ran ---- */

/* The activity stands for a name, its running time for the sum. */
static void timeline_states(const struct fxt_html *page, struct fxt_lanes *lanes)
{
	const struct fxt_scan *scan = page->scan;
	const struct fxt_timeline *timeline = &page->pastimes->timeline;
	struct fxt_stretch stretch;

	for (uint32_t i = 1; i < scan->thread_count; i++) {
		uint64_t koid = scan->tables.threads[i].thread;

		if (page->threads[i].count == 0 || !fxt_filter_has_thread(scan->filter, i))
			continue;
		for (uint64_t at = fxt_timeline_thread_at(timeline, koid, 0);
		        fxt_timeline_of_thread(timeline, at, koid, &stretch); at++) {
			uint64_t ns = stretch.end - stretch.start;
			struct fxt_lane_item item = {.start = stretch.start,
			        .end = stretch.end,
			        .sum = stretch.activity == FXT_RUNNING ? ns : 0,
			        .longest = ns,
			        .count = 1,
			        .name = stretch.activity};

			fxt_lanes_add(lanes, i, 0, &item);
		}
	}
}

/* ---- writing ---- */

/* An item as numbers: how long after the end of the one before it begins; its length; its name, of which a
 * bit each says that it is merged, a call, or open; of one that is merged also how many there are, their sum,
 * and the longest, and of a weight that is no time always. */
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

static void timeline_lanes(
        struct fxt_html *page, const char *key, const struct fxt_lanes *lanes, bool is_string)
{
	uint64_t origin = fxt_scan_ns(page->scan, page->scan->start);
	const char *before = "";

	fprintf(page->out, "\"%s\": {\"width\": %" PRIu64 ", \"left_out\": %" PRIu64 ", \"lanes\": [", key,
	        lanes->width, lanes->left_out);
	for (size_t i = 0; i < lanes->count; i++) {
		if (page->threads[lanes->items[i].thread].count == 0)
			continue;
		fprintf(page->out, "%s\n", before);
		timeline_lane(page, &lanes->items[i], origin, is_string);
		before = ",";
	}
	fputs("]}", page->out);
}

/* All threads in the time of a window, with more items than the whole run has for so little. */
static void timeline_window(struct fxt_html *page, const struct fxt_window *window)
{
	const struct fxt_scan *scan = page->scan;
	uint64_t start = fxt_scan_ns(scan, scan->start);
	uint64_t from = window->from > scan->start ? fxt_scan_ns(scan, window->from) : start;
	uint64_t to = fxt_scan_ns(scan, window->to < scan->end ? window->to : scan->end);
	struct rows rows = {.scan = scan, .from = window->from, .to = window->to};
	struct fxt_walker walker;

	fxt_lanes_init(&rows.lanes, WINDOW_MAX);
	fxt_walk_begin(&walker, scan);
	walker.from = window->from;
	walker.to = window->to;
	while (fxt_walk_step(&walker, &visitor, &rows))
		;
	page->is_changed |= walker.is_short;
	fxt_walk_end(&walker);
	fputs("{\"text\": ", page->out);
	fxt_json_string_in_html(page->out, fxt_span(window->text));
	fprintf(page->out, ", \"from\": %" PRIu64 ", \"to\": %" PRIu64 ", \"thread\": %" PRIu32 ",\n",
	        from - start, to - start, window->call.thread);
	timeline_lanes(page, "calls", &rows.lanes, true);
	fputs("}", page->out);
	fxt_lanes_free(&rows.lanes);
}

void fxt_html_timeline(struct fxt_html *page)
{
	const struct fxt_scan *scan = page->scan;
	const struct fxt_filter *filter = scan->filter;
	uint64_t start = fxt_scan_ns(scan, scan->start);
	uint64_t from = filter && filter->from > scan->start ? fxt_scan_ns(scan, filter->from) : start;
	uint64_t to = fxt_scan_ns(scan, filter && filter->to < scan->end ? filter->to : scan->end);
	struct rows rows = {.scan = scan, .to = UINT64_MAX};
	struct fxt_lanes states;

	fxt_lanes_init(&rows.lanes, CALLS_MAX);
	fxt_lanes_init(&states, STATES_MAX);
	/* By one walker: what is merged depends on the order in which slices come. */
	page->is_changed |= !fxt_walk(scan, timeline_walk, &rows, sizeof(rows), 1);
	timeline_states(page, &states);
	fprintf(page->out, "\"timeline\": {\"from\": %" PRIu64 ", \"to\": %" PRIu64 ",\n", from - start,
	        to - start);
	timeline_lanes(page, "calls", &rows.lanes, true);
	fputs(",\n", page->out);
	timeline_lanes(page, "states", &states, false);
	fputs(",\n", page->out);
	timeline_lanes(page, "losses", page->losses, true);
	fputs(",\n\"windows\": [", page->out);
	for (size_t i = 0; i < page->windows->count; i++) {
		fputs(i > 0 ? ",\n" : "", page->out);
		timeline_window(page, &page->windows->items[i]);
	}
	fputs("]}", page->out);
	fxt_lanes_free(&rows.lanes);
	fxt_lanes_free(&states);
}
