/*
 * Sums of a timeline (timeline.h) by thread: the time in each state, and how often the
 * thread left a CPU. Times are nanoseconds.
 */
#ifndef FXT_READER_SWITCHES_H
#define FXT_READER_SWITCHES_H

#include "timeline.h"

struct fxt_switch_times {
	uint64_t koid;
	uint64_t running, runnable, blocked;
	uint64_t switches; /* how often it left a CPU, only to come back later */
};

struct fxt_switches {
	struct fxt_switch_times *threads; /* by koid */
	size_t count;
};

/* Sums up a finished timeline. */
void fxt_switches_sum(struct fxt_switches *switches, const struct fxt_timeline *timeline);

/* Reads a whole archive, if the caller did not listen to its scan. The archive's other
 * records begin at `start` and end at `end`. */
void fxt_switches_read(
        struct fxt_switches *switches, const struct fxt_archive *archive, uint64_t start, uint64_t end);

/* The sums of a thread; NULL if it has none. */
const struct fxt_switch_times *fxt_switches_of(const struct fxt_switches *switches, uint64_t koid);

void fxt_switches_free(struct fxt_switches *switches);

#endif
