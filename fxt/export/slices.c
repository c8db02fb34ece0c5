/*
 * Turns the playback of a trace (reader/slices/playback.h) into begins and ends of slices
 * that nest (slices.h). Runs on the main thread.
 */
#include "slices.h"

#include <stdlib.h>
#include "fxt/commands.h"
#include "fxt/options.h"
#include "reader/slices/playback.h"

struct slices_open {
	struct fxt_slice slice;
	uint64_t end_ns; /* the earliest end among the slice and the slices around it */
};

struct slices_thread {
	struct slices_open *open;
	size_t count, room;
	uint64_t latest_ns;
};

struct slices {
	const struct fxt_scan *scan;
	fxt_export_slice_visit *visit;
	void *state;
	struct slices_thread *threads; /* by the thread's id in the scan */
};

static uint64_t slices_time(struct slices_thread *thread, uint64_t ns)
{
	if (ns > thread->latest_ns)
		thread->latest_ns = ns;
	return thread->latest_ns;
}

/* Ends the innermost open slices of a thread until `depth` slices are left. */
static void slices_end(const struct slices *s, struct slices_thread *thread, size_t depth, uint64_t ns)
{
	while (thread->count > depth) {
		const struct slices_open *inner = &thread->open[--thread->count];

		s->visit(s->state, &inner->slice, slices_time(thread, ns), true);
	}
}

static void slices_begin(
        const struct slices *s, struct slices_thread *thread, const struct fxt_playback_event *event)
{
	uint64_t end_ns = fxt_scan_ns(s->scan, event->slice.end);

	slices_end(s, thread, event->depth, event->ns);
	if (thread->count > 0 && end_ns > thread->open[thread->count - 1].end_ns)
		end_ns = thread->open[thread->count - 1].end_ns;
	fxt_make_room(thread->open, thread->count, thread->room);
	thread->open[thread->count++] = (struct slices_open){event->slice, end_ns};
	s->visit(s->state, &event->slice, slices_time(thread, event->ns), false);
}

static bool slices_play(void *state, const struct fxt_playback_event *event)
{
	const struct slices *s = state;
	struct slices_thread *thread = &s->threads[event->thread];
	size_t depth = thread->count;

	if (event->kind == FXT_PLAYBACK_END) {
		while (depth > 0 && thread->open[depth - 1].slice.offset != event->slice.offset)
			depth--;
		if (depth > 0)
			slices_end(s, thread, depth - 1, event->ns);
		return true;
	}
	slices_begin(s, thread, event);
	if (event->kind == FXT_PLAYBACK_LEAF)
		slices_end(s, thread, thread->count - 1, thread->open[thread->count - 1].end_ns);
	return true;
}

bool fxt_export_scan_chosen(struct fxt_export *e, struct fxt_scan *scan, struct fxt_filter *filter)
{
	char error[1024];

	fxt_scan(scan, e->source, NULL);
	if (fxt_query_filter_apply(e->wanted.choice, scan, filter, error, sizeof(error)) != 0) {
		fxt_report_name(e->name, error);
		fxt_scan_free(scan);
		e->status = FXT_FAILED;
		return false;
	}
	e->status = fxt_report_unread(e->name, scan->malformed, scan->unknown, &scan->fault);
	return true;
}

void fxt_export_slices(
        struct fxt_export *e, const struct fxt_scan *scan, fxt_export_slice_visit *visit, void *state)
{
	struct slices s = {.scan = scan,
	        .visit = visit,
	        .state = state,
	        .threads = fxt_allocate((scan->thread_count + 1) * sizeof(*s.threads))};
	int status = fxt_report_changed(e->name, fxt_playback(scan, NULL, NULL, NULL, slices_play, &s));

	if (status > e->status)
		e->status = status;
	for (size_t i = 0; i <= scan->thread_count; i++)
		free(s.threads[i].open);
	free(s.threads);
}
