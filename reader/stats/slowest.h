/*
 * Finds the slowest calls of some functions, each with its call path, and a call that took
 * as long as the median: a visitor of the walk (walk.h). A call's time is without the
 * tracer's own waits inside it, as in every sum. The median is known to 1/32; the call that
 * stands for it is one with that duration. Memory grows with the number of calls requested,
 * of values, and of their paths.
 */
#ifndef FXT_READER_SLOWEST_H
#define FXT_READER_SLOWEST_H

#include "paths.h"
#include "reader/slices/arguments.h"

struct fxt_slow_call {
	struct fxt_slice slice; /* its times in units of the scan */
	uint64_t time;          /* without the tracer's own waits (fxt_own_time()) */
	uint32_t path;          /* of the call itself, in fxt_slowest.paths */
};

struct fxt_slowest {
	struct fxt_slow_call *calls; /* slowest first; of equal ones the earlier first */
	size_t count;
	uint64_t all_calls; /* of the functions */
	/* of all calls, from the first begin to the last end, in units of the scan */
	uint64_t start, end;
	struct fxt_slow_call median; /* valid if there is any call */
	struct fxt_paths paths;
};

/*
 * Finds the `most` slowest calls of all functions with is_wanted[id of the name], among the
 * slices that the scan's filter shows, with `workers` threads (fxt_walk_workers()). A call
 * that reaches out of the filter's time counts with the part inside. Waits count like
 * functions; with calls_only, all other slices that are no calls are left out. With `by`,
 * which may be NULL, finds the slowest call of each value, and leaves out calls without a
 * value. Returns false if not all of the file could be read again.
 */
bool fxt_slowest_read(struct fxt_slowest *slowest, const struct fxt_scan *scan, const bool *is_wanted,
        bool calls_only, const struct fxt_values *by, size_t most, unsigned workers);

void fxt_slowest_free(struct fxt_slowest *slowest);

#endif
