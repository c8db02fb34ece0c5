#include "switches.h"
#include <stdlib.h>

struct events {
	struct fxt_activity_change *items;
	size_t count, room;
};

/* ---- reading ---- */

static enum fxt_activity switches_activity(uint8_t thread_state)
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

/* A CPU's idle thread is known by its weight, or by being no thread at all. */
static bool switches_is_idle(
        struct fxt_tables *t, const struct fxt_view *view, uint64_t koid, const char *weight)
{
	struct fxt_argument argument;

	return koid == 0 ||
	       (fxt_tables_argument(t, view, weight, &argument) && (int32_t)argument.value.word == INT32_MIN);
}

/* The legacy record has references; in the others the koids stand themselves. */
static uint64_t switches_koid(
        const struct fxt_tables *t, const struct fxt_view *view, struct fxt_thread thread)
{
	if (view->scheduling.type != FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH || thread.ref == 0)
		return thread.thread;
	return t->threads[fxt_provider_thread(t->provider, thread.ref)].thread;
}

size_t fxt_activity_changes(
        struct fxt_tables *t, const struct fxt_view *view, struct fxt_activity_change changes[2])
{
	size_t count = 0;

	if (view->type != FXT_RECORD_SCHEDULING)
		return 0;
	uint64_t incoming = switches_koid(t, view, view->scheduling.incoming);
	uint64_t outgoing = switches_koid(t, view, view->scheduling.outgoing);
	struct fxt_activity_change change = {
	        .ns = fxt_provider_ns(t->provider, view->scheduling.ticks), .cpu = view->scheduling.cpu};

	if (view->scheduling.type == FXT_SCHEDULING_THREAD_WAKEUP) {
		change.koid = incoming;
		change.activity = FXT_RUNNABLE;
		change.is_wakeup = true;
		changes[count++] = change;
		return count;
	}
	if (!switches_is_idle(t, view, outgoing, "outgoing_weight")) {
		change.koid = outgoing;
		change.activity = switches_activity(view->scheduling.outgoing_state);
		changes[count++] = change;
	}
	if (!switches_is_idle(t, view, incoming, "incoming_weight")) {
		change.koid = incoming;
		change.activity = FXT_RUNNING;
		changes[count++] = change;
	}
	return count;
}

static void switches_add(struct events *events, struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_activity_change changes[2];
	size_t count = fxt_activity_changes(t, view, changes);

	for (size_t i = 0; i < count; i++) {
		changes[i].order = events->count;
		fxt_make_room(events->items, events->count, events->room);
		events->items[events->count++] = changes[i];
	}
}

static void switches_read_events(struct events *events, const struct fxt_archive *archive)
{
	struct fxt_cursor cursor = fxt_cursor(archive);
	struct fxt_tables tables;
	struct fxt_record r;
	struct fxt_view view;

	fxt_tables_init(&tables);
	while (fxt_next(&cursor, &r)) {
		if (fxt_is_plain_call(r.words[0]) || fxt_decode(&r, &view) != NULL)
			continue;
		fxt_tables_apply(&tables, &view);
		switches_add(events, &tables, &view);
	}
	fxt_tables_free(&tables);
}

/* ---- summing up ---- */

static int switches_by_thread_and_time(const void *left, const void *right)
{
	const struct fxt_activity_change *a = left, *b = right;

	if (a->koid != b->koid)
		return a->koid < b->koid ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static void switches_account_time(struct fxt_switch_times *times, enum fxt_activity activity, uint64_t ns)
{
	if (activity == FXT_RUNNING)
		times->running += ns;
	else if (activity == FXT_RUNNABLE)
		times->runnable += ns;
	else if (activity == FXT_BLOCKED)
		times->blocked += ns;
}

/* The account of the thread that the events begin with. Returns how many are its own. */
static size_t switches_sum_up_thread(
        const struct fxt_activity_change *events, size_t count, uint64_t end, struct fxt_switch_times *times)
{
	enum fxt_activity activity = FXT_ACTIVITY_UNKNOWN;
	uint64_t since = 0;
	size_t i = 0;

	*times = (struct fxt_switch_times){.koid = events[0].koid};
	for (; i < count && events[i].koid == times->koid; i++) {
		if (events[i].is_wakeup && activity != FXT_BLOCKED)
			continue;
		switches_account_time(times, activity, events[i].ns - since);
		activity = events[i].activity;
		since = events[i].ns;
		times->switches +=
		        !events[i].is_wakeup && (activity == FXT_RUNNABLE || activity == FXT_BLOCKED);
	}
	switches_account_time(times, activity, end - since);
	return i;
}

void fxt_switches_read(struct fxt_switches *s, const struct fxt_archive *archive, uint64_t end)
{
	struct events events = {0};
	size_t room = 0;

	*s = (struct fxt_switches){0};
	switches_read_events(&events, archive);
	if (events.count > 0)
		qsort(events.items, events.count, sizeof(*events.items), switches_by_thread_and_time);
	for (size_t i = 0; i < events.count; i++)
		if (events.items[i].ns > end)
			end = events.items[i].ns;
	for (size_t at = 0; at < events.count; s->count++) {
		fxt_make_room(s->threads, s->count, room);
		at += switches_sum_up_thread(
		        events.items + at, events.count - at, end, &s->threads[s->count]);
	}
	free(events.items);
}

const struct fxt_switch_times *fxt_switches_of(const struct fxt_switches *s, uint64_t koid)
{
	size_t first = 0, last = s->count;

	while (first < last) {
		size_t middle = first + (last - first) / 2;

		if (s->threads[middle].koid < koid)
			first = middle + 1;
		else
			last = middle;
	}
	return first < s->count && s->threads[first].koid == koid ? &s->threads[first] : NULL;
}

void fxt_switches_free(struct fxt_switches *s)
{
	free(s->threads);
	*s = (struct fxt_switches){0};
}
