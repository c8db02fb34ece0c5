#include "flows.h"

#include <inttypes.h>
#include <stdlib.h>

/* All events of one id. */
struct fxt_flow {
	uint64_t scope; /* of a flow the koid of its process; of an async event its name */
	uint64_t id;
	bool async;
	uint64_t begins, ends; /* of a flow the ends are its steps too */
	uint64_t last_end;     /* offset of its record */
};

/* A slice that is in no other slice so far. */
struct outermost {
	uint64_t start, end;
	uint32_t depth;
};

struct flow_event {
	uint64_t ns, offset;
};

struct fxt_flow_thread {
	struct fxt_spill slices; /* struct outermost, by start; once it has been of use */
	struct flow_event *events;
	size_t event_count, event_room;
};

static struct fxt_flow *flows_find(struct fxt_flows *f, bool async, uint64_t scope, uint64_t id)
{
	uint32_t hash = fxt_hash_word(fxt_hash_word(scope) ^ id << 1 ^ async);

	for (struct fxt_probe probe = fxt_probe(&f->index, hash); fxt_probe_next(&f->index, &probe);) {
		struct fxt_flow *flow = &f->flows[probe.id];

		if (flow->async == async && flow->scope == scope && flow->id == id)
			return flow;
	}
	fxt_index_add(&f->index, hash, (uint32_t)f->flow_count);
	fxt_make_room(f->flows, f->flow_count, f->flow_room);
	f->flows[f->flow_count] = (struct fxt_flow){.scope = scope, .id = id, .async = async};
	return &f->flows[f->flow_count++];
}

void fxt_flows_event(struct fxt_flows *f, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	enum fxt_event_type type = view->event.type;
	bool async = type == FXT_EVENT_ASYNC_BEGIN || type == FXT_EVENT_ASYNC_END;
	bool flow = type >= FXT_EVENT_FLOW_BEGIN && type <= FXT_EVENT_FLOW_END;

	if (!async && !flow)
		return;
	uint32_t thread = fxt_tables_thread(t, view->event.thread);
	struct fxt_flow *found = flows_find(f, async,
	        async ? fxt_tables_string(t, view->event.name) : t->threads[thread].process,
	        view->event.extra);

	if (type == FXT_EVENT_ASYNC_BEGIN || type == FXT_EVENT_FLOW_BEGIN) {
		found->begins++;
	} else {
		found->ends++;
		found->last_end = offset;
	}
	if (!flow)
		return;
	fxt_make_zeroed(f->threads, f->thread_count, thread);
	struct fxt_flow_thread *of = &f->threads[thread];

	fxt_make_room(of->events, of->event_count, of->event_room);
	of->events[of->event_count++] =
	        (struct flow_event){fxt_provider_ns(t->provider, view->event.ticks), offset};
}

uint32_t fxt_flows_slice(struct fxt_flows *f, uint32_t thread, uint64_t start, uint64_t end)
{
	uint32_t deepest = 0;
	struct outermost last;

	fxt_make_zeroed(f->threads, f->thread_count, thread);
	struct fxt_flow_thread *of = &f->threads[thread];

	if (of->slices.item_bytes == 0)
		fxt_spill_init(&of->slices, sizeof(last), fxt_spill_bytes_of_thread(thread));
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

static bool is_in_slice(const struct fxt_flow_thread *of, uint64_t ns)
{
	uint64_t low = 0, high = of->slices.count;
	struct outermost slice = {0};

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		fxt_spill_read(&of->slices, middle, 1, &slice);
		if (slice.start <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0)
		fxt_spill_read(&of->slices, low - 1, 1, &slice);
	return low > 0 && ns <= slice.end;
}

void fxt_flows_check(const struct fxt_flows *f, struct fxt_verdict *verdict, bool lossy)
{
	for (size_t i = 0; i < f->flow_count; i++) {
		const struct fxt_flow *flow = &f->flows[i];

		if (flow->async && flow->ends > flow->begins)
			(lossy ? fxt_warning : fxt_violation)(verdict, flow->last_end,
			        "end of an async event that never began", "id 0x%" PRIx64, flow->id);
		/* A thread begins while its creator is still in pthread_create; if the process ends then, the
		 * begin was never written, and nothing was lost. */
		if (!flow->async && flow->begins == 0)
			fxt_warning(verdict, flow->last_end, "step or end of a flow that never began",
			        "id 0x%" PRIx64, flow->id);
	}
	for (size_t i = 0; i < f->thread_count; i++) {
		const struct fxt_flow_thread *of = &f->threads[i];

		for (size_t j = 0; j < of->event_count; j++)
			if (!is_in_slice(of, of->events[j].ns))
				(lossy ? fxt_warning : fxt_violation)(verdict, of->events[j].offset,
				        "flow outside of every slice of its thread", "%s", "");
	}
}

void fxt_flows_free(struct fxt_flows *f)
{
	for (size_t i = 0; i < f->thread_count; i++) {
		if (f->threads[i].slices.item_bytes > 0)
			fxt_spill_free(&f->threads[i].slices);
		free(f->threads[i].events);
	}
	free(f->threads);
	free(f->flows);
	fxt_index_free(&f->index);
	*f = (struct fxt_flows){0};
}
