/*
 * Where the calls end that were open in a process when it was killed, for the Perfetto UI: it draws a slice
 * that begins and has no end to the end of the trace, beside what other processes did long after. In the
 * format they must not end, as they did not; `killed` tells readers when they were over.
 *
 * So the archive gets Perfetto packets, in blob records of type 3 which other readers pass over: for each
 * thread a track of its number, which to the UI is the thread's own, and on it an end for each open call.
 */
#ifndef FXT_SYMBOLIZER_OPEN_CALLS_H
#define FXT_SYMBOLIZER_OPEN_CALLS_H

#include "reader/trace/tables.h"

#define FXT_OPEN_CALLS_BLOB "fxt: open calls"

/* What was open, of all processes. All zeros is nothing. */
struct fxt_open_calls {
	struct fxt_open_thread {
		uint64_t process, thread; /* koids */
		uint64_t calls;
		uint64_t ticks;            /* when they were over */
		uint64_t ticks_per_second; /* of the trace in which they were found, else 0 */
	} * threads;
	size_t count, room;
};

/* Finds what was open in an archive that is read from its beginning. All zeros is the beginning. */
struct fxt_open_calls_search {
	struct fxt_open_calls found;
	uint64_t *open; /* calls, by thread id */
	size_t thread_count;
	struct fxt_open_process {
		uint64_t koid;
		uint32_t
		        *threads; /* ids of those with open calls since its latest death; some may be twice */
		size_t count, room;
	} * processes;
	size_t process_count, process_room;
	struct fxt_index index; /* of processes, by koid */
};

/* Takes the next record; no plain call is of interest. */
void fxt_open_calls_see(
        struct fxt_open_calls_search *search, struct fxt_tables *t, const struct fxt_view *view);

/* Gives back all but what was found. */
void fxt_open_calls_end_search(struct fxt_open_calls_search *search);

/* Whether a record tells that a process was over, whose open calls end there. */
bool fxt_open_calls_are_over(struct fxt_tables *t, const struct fxt_view *view);

void fxt_open_calls_add(struct fxt_open_calls *open, const struct fxt_open_thread *thread);

/* Hands out what blobs are to hold; ticks_per_second 0: each has its own. */
void fxt_open_calls_describe(const struct fxt_open_calls *open, uint64_t ticks_per_second,
        void (*blob)(void *context, const void *data, size_t bytes), void *context);

void fxt_open_calls_free(struct fxt_open_calls *open);

#endif
