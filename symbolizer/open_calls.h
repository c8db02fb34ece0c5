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

#include <stddef.h>
#include <stdint.h>

#define FXT_OPEN_CALLS_BLOB "fxt: open calls"

/* What was open, of all processes. All zeros is nothing. */
struct fxt_open_calls {
	struct fxt_open_thread {
		uint64_t process, thread; /* koids */
		uint64_t calls;
		uint64_t ticks; /* when they were over */
	} * threads;
	size_t count, room;
};

void fxt_open_calls_add(struct fxt_open_calls *open, const struct fxt_open_thread *thread);

/* Hands out what blobs are to hold. */
void fxt_open_calls_describe(const struct fxt_open_calls *open, uint64_t ticks_per_second,
        void (*blob)(void *context, const void *data, size_t bytes), void *context);

void fxt_open_calls_free(struct fxt_open_calls *open);

#endif
