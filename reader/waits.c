#include "waits.h"

#include <stdlib.h>

/* Of a thread the last slice, which a flow's begin is in, the last wait, plus 1, and the last flow's end: a
 * wait and the flow that ends it may stand in either order. Also by which flow it began, and when. */
struct fxt_waits_thread {
	uint64_t slice; /* offset */
	uint32_t wait;
	uint64_t flow, flow_ns;
	uint64_t birth_flow, birth_ns;
	uint32_t birth; /* the release of that flow, plus 1 */
};

void fxt_waits_init(struct fxt_waits *w)
{
	*w = (struct fxt_waits){0};
	fxt_paths_init(&w->paths);
}

void fxt_waits_free(struct fxt_waits *w)
{
	free(w->items);
	free(w->releases);
	free(w->by_object);
	free(w->threads);
	fxt_paths_free(&w->paths);
	*w = (struct fxt_waits){0};
}

void fxt_waits_clear(struct fxt_waits *w)
{
	fxt_waits_free(w);
	fxt_waits_init(w);
}

/* ---- collecting ---- */

static enum fxt_wait_kind waits_kind(struct fxt_span name)
{
	static const struct {
		const char *begin;
		enum fxt_wait_kind kind;
	} kinds[] = {
	        {"pthread_mutex_", FXT_WAIT_LOCK},
	        {"pthread_rwlock_", FXT_WAIT_LOCK},
	        {"mtx_", FXT_WAIT_LOCK},
	        {"sem_", FXT_WAIT_SEMAPHORE},
	        {"pthread_cond_", FXT_WAIT_CONDITION},
	        {"cnd_", FXT_WAIT_CONDITION},
	        {"pthread_barrier_", FXT_WAIT_BARRIER},
	        {"pthread_join", FXT_WAIT_THREAD},
	        {"pthread_timedjoin", FXT_WAIT_THREAD},
	        {"pthread_clockjoin", FXT_WAIT_THREAD},
	        {"thrd_join", FXT_WAIT_THREAD},
	        {"nanosleep", FXT_WAIT_TIME},
	        {"clock_nanosleep", FXT_WAIT_TIME},
	        {"usleep", FXT_WAIT_TIME},
	        {"sleep", FXT_WAIT_TIME},
	        {"thrd_sleep", FXT_WAIT_TIME},
	        {"poll", FXT_WAIT_DESCRIPTOR},
	        {"ppoll", FXT_WAIT_DESCRIPTOR},
	        {"select", FXT_WAIT_DESCRIPTOR},
	        {"pselect", FXT_WAIT_DESCRIPTOR},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (fxt_begins_with(name, kinds[i].begin))
			return kinds[i].kind;
	return FXT_WAIT_OTHER;
}

/* What is waited for; 0 also where it needs no argument. False: the slice is no wait. */
static bool waits_object(
        struct fxt_tables *t, const struct fxt_view *view, enum fxt_wait_kind *kind, uint64_t *object)
{
	struct fxt_argument argument;

	*object = 0;
	*kind = waits_kind(fxt_tables_text(t, view->event.name));
	if (fxt_tables_argument(t, view, "fd", &argument) && argument.type == FXT_ARGUMENT_INT32) {
		*kind = FXT_WAIT_DESCRIPTOR;
		*object = (uint32_t)argument.value.word + UINT64_C(1);
		return true;
	}
	if (fxt_tables_argument(t, view, "object", &argument) && argument.type == FXT_ARGUMENT_POINTER) {
		*object = argument.value.word;
		return true;
	}
	return *kind == FXT_WAIT_TIME || *kind == FXT_WAIT_DESCRIPTOR;
}

static void waits_add(struct fxt_waits *w, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_wait wait = {.offset = offset,
	        .start = fxt_provider_ns(t->provider, view->event.ticks),
	        .thread = fxt_tables_thread(t, view->event.thread),
	        .name = fxt_tables_string(t, view->event.name),
	        .release = FXT_NO_RELEASE};
	struct fxt_argument symbol;

	if (!waits_object(t, view, &wait.kind, &wait.object))
		return;
	wait.is_open = view->event.type == FXT_EVENT_DURATION_BEGIN;
	wait.end = wait.is_open ? wait.start : fxt_provider_ns(t->provider, view->event.extra);
	if (wait.end < wait.start)
		return;
	if (fxt_tables_argument(t, view, "symbol", &symbol) && symbol.type == FXT_ARGUMENT_STRING)
		wait.symbol = fxt_tables_string(t, symbol.value.string);
	struct fxt_waits_thread *thread = &w->threads[wait.thread];

	if (thread->flow && thread->flow_ns >= wait.start && thread->flow_ns <= wait.end)
		wait.flow = thread->flow;
	thread->flow = 0;
	fxt_make_room(w->items, w->count, w->room);
	w->items[w->count++] = wait;
	thread->wait = (uint32_t)w->count;
}

static void waits_end_flow(struct fxt_waits *w, struct fxt_waits_thread *thread, uint64_t ns, uint64_t flow)
{
	struct fxt_wait *last = thread->wait ? &w->items[thread->wait - 1] : NULL;

	if (last && last->flow == 0 && last->start <= ns && ns <= last->end) {
		last->flow = flow;
	} else {
		thread->flow = flow;
		thread->flow_ns = ns;
	}
}

static void waits_add_release(struct fxt_waits *w, struct fxt_tables *t, const struct fxt_view *view)
{
	uint32_t thread = fxt_tables_thread(t, view->event.thread);
	struct fxt_release release = {.ns = fxt_provider_ns(t->provider, view->event.ticks),
	        .flow = view->event.extra,
	        .thread = thread,
	        .process = t->threads[thread].process};

	release.offset = w->threads[thread].slice;
	fxt_make_room(w->releases, w->release_count, w->release_room);
	w->releases[w->release_count++] = release;
}

static void waits_record_process(
        struct fxt_waits *w, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_waits_thread *thread = &w->threads[fxt_tables_thread(t, view->event.thread)];

	switch (view->event.type) {
	case FXT_EVENT_DURATION_COMPLETE:
		thread->slice = offset;
		break;
	case FXT_EVENT_FLOW_BEGIN:
		waits_add_release(w, t, view);
		break;
	case FXT_EVENT_FLOW_END:
		if (thread->birth_flow)
			break;
		thread->birth_flow = view->event.extra;
		thread->birth_ns = fxt_provider_ns(t->provider, view->event.ticks);
		break;
	default:
		break;
	}
}

static void waits_record_sync(
        struct fxt_waits *w, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	uint32_t thread = fxt_tables_thread(t, view->event.thread);

	switch (view->event.type) {
	case FXT_EVENT_DURATION_COMPLETE:
	case FXT_EVENT_DURATION_BEGIN:
		w->threads[thread].slice = offset;
		waits_add(w, t, view, offset);
		break;
	case FXT_EVENT_FLOW_BEGIN:
		waits_add_release(w, t, view);
		break;
	case FXT_EVENT_FLOW_END:
		waits_end_flow(w, &w->threads[thread], fxt_provider_ns(t->provider, view->event.ticks),
		        view->event.extra);
		break;
	default:
		break;
	}
}

void fxt_waits_record(struct fxt_waits *w, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_span category;

	if (view->type != FXT_RECORD_EVENT)
		return;
	category = fxt_tables_text(t, view->event.category);
	bool is_sync = fxt_span_is(category, "sync");

	if (!is_sync && !fxt_span_is(category, "process"))
		return;
	fxt_make_zeroed(w->threads, w->thread_count, fxt_tables_thread(t, view->event.thread));
	if (is_sync)
		waits_record_sync(w, t, view, offset);
	else
		waits_record_process(w, t, view, offset);
}

/* ---- joining ---- */

static int waits_compare_releases(const void *left, const void *right, void *context)
{
	const struct fxt_release *releases = context;
	const struct fxt_release *a = &releases[*(const uint32_t *)left];
	const struct fxt_release *b = &releases[*(const uint32_t *)right];

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a > b) - (a < b);
}

static int waits_by_offset(const void *left, const void *right)
{
	const struct fxt_release *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static uint32_t waits_find_flow(const struct fxt_waits *w, const struct fxt_index *index, uint64_t flow)
{
	if (flow)
		for (struct fxt_probe probe = fxt_probe(index, fxt_hash_word(flow));
		        fxt_probe_next(index, &probe);)
			if (w->releases[probe.id].flow == flow)
				return probe.id;
	return FXT_NO_RELEASE;
}

static void waits_join_flows(struct fxt_waits *w)
{
	struct fxt_index index = {0};

	for (size_t i = 0; i < w->release_count; i++)
		fxt_index_add(&index, fxt_hash_word(w->releases[i].flow), (uint32_t)i);
	for (size_t i = 0; i < w->count; i++) {
		struct fxt_wait *wait = &w->items[i];

		wait->release = waits_find_flow(w, &index, wait->flow);
		if (wait->release == FXT_NO_RELEASE)
			continue;
		w->releases[wait->release].wait = (uint32_t)i;
		w->releases[wait->release].object = wait->object;
	}
	for (size_t i = 0; i < w->thread_count; i++) {
		uint32_t release = waits_find_flow(w, &index, w->threads[i].birth_flow);

		if (release == FXT_NO_RELEASE)
			continue;
		w->threads[i].birth = release + 1;
		w->releases[release].born = (uint32_t)i;
	}
	fxt_index_free(&index);
}

uint32_t fxt_waits_birth(const struct fxt_waits *w, uint32_t thread, uint64_t *ns)
{
	if (thread >= w->thread_count || !w->threads[thread].birth)
		return FXT_NO_RELEASE;
	*ns = w->threads[thread].birth_ns;
	return w->threads[thread].birth - 1;
}

void fxt_waits_finish(struct fxt_waits *w, const struct fxt_scan *scan)
{
	uint64_t end = fxt_scan_ns(scan, scan->end);

	if (w->release_count > 1)
		qsort(w->releases, w->release_count, sizeof(*w->releases), waits_by_offset);
	waits_join_flows(w);
	/* How long an open one lasts the walk will tell; until the end at most. */
	for (size_t i = 0; i < w->count; i++)
		if (w->items[i].is_open && w->items[i].start < end)
			w->items[i].end = end;
	w->by_object = fxt_resize(NULL, w->release_count + 1, sizeof(*w->by_object));
	for (size_t i = 0; i < w->release_count; i++)
		if (w->releases[i].object)
			w->by_object[w->by_object_count++] = (uint32_t)i;
	if (w->by_object_count > 1)
		qsort_r(w->by_object, w->by_object_count, sizeof(*w->by_object), waits_compare_releases,
		        w->releases);
}

ptrdiff_t fxt_waits_find(const struct fxt_waits *w, uint64_t offset)
{
	size_t low = 0, high = w->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->items[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < w->count && w->items[low].offset == offset ? (ptrdiff_t)low : -1;
}

ptrdiff_t fxt_waits_find_release(const struct fxt_waits *w, uint64_t offset)
{
	size_t low = 0, high = w->release_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->releases[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < w->release_count && w->releases[low].offset == offset ? (ptrdiff_t)low : -1;
}

uint32_t fxt_waits_holder(
        const struct fxt_waits *w, const struct fxt_wait *wait, uint64_t moment, uint64_t *until)
{
	uint32_t own = wait->release;
	size_t low = 0, high = w->by_object_count;
	uint64_t process;

	if (own == FXT_NO_RELEASE || w->releases[own].ns <= moment)
		return FXT_NO_RELEASE;
	if (w->releases[own].ns < *until)
		*until = w->releases[own].ns;
	if (wait->kind != FXT_WAIT_LOCK && wait->kind != FXT_WAIT_SEMAPHORE)
		return own;
	process = w->releases[own].process;
	/* The first release of the object after the moment. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct fxt_release *release = &w->releases[w->by_object[middle]];

		if (release->process < process ||
		        (release->process == process &&
		                (release->object < wait->object ||
		                        (release->object == wait->object && release->ns <= moment))))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == w->by_object_count)
		return own;
	const struct fxt_release *first = &w->releases[w->by_object[low]];

	if (first->process != process || first->object != wait->object || first->ns > w->releases[own].ns)
		return own;
	if (first->ns < *until)
		*until = first->ns;
	return w->by_object[low];
}

/* ---- the walk ---- */

void fxt_waits_see(struct fxt_waits *w, const struct fxt_scan *scan, const struct fxt_slice *slice,
        const struct fxt_walk_frame *parent)
{
	ptrdiff_t found;

	if (slice->category != scan->sync_category && slice->category != scan->process_category)
		return;
	found = fxt_waits_find(w, slice->offset);
	if (found >= 0) {
		w->items[found].path = fxt_paths_of_frame(&w->paths, parent, true);
		w->items[found].end = fxt_scan_ns(scan, slice->end);
		w->items[found].is_open = slice->is_open;
		return;
	}
	found = fxt_waits_find_release(w, slice->offset);
	if (found >= 0)
		w->releases[found].path = fxt_paths_of_frame(&w->paths, parent, true);
}

struct waits_walk {
	struct fxt_waits *waits;
	const struct fxt_scan *scan;
};

static void waits_enter(void *state, struct fxt_walk_frame *frame)
{
	struct waits_walk *walk = state;

	if (!frame->is_context)
		fxt_waits_see(walk->waits, walk->scan, &frame->slice, frame - 1);
}

static void waits_leave(void *state, const struct fxt_walk_frame *frame)
{
	(void)state;
	(void)frame;
}

static void waits_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	struct waits_walk *walk = state;

	fxt_waits_see(walk->waits, walk->scan, slice, parent);
}

static const struct fxt_visitor waits_visitor = {
        .enter = waits_enter, .leave = waits_leave, .leaf = waits_leaf};

static void waits_walk(struct fxt_walker *walker, void *state)
{
	/* The path of a wait is whole, whatever was chosen, and so is who ended it. */
	walker->filter = NULL;
	fxt_walk_ranges(walker, &waits_visitor, state);
}

bool fxt_waits_walk(struct fxt_waits *w, const struct fxt_scan *scan)
{
	struct waits_walk walk = {w, scan};

	return fxt_walk(scan, waits_walk, &walk, sizeof(walk), 1);
}
