#include "lane_slices.h"

#include "reader/trace/text.h"
#include "reader/slices/walk.h"
#include "writer/engine/loss.h"

/* ---- slices, by the walk ---- */

/* The blocks that overlap a range of time, in units of the scan. */
struct rows {
	const struct fxt_scan *scan;
	uint64_t from, to;
	struct fxt_lanes *lanes;
};

static inline void lanes_add_slice(struct rows *rows, const struct fxt_slice *slice, uint64_t depth)
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
	fxt_lanes_add(rows->lanes, slice->thread, (uint32_t)depth, &item);
}

/* A frame's word is the depth of the slices inside it. */
static void lanes_enter(void *state, struct fxt_walk_frame *frame)
{
	if (!frame->is_context)
		lanes_add_slice(state, &frame->slice, frame[-1].word);
	frame->word = frame[-1].word + 1;
}

static void lanes_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	lanes_add_slice(state, slice, parent->word);
}

static const struct fxt_visitor visitor = {.enter = lanes_enter, .leaf = lanes_leaf, .looks_near = true};

/* Uses a single walker, because merging depends on the order in which slices come. */
bool fxt_lanes_add_slices(struct fxt_lanes *lanes, const struct fxt_scan *scan, uint64_t from, uint64_t to)
{
	struct rows rows = {.scan = scan, .from = from, .to = to, .lanes = lanes};
	struct fxt_walker walker;

	fxt_walk_begin(&walker, scan);
	walker.from = from;
	walker.to = to;
	while (fxt_walk_step(&walker, &visitor, &rows))
		;
	bool is_whole = !walker.is_short;

	fxt_walk_end(&walker);
	return is_whole;
}

/* ---- whether threads ran ---- */

static void lanes_add_stretches(struct fxt_lanes *lanes, uint32_t thread, const struct fxt_timeline *timeline,
        uint64_t koid, uint64_t from, uint64_t to)
{
	struct fxt_stretch stretch;

	for (uint64_t at = fxt_timeline_thread_at(timeline, koid, from);
	        fxt_timeline_of_thread(timeline, at, koid, &stretch) && stretch.start <= to; at++) {
		uint64_t ns = stretch.end - stretch.start;
		struct fxt_lane_item item = {.start = stretch.start,
		        .end = stretch.end,
		        .sum = stretch.activity == FXT_RUNNING ? ns : 0,
		        .longest = ns,
		        .count = 1,
		        .name = stretch.activity};

		fxt_lanes_add(lanes, thread, 0, &item);
	}
}

void fxt_lanes_add_activity(struct fxt_lanes *lanes, const struct fxt_scan *scan,
        const struct fxt_timeline *timeline, const struct fxt_functions *functions, uint64_t from,
        uint64_t to)
{
	for (uint32_t i = 1; i < scan->thread_count; i++)
		if (functions[i].count > 0 && fxt_filter_has_thread(scan->filter, i))
			lanes_add_stretches(lanes, i, timeline, scan->tables.threads[i].thread, from, to);
}

/* ---- losses ---- */

void fxt_lanes_add_loss(struct fxt_lanes *lanes, struct fxt_tables *t, const struct fxt_view *view)
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
		fxt_lanes_add(lanes, fxt_tables_thread(t, view->event.thread), 0, &item);
}
