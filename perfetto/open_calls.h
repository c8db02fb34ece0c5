/*
 * Ends the calls that were open in a process when it was killed, for the Perfetto UI. The
 * UI draws a slice without an end up to the end of the trace, beside what other processes
 * did long after. In the format these calls must not end, because they did not return; the
 * event `killed` gives readers their time.
 *
 * The archive therefore gets Perfetto packets, in blob records of type 3, which other
 * readers skip. Each thread gets a track of its number, which the UI takes for the thread's
 * own, with an end for each open call.
 */
#ifndef FXT_PERFETTO_OPEN_CALLS_H
#define FXT_PERFETTO_OPEN_CALLS_H

#include "reader/trace/tables.h"

#define FXT_OPEN_CALLS_BLOB "fxt: open calls"

/* Open calls of all processes. All zeros is empty. */
struct fxt_open_calls {
	struct fxt_open_thread {
		uint64_t process, thread; /* koids */
		uint64_t calls;
		uint64_t ticks;            /* the time at which the process was over */
		uint64_t ticks_per_second; /* of the trace they were found in, else 0 */
	} * threads;
	size_t count, room;
};

/* Finds the open calls of an archive that is read from its beginning. All zeros is the
 * initial state. */
struct fxt_open_calls_search {
	struct fxt_open_calls found;
	uint64_t *open; /* open calls by thread id */
	size_t thread_count;
	struct fxt_open_process {
		uint64_t koid;
		uint32_t *threads; /* ids of threads with open calls since the process's latest
		                    * death; may hold an id twice */
		size_t count, room;
	} * processes;
	size_t process_count, process_room;
	struct fxt_index index; /* of processes, by koid */
};

/* Processes the next record; plain calls may be skipped. */
void fxt_open_calls_take(
        struct fxt_open_calls_search *search, struct fxt_tables *t, const struct fxt_view *view);

/* Frees everything except what was found. */
void fxt_open_calls_end_search(struct fxt_open_calls_search *search);

/* True if a record says that a process was over; its open calls end there. */
bool fxt_open_calls_are_over(struct fxt_tables *t, const struct fxt_view *view);

void fxt_open_calls_add(struct fxt_open_calls *open, const struct fxt_open_thread *thread);

/* Hands out the content of each blob. If ticks_per_second is 0, each thread's own is
 * used. */
void fxt_open_calls_describe(const struct fxt_open_calls *open, uint64_t ticks_per_second,
        void (*blob)(void *context, const void *data, size_t bytes), void *context);

void fxt_open_calls_free(struct fxt_open_calls *open);

#endif
