/*
 * What threads did when, as lanes (lanes.h), whose times are in ns: calls, by thread and depth; whether the
 * thread ran; and what was lost. All that the scan's filter has, whatever its length.
 */
#ifndef FXT_FXT_LANE_SLICES_H
#define FXT_FXT_LANE_SLICES_H

#include "lanes.h"
#include "reader/stats/functions.h"

/* Adds the slices that have something between two details, in units of the scan; of other blocks of the file
 * none is read. Each thread's come backward. Returns false if not all could be read again. */
bool fxt_lanes_add_slices(struct fxt_lanes *lanes, const struct fxt_scan *scan, uint64_t from, uint64_t to);

/* Adds whether threads ran between two details, in ns: an item's name is its activity, its sum the time
 * running. Of threads without any of `functions`, which are by thread, there is nothing. */
void fxt_lanes_add_activity(struct fxt_lanes *lanes, const struct fxt_scan *scan,
        const struct fxt_timeline *timeline, const struct fxt_functions *functions, uint64_t from,
        uint64_t to);

/* Adds what a record tells of a loss, for the scan's listener: an item's sum is the number of records, and
 * its name "fxt:lost" or "fxt:overwritten". */
void fxt_lanes_add_loss(struct fxt_lanes *lanes, struct fxt_tables *t, const struct fxt_view *view);

#endif
