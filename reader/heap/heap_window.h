/*
 * Where events of a heap wait for others that are earlier in time and later in the file; they leave in the
 * order of their times. Those of a thread nearly always come in that order. So they stand in a row for each
 * thread, of which the first is looked at alone, and only one that is earlier than the last of its row stands
 * apart:
 *
 *   thread 1   |  first  |   |   |   |   |  last |  <-- the next of this thread
 *   thread 2   |  first  |   |  last |
 *   apart      a binary heap, the earliest on top
 *
 * Of the firsts the earliest is on top of another binary heap, whose items are threads. Rows are in memory,
 * and then in TMPDIR (spill.h); what stands apart is in memory, which ends the program if it runs short
 * (index.h).
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
	uint64_t order;   /* in which they were put into the window, which sets it */
	uint64_t pointer; /* of sums: the blocks that live */
	uint64_t size;    /* of an allocation; of sums: the bytes; of a mention: id of the argument's name */
	uint32_t process;
	uint32_t thread;
	uint32_t node; /* of an allocation; of a mention: id of the event's name */
	enum fxt_heap_event_kind kind;
};

/* A thread's row. All zeros is an empty one. */
struct fxt_heap_row {
	const void *window;           /* that it belongs to while it is not empty */
	struct fxt_heap_event first;  /* that waits in the row */
	struct fxt_spill next, later; /* what follows it: once the former is at its end, they change places */
	uint64_t taken;               /* of the former */
	struct fxt_spill_window *read; /* of the former */
	uint64_t last_ns;
};

/* All zeros is an empty one. Each has threads of its own, or else only one of two windows has a row for a
 * thread at a time. */
struct fxt_heap_window {
	struct fxt_heap_event *apart;
	size_t apart_count, apart_room;
	uint32_t *threads; /* that have a row here */
	size_t thread_count, thread_room;
	size_t count; /* of all events */
	uint64_t taken;
};

/* `rows` are those of all threads, by their numbers. */
void fxt_heap_window_put(
        struct fxt_heap_window *window, struct fxt_heap_row *rows, struct fxt_heap_event *event);

/* Takes the earliest out; false: there is none. */
bool fxt_heap_window_take(
        struct fxt_heap_window *window, struct fxt_heap_row *rows, struct fxt_heap_event *event);

/* Frees what it holds, events that still wait included. */
void fxt_heap_window_end(struct fxt_heap_window *window, struct fxt_heap_row *rows);

#endif
