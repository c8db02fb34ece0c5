/*
 * What became of the time of each thread of a trace, and how often it left a CPU: the sums of its timeline
 * (timeline.h). Times are nanoseconds.
 */
#ifndef FXT_READER_SWITCHES_H
#define FXT_READER_SWITCHES_H

#include "timeline.h"

struct fxt_switch_times {
	uint64_t koid;
	uint64_t running, runnable, blocked;
	uint64_t switches; /* how often it left a CPU to come back */
};

struct fxt_switches {
	struct fxt_switch_times *threads; /* by koid */
	size_t count;
};

/* Sums up a finished timeline. */
void fxt_switches_sum(struct fxt_switches *switches, const struct fxt_timeline *timeline);

/* Reads a whole archive, whose other records end at `end`, for who did not listen to its scan. */
void fxt_switches_read(struct fxt_switches *switches, const struct fxt_archive *archive, uint64_t end);

/* The sums of a thread; NULL if there are none. */
const struct fxt_switch_times *fxt_switches_of(const struct fxt_switches *switches, uint64_t koid);

void fxt_switches_free(struct fxt_switches *switches);

#endif
