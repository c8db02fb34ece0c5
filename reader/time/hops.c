#include "hops.h"

#include <stdlib.h>
#include "reader/slices/call.h"
#include "writer/shared/job.h"

void fxt_hops_free(struct fxt_hops *hops)
{
	free(hops->events);
	free(hops->items);
	*hops = (struct fxt_hops){0};
}

void fxt_hops_record(struct fxt_hops *hops, struct fxt_tables *t, const struct fxt_view *view)
{
	if (view->type != FXT_RECORD_EVENT || view->event.type < FXT_EVENT_FLOW_BEGIN ||
	        view->event.type > FXT_EVENT_FLOW_END)
		return;
	struct fxt_call_categories categories = fxt_categories(t);
	uint32_t thread = fxt_tables_thread(t, view->event.thread);

	if (!fxt_is_call(&categories, fxt_tables_string(t, view->event.category)))
		return;
	fxt_make_room(hops->events, hops->event_count, hops->event_room);
	/* The ids of messages are those of the whole job. */
	hops->events[hops->event_count++] = (struct fxt_hop_event){
	        .process = view->event.extra & FXT_JOB_FLOW ? 0 : t->threads[thread].process,
	        .id = view->event.extra,
	        .ns = fxt_provider_ns(t->provider, view->event.ticks),
	        .ticks = view->event.ticks,
	        .thread = thread,
	        .name = fxt_tables_string(t, view->event.name)};
}

/* ---- the slices around moments ---- */

/* A moment of a thread, and the innermost slice around it that is no wait. */
struct moment {
	uint64_t time;
	uint32_t thread;
	struct fxt_slice slice; /* no offset: none */
};

struct search {
	const struct fxt_scan *scan;
	struct moment *items;
	size_t count;
	uint64_t from, to;
};

static void hops_consider(struct search *search, const struct fxt_slice *slice)
{
	if (slice->end < search->from || slice->start > search->to || !slice->is_call)
		return;
	for (size_t i = 0; i < search->count; i++) {
		struct moment *m = &search->items[i];

		if (m->thread == slice->thread && m->time >= slice->start && m->time <= slice->end &&
		        (m->slice.offset == 0 || slice->start > m->slice.start ||
		                (slice->start == m->slice.start && slice->end < m->slice.end)))
			m->slice = *slice;
	}
}

static void hops_enter(void *state, struct fxt_walk_frame *frame)
{
	hops_consider(state, &frame->slice);
}

static void hops_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	(void)parent;
	hops_consider(state, slice);
}

static const struct fxt_visitor hops_visitor = {.enter = hops_enter, .leaf = hops_leaf};

static bool hops_look(const struct fxt_scan *scan, struct moment *moments, size_t count)
{
	struct search search = {scan, moments, count, UINT64_MAX, 0};
	struct fxt_walker walker;

	for (size_t i = 0; i < count; i++) {
		search.from = moments[i].time < search.from ? moments[i].time : search.from;
		search.to = moments[i].time > search.to ? moments[i].time : search.to;
	}
	if (count == 0)
		return true;
	fxt_walk_begin(&walker, scan);
	walker.filter = NULL;
	walker.from = search.from;
	walker.to = search.to;
	while (fxt_walk_step(&walker, &hops_visitor, &search)) {
	}
	fxt_walk_end(&walker);
	return !walker.is_short;
}

/* ---- the way ---- */

static uint64_t hops_time(const struct fxt_scan *scan, const struct fxt_hop_event *event)
{
	return scan->in_ticks ? event->ticks : event->ns;
}

/* The first event in a slice; NULL: it has none. */
static const struct fxt_hop_event *hops_first(
        const struct fxt_hops *hops, const struct fxt_scan *scan, const struct fxt_slice *slice)
{
	const struct fxt_hop_event *first = NULL;

	for (size_t i = 0; i < hops->event_count; i++) {
		const struct fxt_hop_event *event = &hops->events[i];
		uint64_t time = hops_time(scan, event);

		if (event->thread == slice->thread && time >= slice->start && time <= slice->end &&
		        (!first || time < hops_time(scan, first)))
			first = event;
	}
	return first;
}

static int hops_by_time(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;

	return (a->time > b->time) - (a->time < b->time);
}

static int hops_by_begin(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;

	if (a->slice.start != b->slice.start)
		return a->slice.start < b->slice.start ? -1 : 1;
	return (a->slice.offset > b->slice.offset) - (a->slice.offset < b->slice.offset);
}

/* Makes hops of the slices around the events; several events in one slice are one hop. */
static void hops_divide(struct fxt_hops *hops, const struct moment *moments, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct fxt_slice *slice = &moments[i].slice;
		struct fxt_hop *last = hops->count ? &hops->items[hops->count - 1] : NULL;
		bool is_known = false;

		if (slice->offset == 0 || (last && last->slice.offset == slice->offset))
			continue;
		if (!last)
			hops->start = hops->end = slice->start;
		hops->items[hops->count++] = (struct fxt_hop){.slice = *slice,
		        .waited_from = hops->end,
		        .from = hops->end > slice->start ? hops->end : slice->start,
		        .to = hops->end > slice->end ? hops->end : slice->end};
		hops->end = hops->items[hops->count - 1].to;
		for (size_t j = 0; j + 1 < hops->count; j++)
			is_known |= hops->items[j].slice.thread == slice->thread;
		hops->threads += !is_known;
	}
}

/* Finds out where the threads were while the flow waited for them. */
static bool hops_look_before(struct fxt_hops *hops, const struct fxt_scan *scan)
{
	struct moment *moments = fxt_allocate((hops->count + 1) * sizeof(*moments));

	for (size_t i = 0; i < hops->count; i++)
		moments[i] = (struct moment){
		        .time = hops->items[i].waited_from, .thread = hops->items[i].slice.thread};
	bool is_whole = hops_look(scan, moments, hops->count);

	for (size_t i = 0; i < hops->count; i++)
		hops->items[i].before = moments[i].slice;
	free(moments);
	return is_whole;
}

bool fxt_hops_find(struct fxt_hops *hops, const struct fxt_scan *scan, const struct fxt_slice *slice)
{
	const struct fxt_hop_event *first = hops_first(hops, scan, slice);
	struct moment *moments = NULL;
	size_t count = 0, room = 0;

	if (!first)
		return true;
	for (size_t i = 0; i < hops->event_count; i++) {
		const struct fxt_hop_event *event = &hops->events[i];

		if (event->id != first->id || event->process != first->process)
			continue;
		fxt_make_room(moments, count, room);
		moments[count++] = (struct moment){.time = hops_time(scan, event), .thread = event->thread};
	}
	qsort(moments, count, sizeof(*moments), hops_by_time);
	if (count > FXT_HOPS_MAX)
		count = FXT_HOPS_MAX;
	bool is_whole = hops_look(scan, moments, count);

	qsort(moments, count, sizeof(*moments), hops_by_begin);
	hops->items = fxt_allocate(count * sizeof(*hops->items));
	hops->name = first->name;
	hops->is_message = (first->id & FXT_JOB_FLOW) != 0;
	hops_divide(hops, moments, count);
	free(moments);
	if (hops->count < 2)
		hops->count = 0;
	return hops_look_before(hops, scan) && is_whole;
}
