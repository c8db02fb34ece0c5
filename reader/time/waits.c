/*
 * Collects waits and releases during the scan, joins them by their flows, and adds their
 * call paths in a walk. Only one thread may use them at a time. A release and its wait may
 * stand in either order, so they must not be joined before the scan's end.
 */
#include "waits.h"
#include "lock_lives.h"
#include "wait_files.h"

#include <stdlib.h>
#include "writer/format/earlier_wait.h"
#include "writer/shared/search.h"

/* State of a thread: its last slice, which a flow's begin is in; its last wait and its last
 * flow's end, because a wait and the flow that ends it may stand in either order; and the
 * flow and time of its own begin. */
struct fxt_waits_thread {
	uint64_t slice;       /* offset */
	struct fxt_wait wait; /* not among the items yet */
	bool has_wait;
	uint64_t flow, flow_ns;
	uint64_t birth_flow, birth_ns;
	uint32_t birth; /* 1 + the release of that flow */
	bool has_ended;
};

/* A release of a known object. */
struct ending {
	uint64_t process, object;
	uint64_t ns;
	uint32_t release;
};

void fxt_waits_init(struct fxt_waits *w)
{
	*w = (struct fxt_waits){0};
	fxt_spill_init(&w->items, sizeof(struct fxt_wait), FXT_SPILL_MEMORY_BYTES);
	fxt_spill_init(&w->releases, sizeof(struct fxt_release), FXT_SPILL_MEMORY_BYTES);
	fxt_spill_init(&w->by_object, sizeof(struct ending), FXT_SPILL_MEMORY_BYTES);
	fxt_spill_init(&w->lock_ends, sizeof(struct fxt_lock_moment), FXT_SPILL_MEMORY_BYTES);
	fxt_spill_init(&w->files, sizeof(struct fxt_wait_file), FXT_SPILL_MEMORY_BYTES);
	fxt_paths_init(&w->paths);
}

void fxt_waits_free(struct fxt_waits *w)
{
	fxt_spill_free(&w->items);
	fxt_spill_free(&w->releases);
	fxt_spill_free(&w->by_object);
	fxt_spill_free(&w->lock_ends);
	fxt_spill_free(&w->files);
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
	        {"pthread_once", FXT_WAIT_LOCK},
	        {"call_once", FXT_WAIT_LOCK},
	        {"futex_waitv", FXT_WAIT_EVENT},
	        {"futex", FXT_WAIT_FUTEX},
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
	        {"sigwait", FXT_WAIT_EVENT},
	        {"sigtimedwait", FXT_WAIT_EVENT},
	        {"sigsuspend", FXT_WAIT_EVENT},
	        {"pause", FXT_WAIT_EVENT},
	        {"msgrcv", FXT_WAIT_EVENT},
	        {"msgsnd", FXT_WAIT_EVENT},
	        {"semop", FXT_WAIT_EVENT},
	        {"semtimedop", FXT_WAIT_EVENT},
	        {"wait", FXT_WAIT_EVENT},
	        {"system", FXT_WAIT_EVENT},
	        {"getaddrinfo", FXT_WAIT_EVENT},
	        {"getnameinfo", FXT_WAIT_EVENT},
	        {"gethostbyname", FXT_WAIT_EVENT},
	        {"msync", FXT_WAIT_EVENT},
	        {"sync", FXT_WAIT_EVENT},
	        {"io_getevents", FXT_WAIT_EVENT},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (fxt_begins_with(name, kinds[i].begin))
			return kinds[i].kind;
	return FXT_WAIT_OTHER;
}

/* Finds the object of a wait; 0 also for a wait without an argument. Returns false if the
 * slice is no wait. */
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
	return *kind == FXT_WAIT_TIME || *kind == FXT_WAIT_DESCRIPTOR || *kind == FXT_WAIT_EVENT;
}

static void waits_add(struct fxt_waits *w, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_wait wait = {.offset = offset,
	        .start = fxt_provider_ns(t->provider, view->event.ticks),
	        .thread = fxt_tables_thread(t, view->event.thread),
	        .name = fxt_tables_string(t, view->event.name),
	        .release = FXT_NO_RELEASE};
	struct fxt_argument symbol, holder, argument;

	if (!waits_object(t, view, &wait.kind, &wait.object))
		return;
	wait.process = t->threads[wait.thread].process;
	if (fxt_tables_argument(t, view, "holder", &holder) && holder.type == FXT_ARGUMENT_KOID)
		wait.holder = holder.value.word;
	wait.is_open = view->event.type == FXT_EVENT_DURATION_BEGIN;
	wait.end = wait.is_open ? wait.start : fxt_provider_ns(t->provider, view->event.extra);
	if (wait.end < wait.start)
		return;
	if (fxt_tables_argument(t, view, "symbol", &symbol) && symbol.type == FXT_ARGUMENT_STRING)
		wait.symbol = fxt_tables_string(t, symbol.value.string);
	if (fxt_tables_argument(t, view, FXT_WAIT_FILE, &argument) && argument.type == FXT_ARGUMENT_STRING)
		wait.file = fxt_tables_string(t, argument.value.string);
	wait.is_earlier = fxt_tables_argument(t, view, FXT_WAIT_SINCE, &argument);
	struct fxt_waits_thread *thread = &w->threads[wait.thread];

	if (thread->flow && thread->flow_ns >= wait.start && thread->flow_ns <= wait.end)
		wait.flow = thread->flow;
	thread->flow = 0;
	if (thread->has_wait)
		fxt_spill_add(&w->items, &thread->wait);
	thread->wait = wait;
	thread->has_wait = true;
}

static void waits_end_flow(struct fxt_waits_thread *thread, uint64_t ns, uint64_t flow)
{
	struct fxt_wait *last = &thread->wait;

	if (thread->has_wait && last->flow == 0 && last->start <= ns && ns <= last->end) {
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
	struct fxt_argument object;

	if (fxt_tables_argument(t, view, "object", &object) && object.type == FXT_ARGUMENT_POINTER)
		release.object = object.value.word;
	release.offset = w->threads[thread].slice;
	release.wait = (uint32_t)w->releases.count; /* keeps their order until they are
	                                               joined */
	fxt_spill_add(&w->releases, &release);
}

static void waits_end_lock(
        struct fxt_waits *w, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	uint32_t thread = fxt_tables_thread(t, view->event.thread);
	struct fxt_argument object;

	if (fxt_span_is(fxt_tables_text(t, view->event.name), "lock ends") &&
	        fxt_tables_argument(t, view, "object", &object) && object.type == FXT_ARGUMENT_POINTER)
		fxt_spill_add(&w->lock_ends,
		        &(struct fxt_lock_moment){t->threads[thread].process, object.value.word,
		                fxt_provider_ns(t->provider, view->event.ticks), offset});
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
	case FXT_EVENT_INSTANT:
		thread->has_ended |= fxt_span_is(fxt_tables_text(t, view->event.name), "thread ends");
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
		waits_end_flow(&w->threads[thread], fxt_provider_ns(t->provider, view->event.ticks),
		        view->event.extra);
		break;
	case FXT_EVENT_INSTANT:
		waits_end_lock(w, t, view, offset);
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
	if (fxt_span_is(category, FXT_BLOCKED_CATEGORY))
		fxt_wait_files_record(&w->files, t, view);
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

/* An end of a flow. Among the ends with the same flow, the release comes first. */
struct flow_end {
	uint64_t flow;
	enum { FLOW_OF_RELEASE, FLOW_OF_WAIT, FLOW_OF_BIRTH } of;
	uint32_t number; /* index of the release or wait, or id of the thread that began */
};

static int waits_by_flow(const void *left, const void *right)
{
	const struct flow_end *a = left, *b = right;

	if (a->flow != b->flow)
		return a->flow < b->flow ? -1 : 1;
	if (a->of != b->of)
		return a->of < b->of ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static int waits_compare_endings(const void *left, const void *right)
{
	const struct ending *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->release > b->release) - (a->release < b->release);
}

static int waits_by_offset(const void *left, const void *right)
{
	const struct fxt_wait *a = left, *b = right;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

static int waits_releases_by_offset(const void *left, const void *right)
{
	const struct fxt_release *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->wait > b->wait) - (a->wait < b->wait);
}

/* Sorts the waits once all are there. */
static void waits_sort(struct fxt_waits *w)
{
	for (size_t i = 0; i < w->thread_count; i++)
		if (w->threads[i].has_wait)
			fxt_spill_add(&w->items, &w->threads[i].wait);
	fxt_spill_sort(&w->items, waits_by_offset);
	fxt_spill_sort(&w->releases, waits_releases_by_offset);
	fxt_spill_begin_items(&w->items);
	fxt_spill_begin_items(&w->releases);
}

/* Gives each wait whose begin is a record of its own the end that the scan found. A wait that
 * never ended ends with its process. */
static void waits_end_begun(struct fxt_waits *w, const struct fxt_scan *scan)
{
	struct fxt_spill_window window = {0};

	for (uint64_t i = 0; i < scan->out_of_order.count; i++) {
		const struct fxt_slice *slice = fxt_spill_at(&scan->out_of_order, &window, i);
		ptrdiff_t found =
		        slice->category == scan->sync_category ? fxt_waits_find(w, slice->offset) : -1;

		if (found < 0)
			continue;
		struct fxt_wait *wait = fxt_spill_change_item(&w->items, (uint64_t)found);

		wait->end = fxt_scan_ns(scan, slice->end);
		wait->is_open = slice->is_open;
	}
}

static void waits_collect_flows(const struct fxt_waits *w, struct fxt_spill *flows)
{
	for (uint32_t i = 0; i < w->releases.count; i++) {
		uint64_t flow = fxt_waits_release(w, i).flow;

		fxt_spill_add(flows, &(struct flow_end){flow, FLOW_OF_RELEASE, i});
	}
	for (uint32_t i = 0; i < w->items.count; i++) {
		uint64_t flow = fxt_waits_item(w, i).flow;

		if (flow)
			fxt_spill_add(flows, &(struct flow_end){flow, FLOW_OF_WAIT, i});
	}
	for (uint32_t i = 0; i < w->thread_count; i++)
		if (w->threads[i].birth_flow)
			fxt_spill_add(flows, &(struct flow_end){w->threads[i].birth_flow, FLOW_OF_BIRTH, i});
	fxt_spill_sort(flows, waits_by_flow);
}

/* All ends of a flow belong to its first release. */
static void waits_join(struct fxt_waits *w, const struct flow_end *first, const struct flow_end *other)
{
	struct fxt_release *release = fxt_spill_change_item(&w->releases, first->number);

	if (other->of == FLOW_OF_BIRTH) {
		w->threads[other->number].birth = first->number + 1;
		release->born = other->number;
	} else if (other->of == FLOW_OF_WAIT) {
		struct fxt_wait *wait = fxt_spill_change_item(&w->items, other->number);

		wait->release = first->number;
		release->wait = other->number;
		release->object = wait->object;
	}
}

static void waits_join_flows(struct fxt_waits *w)
{
	struct flow_end first = {.of = FLOW_OF_WAIT};
	struct fxt_spill_window window = {0};
	struct fxt_spill flows;

	fxt_spill_init(&flows, sizeof(struct flow_end), FXT_SPILL_MEMORY_BYTES);
	waits_collect_flows(w, &flows);
	for (uint64_t i = 0; i < flows.count; i++) {
		const struct flow_end *end = fxt_spill_at(&flows, &window, i);

		if (end->of == FLOW_OF_RELEASE && (first.of != FLOW_OF_RELEASE || first.flow != end->flow))
			first = *end;
		else if (first.of == FLOW_OF_RELEASE && first.flow == end->flow)
			waits_join(w, &first, end);
	}
	fxt_spill_free(&flows);
}

void fxt_waits_finish(struct fxt_waits *w, const struct fxt_scan *scan)
{
	waits_sort(w);
	waits_end_begun(w, scan);
	fxt_lock_lives_count(&w->lock_ends, &w->items);
	fxt_wait_files_join(&w->files, &w->items);
	waits_join_flows(w);
	for (uint32_t i = 0; i < w->releases.count; i++) {
		const struct fxt_release release = fxt_waits_release(w, i);

		if (release.object)
			fxt_spill_add(&w->by_object,
			        &(struct ending){release.process, release.object, release.ns, i});
	}
	fxt_spill_sort(&w->by_object, waits_compare_endings);
	fxt_spill_begin_items(&w->by_object);
}

uint32_t fxt_waits_birth(const struct fxt_waits *w, uint32_t thread, uint64_t *ns)
{
	if (thread >= w->thread_count || !w->threads[thread].birth)
		return FXT_NO_RELEASE;
	*ns = w->threads[thread].birth_ns;
	return w->threads[thread].birth - 1;
}

/* The index of the item with a record at `offset`. Items begin with that offset. -1: there
 * is none. */
static ptrdiff_t waits_find(const struct fxt_spill *items, uint64_t offset)
{
	uint64_t at = partition_point(i, items->count, *(const uint64_t *)fxt_spill_item(items, i) < offset);

	return at < items->count && *(const uint64_t *)fxt_spill_item(items, at) == offset ? (ptrdiff_t)at
	                                                                                   : -1;
}

ptrdiff_t fxt_waits_find(const struct fxt_waits *w, uint64_t offset)
{
	return waits_find(&w->items, offset);
}

static bool waits_is_up_to(const struct ending *ending, uint64_t process, uint64_t object, uint64_t moment)
{
	if (ending->process != process)
		return ending->process < process;
	if (ending->object != object)
		return ending->object < object;
	return ending->ns <= moment;
}

/* The index of the first ending for an object after a moment. */
static uint64_t waits_find_ending(
        const struct fxt_waits *w, uint64_t process, uint64_t object, uint64_t moment)
{
	return partition_point(i, w->by_object.count,
	        waits_is_up_to(fxt_spill_item(&w->by_object, i), process, object, moment));
}

/* The first release of the wait's object after a moment, and not after `end`. */
static uint32_t waits_next_release(
        const struct fxt_waits *w, const struct fxt_wait *wait, uint64_t moment, uint64_t end)
{
	uint64_t place = waits_find_ending(w, wait->process, wait->object, moment);
	const struct ending *first = place < w->by_object.count ? fxt_spill_item(&w->by_object, place) : NULL;

	if (!first || first->process != wait->process || first->object != wait->object || first->ns > end)
		return FXT_NO_RELEASE;
	return first->release;
}

uint32_t fxt_waits_holder(
        const struct fxt_waits *w, const struct fxt_wait *wait, uint64_t moment, uint64_t *until)
{
	bool is_held = wait->kind == FXT_WAIT_LOCK || wait->kind == FXT_WAIT_SEMAPHORE;
	uint32_t release = wait->release;
	uint64_t end = wait->end;

	if (release != FXT_NO_RELEASE)
		end = fxt_waits_release(w, release).ns;
	else if (wait->kind != FXT_WAIT_LOCK)
		return FXT_NO_RELEASE;
	if (end <= moment)
		return FXT_NO_RELEASE;
	if (is_held) {
		uint32_t next = waits_next_release(w, wait, moment, end);

		release = next != FXT_NO_RELEASE ? next : release;
	}
	if (release != FXT_NO_RELEASE && fxt_waits_release(w, release).ns < *until)
		*until = fxt_waits_release(w, release).ns;
	return release;
}

uint64_t fxt_waits_keeper(const struct fxt_waits *w, const struct fxt_wait *wait)
{
	bool is_released = wait->release != FXT_NO_RELEASE ||
	                   waits_next_release(w, wait, wait->start, wait->end) != FXT_NO_RELEASE;

	return is_released ? 0 : wait->holder;
}

bool fxt_waits_are_alike(const struct fxt_waits *w, const struct fxt_wait *one, const struct fxt_wait *other)
{
	return one->object == other->object && one->life == other->life &&
	       (one->object == 0 || one->process == other->process) &&
	       fxt_waits_keeper(w, one) == fxt_waits_keeper(w, other);
}

bool fxt_waits_has_ended(const struct fxt_waits *w, uint32_t thread)
{
	return thread < w->thread_count && w->threads[thread].has_ended;
}

/* ---- the walk ---- */

void fxt_waits_add(struct fxt_waits *w, const struct fxt_scan *scan, const struct fxt_slice *slice,
        const struct fxt_walk_frame *parent)
{
	ptrdiff_t found;

	if (slice->category != scan->sync_category && slice->category != scan->process_category)
		return;
	found = fxt_waits_find(w, slice->offset);
	if (found >= 0) {
		struct fxt_wait *wait = fxt_spill_change_item(&w->items, (uint64_t)found);

		wait->path = fxt_paths_of_frame(&w->paths, parent, true);
		return;
	}
	found = waits_find(&w->releases, slice->offset);
	if (found >= 0) {
		struct fxt_release *release = fxt_spill_change_item(&w->releases, (uint64_t)found);

		release->path = fxt_paths_of_frame(&w->paths, parent, true);
	}
}

struct waits_walk {
	struct fxt_waits *waits;
	const struct fxt_scan *scan;
};

static void waits_enter(void *state, struct fxt_walk_frame *frame)
{
	struct waits_walk *walk = state;

	if (!frame->is_context)
		fxt_waits_add(walk->waits, walk->scan, &frame->slice, frame - 1);
}

static void waits_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	struct waits_walk *walk = state;

	fxt_waits_add(walk->waits, walk->scan, slice, parent);
}

static const struct fxt_visitor waits_visitor = {.enter = waits_enter, .leaf = waits_leaf};

static void waits_walk(struct fxt_walker *walker, void *state)
{
	/* The path of a wait, and the thread that ended it, do not depend on the filter's
	 * choice. */
	walker->filter = NULL;
	fxt_walk_ranges(walker, &waits_visitor, state);
}

bool fxt_waits_walk(struct fxt_waits *w, const struct fxt_scan *scan)
{
	struct waits_walk walk = {w, scan};

	if (w->items.count == 0 && w->releases.count == 0)
		return true;
	return fxt_walk(scan, waits_walk, &walk, sizeof(walk), 1);
}

/* ---- choosing ---- */

static bool waits_has_function(const struct fxt_waits *w, uint32_t path, const bool *names)
{
	for (; path != 0; path = w->paths.items[path].parent)
		if (names[w->paths.items[path].name])
			return true;
	return false;
}

bool fxt_waits_is_chosen(const struct fxt_waits *w, const struct fxt_scan *scan, const struct fxt_wait *wait)
{
	const struct fxt_filter *filter = scan->filter;

	if (!filter)
		return true;
	return !filter->records && fxt_filter_has_thread(filter, wait->thread) &&
	       wait->end >= fxt_scan_ns(scan, filter->from) && wait->start <= fxt_scan_ns(scan, filter->to) &&
	       wait->end - wait->start >= fxt_scan_ns(scan, filter->least) &&
	       (!filter->names || waits_has_function(w, wait->path, filter->names)) &&
	       (!filter->under || waits_has_function(w, wait->path, filter->under));
}
