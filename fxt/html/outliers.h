/*
 * Calls that took much longer than other calls of their function: candidates for an
 * explanation. Contains the slowest call of each function that has enough calls, and one of
 * about median length, as the comparison that explains it. A slow call makes the calls
 * around it slow, too, so only the longest is taken of calls that overlap in a thread.
 *
 * A call that took so long because it waited for something from outside, in poll(),
 * accept() and the like, is idle and not slow. Such calls stand behind all others, and
 * hide none.
 */
#ifndef FXT_FXT_HTML_OUTLIERS_H
#define FXT_FXT_HTML_OUTLIERS_H

#include "reader/stats/figures.h"
#include "reader/slices/scan.h"

enum { FXT_OUTLIERS_MAX = 10 };

struct fxt_outlier {
	struct fxt_slice slowest, usual;   /* in units of the scan */
	uint64_t slowest_time, usual_time; /* of them, without the tracer's own waits */
	uint64_t calls;                    /* of the function */
	uint64_t idle, usual_idle;         /* parts of them: waits for something from outside */
	bool is_idle;
};

struct fxt_outliers {
	struct fxt_outlier items[FXT_OUTLIERS_MAX]; /* sorted by the time beyond the
	                                               usual, longest first; then those
	                                               that are idle */
	size_t count;
};

/* Finds the outliers by the sums of all functions, in ns. Returns false if not all of
 * the file could be read again. */
bool fxt_outliers_read(
        struct fxt_outliers *outliers, const struct fxt_scan *scan, const struct fxt_functions *all);

#endif
