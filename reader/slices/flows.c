/*
 * Collects flows, asynchronous events and outermost slices, and at the archive's end finds
 * those that belong to nothing. Runs on the thread that checks the archive. Must not decide
 * anything earlier, because an end may stand before its begin.
 */
#include "flows.h"

#include <inttypes.h>
#include <stdlib.h>
#include "writer/shared/job.h"

/* A begin, step or end of a flow or an async event. */
struct flow_end {
	uint64_t scope; /* flow: koid of its process; async event: its name */
	uint64_t id;
	uint64_t offset;
	bool async, begins; /* steps of a flow count as ends */
};

/* A slice that is in no other slice yet. */
struct outermost {
	uint64_t start, end;
	uint32_t depth;
};

struct flow_event {
	uint64_t ns, offset;
};

/* Spills that are initialised at first use. */
struct fxt_flow_thread {
	struct fxt_spill slices; /* struct outermost, by start */
	struct fxt_spill events; /* struct flow_event */
};

void fxt_flows_init(struct fxt_flows *f)
{
	*f = (struct fxt_flows){0};
	fxt_spill_init(&f->ends, sizeof(struct flow_end), FXT_SPILL_MEMORY_BYTES);
}

static struct fxt_flow_thread *flows_thread(struct fxt_flows *f, uint32_t thread)
{
	fxt_make_zeroed(f->threads, f->thread_count, thread);
	struct fxt_flow_thread *of = &f->threads[thread];

	if (of->slices.item_bytes == 0) {
		fxt_spill_init(&of->slices, sizeof(struct outermost), fxt_spill_bytes_of_thread(thread));
		fxt_spill_init(&of->events, sizeof(struct flow_event), fxt_spill_bytes_of_thread(thread));
	}
	return of;
}

void fxt_flows_event(struct fxt_flows *f, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	enum fxt_event_type type = view->event.type;
	bool async = type == FXT_EVENT_ASYNC_BEGIN || type == FXT_EVENT_ASYNC_END;
	bool flow = type >= FXT_EVENT_FLOW_BEGIN && type <= FXT_EVENT_FLOW_END;

	if (!async && !flow)
		return;
	uint32_t thread = fxt_tables_thread(t, view->event.thread);
	struct flow_end end = {
	        .scope = async ? fxt_tables_string(t, view->event.name) : t->threads[thread].process,
	        .id = view->event.extra,
	        .offset = offset,
	        .async = async,
	        .begins = type == FXT_EVENT_ASYNC_BEGIN || type == FXT_EVENT_FLOW_BEGIN};

	/* The other end of a message may be in another rank's trace. */
	if (!flow || !(end.id & FXT_JOB_FLOW))
		fxt_spill_add(&f->ends, &end);
	if (flow)
		fxt_spill_add(&flows_thread(f, thread)->events,
		        &(struct flow_event){fxt_provider_ns(t->provider, view->event.ticks), offset});
}

uint32_t fxt_flows_slice(struct fxt_flows *f, uint32_t thread, uint64_t start, uint64_t end)
{
	uint32_t deepest = 0;
	struct outermost last;

	struct fxt_flow_thread *of = flows_thread(f, thread);

	for (; of->slices.count > 0; fxt_spill_cut(&of->slices, of->slices.count - 1)) {
		fxt_spill_read(&of->slices, of->slices.count - 1, 1, &last);
		if (last.start < start)
			break;
		if (last.depth > deepest)
			deepest = last.depth;
	}
	fxt_spill_add(&of->slices, &(struct outermost){start, end, deepest + 1});
	return deepest + 1;
}

/* ---- events that belong to nothing ---- */

static int flows_by_id(const void *left, const void *right)
{
	const struct flow_end *a = left, *b = right;

	if (a->async != b->async)
		return a->async < b->async ? -1 : 1;
	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static int flows_by_offset(const void *left, const void *right)
{
	const struct flow_end *a = left, *b = right;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

static int flows_by_time(const void *left, const void *right)
{
	const struct flow_event *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Finds the last end of each id that lacks a begin, in the order of the file. A thread
 * begins while its creator is still in pthread_create(). If the process ends then, the
 * begin of its flow was never written, and nothing was lost. */
static void flows_find_begins(struct fxt_flows *f, struct fxt_spill *lacking)
{
	struct fxt_spill_window window = {0};
	uint64_t begins = 0, ends = 0;
	struct flow_end last = {0};

	fxt_spill_sort(&f->ends, flows_by_id);
	for (uint64_t i = 0; i < f->ends.count; i++) {
		const struct flow_end end = *(const struct flow_end *)fxt_spill_at(&f->ends, &window, i);
		const struct flow_end *next =
		        i + 1 < f->ends.count ? fxt_spill_at(&f->ends, &window, i + 1) : NULL;

		if (end.begins) {
			begins++;
		} else {
			ends++;
			last = end;
		}
		if (next && next->async == end.async && next->scope == end.scope && next->id == end.id)
			continue;
		if (end.async ? ends > begins : begins == 0)
			fxt_spill_add(lacking, &last);
		begins = ends = 0;
	}
	fxt_spill_sort(lacking, flows_by_offset);
}

static void flows_check_begins(struct fxt_flows *f, struct fxt_verdict *verdict)
{
	struct fxt_spill_window window = {0};
	struct fxt_spill lacking;

	fxt_spill_init(&lacking, sizeof(struct flow_end), FXT_SPILL_MEMORY_BYTES);
	flows_find_begins(f, &lacking);
	for (uint64_t i = 0; i < lacking.count; i++) {
		const struct flow_end *end = fxt_spill_at(&lacking, &window, i);

		fxt_break(verdict, end->offset,
		        end->async ? FXT_RULE_ASYNC_NEVER_BEGAN : FXT_RULE_FLOW_NEVER_BEGAN, "id 0x%" PRIx64,
		        end->id);
	}
	fxt_spill_free(&lacking);
}

/* Goes through events and slices by time; only the last slice that has begun is
 * considered. */
static void flows_check_thread(struct fxt_flow_thread *of, struct fxt_verdict *verdict)
{
	struct fxt_spill_window events = {0}, slices = {0};
	struct outermost slice = {.start = UINT64_MAX};
	uint64_t next = 0;

	fxt_spill_sort(&of->events, flows_by_time);
	for (uint64_t i = 0; i < of->events.count; i++) {
		const struct flow_event *event = fxt_spill_at(&of->events, &events, i);

		for (; next < of->slices.count; next++) {
			const struct outermost *later = fxt_spill_at(&of->slices, &slices, next);

			if (later->start > event->ns)
				break;
			slice = *later;
		}
		if (next == 0 || event->ns > slice.end)
			fxt_break(verdict, event->offset, FXT_RULE_FLOW_OUTSIDE, "%s", "");
	}
}

void fxt_flows_check(struct fxt_flows *f, struct fxt_verdict *verdict)
{
	flows_check_begins(f, verdict);
	for (size_t i = 0; i < f->thread_count; i++)
		if (f->threads[i].events.count > 0)
			flows_check_thread(&f->threads[i], verdict);
}

void fxt_flows_free(struct fxt_flows *f)
{
	for (size_t i = 0; i < f->thread_count; i++) {
		if (f->threads[i].slices.item_bytes == 0)
			continue;
		fxt_spill_free(&f->threads[i].slices);
		fxt_spill_free(&f->threads[i].events);
	}
	free(f->threads);
	fxt_spill_free(&f->ends);
	*f = (struct fxt_flows){0};
}
