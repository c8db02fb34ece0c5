#include "async.h"

#include <stdlib.h>
#include "reader/slices/events.h"

/* A begin or an end. */
struct async_event {
	uint64_t process, id, time, offset;
	uint32_t thread, name, category;
	bool begins;
};

struct reading {
	struct async_event *events;
	size_t count, room;
};

static void async_record(void *state, struct fxt_walker *walker, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_tables *t = &walker->tables;
	struct reading *reading = state;

	if (view->type != FXT_RECORD_EVENT ||
	        (view->event.type != FXT_EVENT_ASYNC_BEGIN && view->event.type != FXT_EVENT_ASYNC_END))
		return;
	struct fxt_slice slice = fxt_scan_slice(walker->scan, t, view, offset);

	fxt_make_room(reading->events, reading->count, reading->room);
	reading->events[reading->count++] = (struct async_event){.process = t->threads[slice.thread].process,
	        .id = view->event.extra,
	        .time = slice.start,
	        .offset = offset,
	        .thread = slice.thread,
	        .name = fxt_tables_settled(&walker->scan->tables, slice.name),
	        .category = slice.category,
	        .begins = view->event.type == FXT_EVENT_ASYNC_BEGIN};
}

static int async_by_key(const struct async_event *a, const struct async_event *b)
{
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->category != b->category)
		return a->category < b->category ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int async_by_key_and_time(const void *left, const void *right)
{
	const struct async_event *a = left, *b = right;
	int by_key = async_by_key(a, b);

	if (by_key != 0)
		return by_key;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->begins != b->begins)
		return a->begins ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The group of an event; those of one group follow one another. */
static uint32_t async_group(struct fxt_asyncs *asyncs, const struct async_event *event)
{
	struct fxt_async_group *last = asyncs->group_count ? &asyncs->groups[asyncs->group_count - 1] : NULL;

	if (last && last->name == event->name && last->category == event->category)
		return (uint32_t)asyncs->group_count - 1;
	fxt_make_room(asyncs->groups, asyncs->group_count, asyncs->group_room);
	asyncs->groups[asyncs->group_count++] =
	        (struct fxt_async_group){.name = event->name, .category = event->category};
	struct fxt_async_group *group = &asyncs->groups[asyncs->group_count - 1];

	if (asyncs->group_count > 1 && group[-1].name == event->name)
		group->is_shared = group[-1].is_shared = true;
	return (uint32_t)asyncs->group_count - 1;
}

static void async_add(struct fxt_asyncs *asyncs, const struct fxt_scan *scan, const struct async_event *begin,
        uint64_t end, bool is_open)
{
	const struct fxt_filter *filter = scan->filter;
	struct fxt_slice slice = {
	        .start = begin->time, .end = end, .thread = begin->thread, .name = begin->name};

	if (!fxt_events_shows(scan, begin->thread, begin->name, begin->offset) ||
	        (filter && (end - begin->time < filter->least || !fxt_filter_cut(filter, &slice))))
		return;
	fxt_make_room(asyncs->spans, asyncs->count, asyncs->room);
	asyncs->spans[asyncs->count++] = (struct fxt_async_span){.start = slice.start,
	        .end = slice.end,
	        .id = begin->id,
	        .offset = begin->offset,
	        .thread = begin->thread,
	        .group = async_group(asyncs, begin),
	        .is_open = is_open};
}

/* Matches the events of one key. The begins that wait for an end move to the front. */
static void async_match(
        struct fxt_asyncs *asyncs, const struct fxt_scan *scan, struct async_event *events, size_t count)
{
	size_t open = 0;

	for (size_t i = 0; i < count; i++) {
		if (events[i].begins)
			events[open++] = events[i];
		else if (open > 0)
			async_add(asyncs, scan, &events[--open], events[i].time, false);
		else
			asyncs->ends_without_begin++;
	}
	while (open > 0)
		async_add(asyncs, scan, &events[--open], scan->end, true);
}

bool fxt_asyncs_read(struct fxt_asyncs *asyncs, const struct fxt_scan *scan)
{
	struct reading reading = {0};
	bool is_whole = true;

	*asyncs = (struct fxt_asyncs){0};
	if (scan->event_types & (1u << FXT_EVENT_ASYNC_BEGIN | 1u << FXT_EVENT_ASYNC_END))
		is_whole = fxt_events_read(scan, async_record, &reading);
	if (reading.count > 1)
		qsort(reading.events, reading.count, sizeof(*reading.events), async_by_key_and_time);
	for (size_t i = 0, end; i < reading.count; i = end) {
		end = i + 1;
		while (end < reading.count && async_by_key(&reading.events[i], &reading.events[end]) == 0)
			end++;
		async_match(asyncs, scan, &reading.events[i], end - i);
	}
	free(reading.events);
	return is_whole;
}

void fxt_asyncs_sum(
        const struct fxt_asyncs *asyncs, const bool *wanted, bool by_group, struct fxt_functions *sums)
{
	for (size_t i = 0; i < asyncs->count; i++) {
		const struct fxt_async_span *span = &asyncs->spans[i];

		if (!wanted || wanted[asyncs->groups[span->group].name])
			fxt_functions_add_call(
			        sums, by_group ? span->group : 1, span->end - span->start, span->is_open);
	}
}

void fxt_asyncs_free(struct fxt_asyncs *asyncs)
{
	free(asyncs->spans);
	free(asyncs->groups);
	*asyncs = (struct fxt_asyncs){0};
}
