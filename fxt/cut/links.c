#include "links.h"

struct link {
	uint64_t scope; /* for a flow, the koid of its process; for an async event, its
	                   name */
	uint64_t id, time, offset;
	uint32_t type; /* enum fxt_event_type: begins are lowest, flows highest */
	bool is_flow, is_kept;
};

/* Reads the links in sorted order. */
struct link_reader {
	const struct fxt_spill *spill;
	struct fxt_spill_window window;
};

static int links_compare(const void *left, const void *right)
{
	const struct link *a = left, *b = right;

	if (a->is_flow != b->is_flow)
		return a->is_flow ? 1 : -1;
	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return a->offset < b->offset ? -1 : 1;
}

void fxt_links_init(struct fxt_links *links)
{
	fxt_spill_init(&links->spill, sizeof(struct link), FXT_SPILL_MEMORY_BYTES);
}

void fxt_links_add(struct fxt_links *links, const struct fxt_keep *k, struct fxt_tables *t,
        const struct fxt_view *view, uint64_t offset, bool is_kept)
{
	bool is_flow = view->event.type >= FXT_EVENT_FLOW_BEGIN;
	uint32_t thread = fxt_tables_thread(t, view->event.thread);
	struct link link;

	memset(&link, 0, sizeof(link));
	link.scope = is_flow ? t->threads[thread].process : fxt_tables_string(t, view->event.name);
	link.id = view->event.extra;
	link.time = fxt_keep_time(k, t, view->event.ticks);
	link.offset = offset;
	link.type = view->event.type;
	link.is_flow = is_flow;
	link.is_kept = is_kept;
	fxt_spill_add(&links->spill, &link);
}

static const struct link *links_at(struct link_reader *reader, uint64_t index)
{
	return fxt_spill_at(reader->spill, &reader->window, index);
}

static bool links_begins(const struct link *link)
{
	return link->type == FXT_EVENT_FLOW_BEGIN || link->type == FXT_EVENT_ASYNC_BEGIN;
}

/* Finds the end of the flow or async event that begins with a link. A flow ends before
 * the next begin, because ids are reused. An async event ends once all that began with
 * its id have ended. */
static uint64_t links_end_of(struct link_reader *reader, uint64_t first, bool *is_whole, uint64_t *last_time)
{
	struct link head = *links_at(reader, first);
	uint64_t at = first, depth = 0;

	*is_whole = links_begins(&head);
	*last_time = UINT64_MAX;
	do {
		const struct link *link = links_at(reader, at++);

		depth += links_begins(link);
		depth -= link->type == FXT_EVENT_ASYNC_END && depth > 0;
		*is_whole &= link->is_kept;
		if (depth == 0)
			*last_time = link->time;
		if (depth == 0 || at == reader->spill->count)
			break;
		link = links_at(reader, at);
		if (link->is_flow != head.is_flow || link->scope != head.scope || link->id != head.id ||
		        (head.is_flow && links_begins(link)))
			break;
	} while (true);
	return at;
}

void fxt_links_keep(struct fxt_links *links, struct fxt_keep *k)
{
	struct link_reader reader = {.spill = &links->spill};

	fxt_spill_sort(&links->spill, links_compare);
	for (uint64_t first = 0, end; first < links->spill.count; first = end) {
		struct link head = *links_at(&reader, first);
		uint64_t last_time;
		bool is_whole;

		end = links_end_of(&reader, first, &is_whole, &last_time);
		bool is_kept = head.is_flow
		                       ? is_whole && !fxt_keep_hides(k)
		                       : links_begins(&head) && head.is_kept && last_time >= k->filter->from;

		for (uint64_t at = first; is_kept && at < end; at++)
			fxt_keep_add(k, links_at(&reader, at)->offset);
	}
	fxt_spill_free(&links->spill);
}
