/*
 * The window of heap events: a queue for each thread, ordered by a binary heap, and a
 * second heap of events that stand apart. Runs on the thread that reads the archive. Long
 * queues continue in TMPDIR, so memory must not grow with the number of events that wait in
 * order.
 */
#include "heap_window.h"

#include <stdlib.h>
#include "reader/trace/index.h"

static bool window_is_earlier(const struct fxt_heap_event *a, const struct fxt_heap_event *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->order < b->order;
}

/* ---- queues ---- */

static void window_begin_row(
        struct fxt_heap_window *w, struct fxt_heap_queue *row, const struct fxt_heap_event *event)
{
	size_t bytes = fxt_spill_bytes_of_thread(event->thread);

	*row = (struct fxt_heap_queue){.window = w, .first = *event, .last_ns = event->ns};
	fxt_spill_init(&row->next, sizeof(*event), bytes);
	fxt_spill_init(&row->later, sizeof(*event), bytes);
}

static void window_append(struct fxt_heap_queue *row, const struct fxt_heap_event *event)
{
	fxt_spill_add(&row->later, event);
	row->last_ns = event->ns;
}

static void window_end_row(struct fxt_heap_queue *row)
{
	fxt_spill_free(&row->next);
	fxt_spill_free(&row->later);
	free(row->read);
	*row = (struct fxt_heap_queue){0};
}

/* Drops the first event of a queue. Returns false if the queue is empty then. */
static bool window_drop_first(struct fxt_heap_queue *row)
{
	if (row->taken == row->next.count) {
		struct fxt_spill read = row->next;

		if (row->later.count == 0) {
			window_end_row(row);
			return false;
		}
		fxt_spill_clear(&read);
		row->next = row->later;
		row->later = read;
		row->taken = 0;
		if (!row->read)
			row->read = fxt_allocate(sizeof(*row->read));
		row->read->count = 0;
	}
	row->first = *(const struct fxt_heap_event *)fxt_spill_at(&row->next, row->read, row->taken++);
	return true;
}

/* ---- the threads that have queues, by the first event of each ---- */

static bool window_is_thread_earlier(const struct fxt_heap_queue *rows, uint32_t a, uint32_t b)
{
	return window_is_earlier(&rows[a].first, &rows[b].first);
}

static void window_add_thread(struct fxt_heap_window *w, const struct fxt_heap_queue *rows, uint32_t thread)
{
	size_t at = w->thread_count;

	fxt_make_room(w->threads, w->thread_count, w->thread_room);
	w->thread_count++;
	for (; at > 0 && window_is_thread_earlier(rows, thread, w->threads[(at - 1) / 2]); at = (at - 1) / 2)
		w->threads[at] = w->threads[(at - 1) / 2];
	w->threads[at] = thread;
}

/* Puts a thread on top, and lets it sink to its place. */
static void window_sink_thread(struct fxt_heap_window *w, const struct fxt_heap_queue *rows, uint32_t thread)
{
	size_t at = 0;

	for (size_t child; (child = 2 * at + 1) < w->thread_count; at = child) {
		if (child + 1 < w->thread_count &&
		        window_is_thread_earlier(rows, w->threads[child + 1], w->threads[child]))
			child++;
		if (!window_is_thread_earlier(rows, w->threads[child], thread))
			break;
		w->threads[at] = w->threads[child];
	}
	w->threads[at] = thread;
}

static void window_take_from_row(
        struct fxt_heap_window *w, struct fxt_heap_queue *rows, struct fxt_heap_event *event)
{
	uint32_t thread = w->threads[0];

	*event = rows[thread].first;
	if (!window_drop_first(&rows[thread]))
		thread = w->threads[--w->thread_count];
	if (w->thread_count)
		window_sink_thread(w, rows, thread);
}

/* ---- events apart ---- */

static void window_put_apart(struct fxt_heap_window *w, const struct fxt_heap_event *event)
{
	size_t at = w->apart_count;

	fxt_make_room(w->apart, w->apart_count, w->apart_room);
	w->apart_count++;
	for (; at > 0 && window_is_earlier(event, &w->apart[(at - 1) / 2]); at = (at - 1) / 2)
		w->apart[at] = w->apart[(at - 1) / 2];
	w->apart[at] = *event;
}

static void window_take_from_apart(struct fxt_heap_window *w, struct fxt_heap_event *event)
{
	struct fxt_heap_event last = w->apart[--w->apart_count];
	size_t at = 0;

	*event = w->apart[0];
	for (size_t child; (child = 2 * at + 1) < w->apart_count; at = child) {
		if (child + 1 < w->apart_count && window_is_earlier(&w->apart[child + 1], &w->apart[child]))
			child++;
		if (!window_is_earlier(&w->apart[child], &last))
			break;
		w->apart[at] = w->apart[child];
	}
	w->apart[at] = last;
}

/* ---- the window ---- */

void fxt_heap_window_put(struct fxt_heap_window *w, struct fxt_heap_queue *rows, struct fxt_heap_event *event)
{
	struct fxt_heap_queue *row = &rows[event->thread];

	event->order = w->taken++;
	w->count++;
	if (!row->window) {
		window_begin_row(w, row, event);
		window_add_thread(w, rows, event->thread);
	} else if (row->window == w && event->ns >= row->last_ns) {
		window_append(row, event);
	} else {
		window_put_apart(w, event);
	}
}

bool fxt_heap_window_take(
        struct fxt_heap_window *w, struct fxt_heap_queue *rows, struct fxt_heap_event *event)
{
	if (w->count == 0)
		return false;
	w->count--;
	if (w->thread_count == 0 ||
	        (w->apart_count && window_is_earlier(&w->apart[0], &rows[w->threads[0]].first)))
		window_take_from_apart(w, event);
	else
		window_take_from_row(w, rows, event);
	return true;
}

void fxt_heap_window_end(struct fxt_heap_window *w, struct fxt_heap_queue *rows)
{
	for (size_t i = 0; i < w->thread_count; i++)
		window_end_row(&rows[w->threads[i]]);
	free(w->threads);
	free(w->apart);
	*w = (struct fxt_heap_window){0};
}
