/*
 * What became of the time of each thread, by the scheduling records of an archive: it ran on a CPU, it could
 * have run but something else did, or it waited. A thread's account begins with its first record and ends
 * with the thread, or with the trace; while it is suspended, which it is when recording is, nothing is
 * accounted. Without wakeups in the trace, what a thread waits goes on until it is
 * back on a CPU.
 *
 * Records need not be in order. Times are nanoseconds.
 */
#ifndef FXT_READER_SWITCHES_H
#define FXT_READER_SWITCHES_H

#include "tables.h"

struct fxt_switch_times {
	uint64_t koid;
	uint64_t running, runnable, blocked;
	uint64_t switches; /* how often it left a CPU to come back */
};

struct fxt_switches {
	struct fxt_switch_times *threads; /* by koid */
	size_t count;
};

/* Reads a whole archive, whose other records end at `end`. */
void fxt_switches_read(struct fxt_switches *switches, const struct fxt_archive *archive, uint64_t end);

/* The account of a thread; NULL if there is none. */
const struct fxt_switch_times *fxt_switches_of(const struct fxt_switches *switches, uint64_t koid);

void fxt_switches_free(struct fxt_switches *switches);

#endif
