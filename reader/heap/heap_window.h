/*
 * Events of a heap wait in a window for events that are earlier in time and later in
 * the file. Events leave it in the order of their times. A thread's events nearly always
 * come in that order. Each thread therefore has a queue, and only the first event of a
 * queue is compared. An event that is earlier than the last of its queue stands apart:
 *
 *   thread 1   |  first  |   |   |   |   |  last |  <-- the next of this thread
 *   thread 2   |  first  |   |  last |
 *   apart      a binary heap, the earliest on top
 *
 * The queues are ordered by their first events in another binary heap of threads, with the
 * earliest on top. Queues are in memory, and then in TMPDIR (spill.h). Events that stand
 * apart are in memory; if it runs short, the program ends (index.h).
 */
#ifndef FXT_READER_HEAP_WINDOW_H
#define FXT_READER_HEAP_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "reader/trace/spill.h"

enum fxt_heap_event_kind { FXT_HEAP_ALLOCATION, FXT_HEAP_FREE, FXT_HEAP_MENTION, FXT_HEAP_SUMS };

struct fxt_heap_event {
	uint64_t ns;
	uint64_t order;   /* in which the events were put into the window; the window sets
	                     it */
	uint64_t pointer; /* of sums: the live blocks */
	/* of an allocation; of sums: the bytes; of a mention: id of the argument's name */
	uint64_t size;
	uint32_t process;
	uint32_t thread;
	uint32_t node; /* of an allocation; of a mention: id of the event's name */
	enum fxt_heap_event_kind kind;
};

/* A thread's queue. All zeros is an empty one. */
struct fxt_heap_queue {
	const void *window;            /* the window it belongs to, unless empty */
	struct fxt_heap_event first;   /* of the events in the queue */
	struct fxt_spill next, later;  /* events behind `first`: once `next` is at its end,
	                                  the two change places */
	uint64_t taken;                /* items taken from `next` */
	struct fxt_spill_window *read; /* for `next` */
	uint64_t last_ns;
};

/* All zeros is an empty window. Each window has threads of its own; otherwise, only one of
 * two windows may have a queue for a thread at a time. */
struct fxt_heap_window {
	struct fxt_heap_event *apart;
	size_t apart_count, apart_room;
	uint32_t *threads; /* with a queue here */
	size_t thread_count, thread_room;
	size_t count; /* of all events */
	uint64_t taken;
};

/* `rows` are the queues of all threads, by thread number. */
void fxt_heap_window_put(
        struct fxt_heap_window *window, struct fxt_heap_queue *rows, struct fxt_heap_event *event);

/* Takes the earliest event out. Returns false if there is none. */
bool fxt_heap_window_take(
        struct fxt_heap_window *window, struct fxt_heap_queue *rows, struct fxt_heap_event *event);

/* Frees the window's memory, including events that still wait. */
void fxt_heap_window_end(struct fxt_heap_window *window, struct fxt_heap_queue *rows);

#endif
