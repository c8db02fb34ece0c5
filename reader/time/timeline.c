/*
 * Collects scheduling records during the scan and makes stretches of them. Runs on the
 * scanning thread; only one thread may query it afterwards. Records may be in any order, so
 * no stretch is made before all of them are there.
 */
#include "timeline.h"

#include <stdlib.h>

#include "reader/trace/cut.h"
#include "writer/shared/search.h"

/* A thread's activity from a moment on. */
struct activity_change {
	uint64_t koid;
	uint64_t ns;
	uint64_t order; /* of changes at one time, the latest counts */
	enum fxt_activity activity;
	uint16_t cpu;
	bool is_wakeup; /* only affects a thread that is blocked */
};

struct sample {
	uint64_t koid;
	uint64_t ns;
	uint64_t order;
	uint32_t blocker;
};

void fxt_timeline_init(struct fxt_timeline *t)
{
	fxt_spill_init(&t->changes, sizeof(struct activity_change), FXT_SPILL_MEMORY_BYTES);
	fxt_spill_init(&t->by_thread, sizeof(struct fxt_stretch), FXT_SPILL_MEMORY_BYTES);
	fxt_spill_init(&t->by_cpu, sizeof(struct fxt_stretch), FXT_SPILL_MEMORY_BYTES);
	fxt_spill_init(&t->samples, sizeof(struct sample), FXT_SPILL_MEMORY_BYTES);
	t->blockers = NULL;
	t->blocker_count = t->blocker_room = 0;
	t->blocker_index = (struct fxt_index){0};
	t->from = 0;
	t->to = UINT64_MAX;
}

void fxt_timeline_free(struct fxt_timeline *t)
{
	fxt_spill_free(&t->changes);
	fxt_spill_free(&t->by_thread);
	fxt_spill_free(&t->by_cpu);
	fxt_spill_free(&t->samples);
	fxt_index_free(&t->blocker_index);
	free(t->blockers);
}

void fxt_timeline_clear(struct fxt_timeline *t)
{
	fxt_timeline_free(t);
	fxt_timeline_init(t);
}

/* ---- records ---- */

static enum fxt_activity timeline_activity(uint8_t thread_state)
{
	switch (thread_state) {
	case FXT_THREAD_STATE_NEW:
	case FXT_THREAD_STATE_RUNNING:
		return FXT_RUNNABLE;
	case FXT_THREAD_STATE_BLOCKED:
		return FXT_BLOCKED;
	default:
		return FXT_ACTIVITY_UNKNOWN;
	}
}

/* A CPU's idle thread has the least weight there is, or is no thread at all. */
static bool timeline_is_idle(
        struct fxt_tables *t, const struct fxt_view *view, uint64_t koid, const char *weight)
{
	struct fxt_argument argument;

	return koid == 0 ||
	       (fxt_tables_argument(t, view, weight, &argument) && (int32_t)argument.value.word == INT32_MIN);
}

/* The legacy record has references; the others have the koids themselves. */
static uint64_t timeline_koid(
        const struct fxt_tables *t, const struct fxt_view *view, struct fxt_thread thread)
{
	if (view->scheduling.type != FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH || thread.ref == 0)
		return thread.thread;
	return t->threads[fxt_provider_thread(t->provider, thread.ref)].thread;
}

/* Decodes a scheduling record, with the tables as they are at that record. Returns the
 * number of threads that it changes: 0 (another record) to 2. */
static size_t timeline_changes(
        struct fxt_tables *t, const struct fxt_view *view, struct activity_change changes[2])
{
	size_t count = 0;

	if (view->type != FXT_RECORD_SCHEDULING)
		return 0;
	uint64_t incoming = timeline_koid(t, view, view->scheduling.incoming);
	uint64_t outgoing = timeline_koid(t, view, view->scheduling.outgoing);
	struct activity_change change = {
	        .ns = fxt_provider_ns(t->provider, view->scheduling.ticks), .cpu = view->scheduling.cpu};

	if (view->scheduling.type == FXT_SCHEDULING_THREAD_WAKEUP) {
		change.koid = incoming;
		change.activity = FXT_RUNNABLE;
		change.is_wakeup = true;
		changes[count++] = change;
		return count;
	}
	if (!timeline_is_idle(t, view, outgoing, "outgoing_weight")) {
		change.koid = outgoing;
		change.activity = timeline_activity(view->scheduling.outgoing_state);
		changes[count++] = change;
	}
	if (!timeline_is_idle(t, view, incoming, "incoming_weight")) {
		change.koid = incoming;
		change.activity = FXT_RUNNING;
		changes[count++] = change;
	}
	return count;
}

/* The id of a blocker, which is added if it is new. */
static uint32_t timeline_blocker(struct fxt_timeline *t, struct fxt_blocker key)
{
	uint64_t names = (uint64_t)key.call << 32 | key.file;
	uint32_t hash = fxt_hash_word(fxt_hash_mix(names) ^ key.object << 1 ^ key.has_fd);

	for (struct fxt_probe probe = fxt_probe(&t->blocker_index, hash);
	        fxt_probe_next(&t->blocker_index, &probe);) {
		const struct fxt_blocker *found = &t->blockers[probe.id];

		if (found->call == key.call && found->file == key.file && found->object == key.object &&
		        found->has_fd == key.has_fd)
			return probe.id;
	}
	fxt_index_add(&t->blocker_index, hash, (uint32_t)t->blocker_count);
	fxt_make_room(t->blockers, t->blocker_count, t->blocker_room);
	t->blockers[t->blocker_count] = key;
	return (uint32_t)t->blocker_count++;
}

static void timeline_on_sample(struct fxt_timeline *t, struct fxt_tables *tables, const struct fxt_view *view)
{
	struct fxt_blocker blocker = {.file = FXT_NOTHING};
	struct fxt_argument argument;

	if (!fxt_span_is(fxt_tables_text(tables, view->event.category), FXT_BLOCKED_CATEGORY) ||
	        !fxt_span_is(fxt_tables_text(tables, view->event.name), FXT_BLOCKED_EVENT) ||
	        !fxt_tables_argument(tables, view, FXT_BLOCKED_CALL, &argument) ||
	        argument.type != FXT_ARGUMENT_STRING)
		return;
	blocker.call = fxt_tables_string(tables, argument.value.string);
	if (fxt_tables_argument(tables, view, FXT_BLOCKED_FILE, &argument) &&
	        argument.type == FXT_ARGUMENT_STRING)
		blocker.file = fxt_tables_string(tables, argument.value.string);
	if (fxt_tables_argument(tables, view, FXT_BLOCKED_OBJECT, &argument) &&
	        argument.type == FXT_ARGUMENT_POINTER)
		blocker.object = argument.value.word;
	if (fxt_tables_argument(tables, view, FXT_BLOCKED_FD, &argument) &&
	        argument.type == FXT_ARGUMENT_INT32) {
		blocker.object = (uint32_t)argument.value.word + UINT64_C(1);
		blocker.has_fd = true;
	}
	uint32_t thread = fxt_tables_thread(tables, view->event.thread);

	fxt_spill_add(&t->samples, &(struct sample){tables->threads[thread].thread,
	                                   fxt_provider_ns(tables->provider, view->event.ticks),
	                                   t->samples.count, timeline_blocker(t, blocker)});
}

void fxt_timeline_record(struct fxt_timeline *t, struct fxt_tables *tables, const struct fxt_view *view)
{
	struct activity_change changes[2];
	size_t count = timeline_changes(tables, view, changes);
	struct fxt_span options;
	struct fxt_cut cut;

	if (fxt_view_cut(view, &cut, &options)) {
		t->from = fxt_cut_time(&cut, cut.from, FXT_NS_PER_SECOND);
		t->to = fxt_cut_time_to(&cut, FXT_NS_PER_SECOND);
	}
	if (view->type == FXT_RECORD_EVENT && view->event.type == FXT_EVENT_INSTANT)
		timeline_on_sample(t, tables, view);
	for (size_t i = 0; i < count; i++) {
		changes[i].order = t->changes.count;
		fxt_spill_add(&t->changes, &changes[i]);
	}
}

/* ---- stretches ---- */

static int timeline_by_thread_and_time(const void *left, const void *right)
{
	const struct activity_change *a = left, *b = right;

	if (a->koid != b->koid)
		return a->koid < b->koid ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static int timeline_by_cpu_and_time(const void *left, const void *right)
{
	const struct fxt_stretch *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (a->koid > b->koid) - (a->koid < b->koid);
}

static int timeline_samples_in_order(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;

	if (a->koid != b->koid)
		return a->koid < b->koid ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* Finds the first sample in a stretch. Stretches come in order, and *next is the first
 * sample that is not before the one before. */
static uint32_t timeline_sample_in(
        struct fxt_timeline *t, struct fxt_spill_window *window, uint64_t *next, const struct fxt_stretch *in)
{
	for (; *next < t->samples.count; ++*next) {
		const struct sample *sample = fxt_spill_at(&t->samples, window, *next);

		if (sample->koid > in->koid || (sample->koid == in->koid && sample->ns >= in->end))
			break;
		if (sample->koid == in->koid && sample->ns >= in->start)
			return sample->blocker + 1;
	}
	return 0;
}

static void timeline_add(struct fxt_timeline *t, struct fxt_stretch *stretch)
{
	if (stretch->end < stretch->start)
		stretch->end = stretch->start;
	if (stretch->end < t->from || stretch->start >= t->to)
		return;
	if (stretch->start < t->from) {
		stretch->start = t->from;
		stretch->left_cpu = false;
	}
	if (stretch->end > t->to)
		stretch->end = t->to;
	if (stretch->activity == FXT_ACTIVITY_UNKNOWN ||
	        (stretch->end == stretch->start && !stretch->left_cpu))
		return;
	fxt_spill_add(&t->by_thread, stretch);
	if (stretch->activity == FXT_RUNNING)
		fxt_spill_add(&t->by_cpu, stretch);
}

/*
 * Gives the waits between two samples of a thread that say the same what both say. The
 * recorder has time for a part of the waits only, so a thread that waits again and again in
 * one place has a sample of some. A wait that is too short to have one is left out: it may
 * well be another one.
 */
static void timeline_fill_between(struct fxt_timeline *t)
{
	struct fxt_stretch last = {0};
	uint64_t last_place = 0;

	for (uint64_t i = 0; t->samples.count > 0 && i < t->by_thread.count; i++) {
		const struct fxt_stretch stretch =
		        *(const struct fxt_stretch *)fxt_spill_item(&t->by_thread, i);

		if (stretch.blocker == 0)
			continue;
		for (uint64_t k = last_place + 1;
		        last.koid == stretch.koid && last.blocker == stretch.blocker && k < i; k++) {
			struct fxt_stretch between =
			        *(const struct fxt_stretch *)fxt_spill_item(&t->by_thread, k);

			if (between.activity == FXT_BLOCKED && between.end - between.start >= FXT_BLOCKED_NS)
				((struct fxt_stretch *)fxt_spill_change_item(&t->by_thread, k))->blocker =
				        stretch.blocker;
		}
		last = stretch;
		last_place = i;
	}
}

void fxt_timeline_finish(struct fxt_timeline *t, uint64_t start, uint64_t end)
{
	struct fxt_stretch stretch = {0};
	struct fxt_spill_window window = {0}, sample_window = {0};
	uint64_t sample = 0;

	if (t->from < start)
		t->from = start;
	if (t->to > end && start > 0)
		t->to = end;
	fxt_spill_sort(&t->samples, timeline_samples_in_order);
	fxt_spill_sort(&t->changes, timeline_by_thread_and_time);
	for (uint64_t i = 0; i < t->changes.count; i++) {
		const struct activity_change change =
		        *(const struct activity_change *)fxt_spill_at(&t->changes, &window, i);
		bool is_same = change.koid == stretch.koid;

		if (change.is_wakeup && !(is_same && stretch.activity == FXT_BLOCKED))
			continue;
		stretch.end = is_same ? change.ns : end;
		if (stretch.activity == FXT_BLOCKED)
			stretch.blocker = timeline_sample_in(t, &sample_window, &sample, &stretch);
		timeline_add(t, &stretch);
		/* A wakeup names the CPU on which the thread is meant to run. */
		stretch = (struct fxt_stretch){.koid = change.koid,
		        .start = change.ns,
		        .activity = change.activity,
		        .cpu = change.cpu,
		        .left_cpu = !change.is_wakeup && change.activity != FXT_RUNNING};
	}
	stretch.end = end;
	if (stretch.activity == FXT_BLOCKED)
		stretch.blocker = timeline_sample_in(t, &sample_window, &sample, &stretch);
	timeline_add(t, &stretch);
	fxt_spill_sort(&t->by_cpu, timeline_by_cpu_and_time);
	fxt_spill_free(&t->changes);
	fxt_spill_init(&t->changes, sizeof(struct activity_change), FXT_SPILL_MEMORY_BYTES);
	fxt_spill_begin_items(&t->by_thread);
	fxt_spill_begin_items(&t->by_cpu);
	timeline_fill_between(t);
}

/* ---- looking up ---- */

static bool timeline_is_over(const struct fxt_stretch *stretch, bool by_cpu, uint64_t whose, uint64_t moment)
{
	uint64_t of = by_cpu ? stretch->cpu : stretch->koid;

	return of < whose || (of == whose && stretch->end <= moment);
}

/* Finds the first stretch of a thread, or of a CPU, that ends after a moment. */
static uint64_t timeline_find(const struct fxt_spill *stretches, bool by_cpu, uint64_t whose, uint64_t moment)
{
	return partition_point(
	        i, stretches->count, timeline_is_over(fxt_spill_item(stretches, i), by_cpu, whose, moment));
}

uint64_t fxt_timeline_thread_at(const struct fxt_timeline *t, uint64_t koid, uint64_t moment)
{
	return timeline_find(&t->by_thread, false, koid, moment);
}

uint64_t fxt_timeline_cpu_at(const struct fxt_timeline *t, uint16_t cpu, uint64_t moment)
{
	return timeline_find(&t->by_cpu, true, cpu, moment);
}

bool fxt_timeline_of_thread(
        const struct fxt_timeline *t, uint64_t place, uint64_t koid, struct fxt_stretch *stretch)
{
	if (place >= t->by_thread.count)
		return false;
	*stretch = *(const struct fxt_stretch *)fxt_spill_item(&t->by_thread, place);
	return stretch->koid == koid;
}

uint64_t fxt_timeline_on_cpu(
        const struct fxt_timeline *t, uint64_t *place, uint16_t cpu, uint64_t moment, uint64_t *until)
{
	for (; *place < t->by_cpu.count; ++*place) {
		const struct fxt_stretch *stretch = fxt_spill_item(&t->by_cpu, *place);

		if (stretch->cpu != cpu || stretch->start >= *until)
			return 0;
		if (stretch->end <= moment)
			continue;
		if (stretch->start > moment) {
			*until = stretch->start;
			return 0;
		}
		if (stretch->end < *until)
			*until = stretch->end;
		return stretch->koid;
	}
	return 0;
}
