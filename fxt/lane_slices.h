/*
 * The activity of threads over time as lanes (lanes.h), with times in ns: calls by thread
 * and depth, whether the thread ran, and losses. Contains everything that the scan's filter
 * selects, of any length.
 */
#ifndef FXT_FXT_LANE_SLICES_H
#define FXT_FXT_LANE_SLICES_H

#include "lanes.h"
#include "reader/stats/functions.h"

/* Adds the slices that overlap the time from `from` to `to`, in units of the scan. Reads
 * only the blocks of the file that have such slices. The slices of each thread come
 * backward in time. Returns false if not all could be read again. */
bool fxt_lanes_add_slices(struct fxt_lanes *lanes, const struct fxt_scan *scan, uint64_t from, uint64_t to);

/* Adds the times at which threads ran between two moments, in ns. An item's name is its
 * activity, its sum the time running. Threads that have nothing in `functions`, which
 * are by thread, are left out. */
void fxt_lanes_add_activity(struct fxt_lanes *lanes, const struct fxt_scan *scan,
        const struct fxt_timeline *timeline, const struct fxt_functions *functions, uint64_t from,
        uint64_t to);

/* Adds a loss that a record reports; for the scan's listener. An item's sum is the
 * number of records, and its name "fxt:lost" or "fxt:overwritten". */
void fxt_lanes_add_loss(struct fxt_lanes *lanes, struct fxt_tables *t, const struct fxt_view *view);

#endif
