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

enum fxt_activity { FXT_ACTIVITY_UNKNOWN, FXT_RUNNING, FXT_RUNNABLE, FXT_BLOCKED };

/* What a thread does from a moment on. */
struct fxt_activity_change {
	uint64_t koid;
	uint64_t ns;
	uint64_t order; /* of changes at one time the latest counts; set by who collects them */
	enum fxt_activity activity;
	uint16_t cpu;
	bool is_wakeup; /* means something to a thread that is blocked only */
};

/* Takes a scheduling record apart, as the tables stand there. Returns how many threads it tells of: 0, if it
 * is another record, to 2. */
size_t fxt_activity_changes(
        struct fxt_tables *t, const struct fxt_view *view, struct fxt_activity_change changes[2]);

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
