/*
 * Calls that took much longer than others of their function: candidates for an explanation. Of each function
 * that has enough calls, the slowest one, and one that took as long as the median, beside which it is
 * explained; what made a call slow made those around it slow, too, so of calls that overlap in a thread only
 * the longest is taken.
 */
#ifndef FXT_FXT_HTML_OUTLIERS_H
#define FXT_FXT_HTML_OUTLIERS_H

#include "reader/stats/functions.h"
#include "reader/slices/scan.h"

enum { FXT_OUTLIERS_MAX = 10 };

struct fxt_outlier {
	struct fxt_slice slowest, usual; /* in units of the scan */
	uint64_t calls;                  /* of the function */
};

struct fxt_outliers {
	struct fxt_outlier items[FXT_OUTLIERS_MAX]; /* what took most longer than usual first */
	size_t count;
};

/* Finds them, by the sums of all functions in ns. Returns whether all of the file could be read again. */
bool fxt_outliers_read(
        struct fxt_outliers *outliers, const struct fxt_scan *scan, const struct fxt_functions *all);

#endif
