/*
 * The slices of a trace in the order of time, for formats with separate events for begin
 * and end: the chosen calls, waits and other slices of a thread. On each thread slices nest
 * and times never decrease, whatever the trace holds. A slice that would outlast the slice
 * around it ends together with that one. A slice ends when the next one of the same depth
 * begins on its thread.
 */
#ifndef FXT_FXT_EXPORT_SLICES_H
#define FXT_FXT_EXPORT_SLICES_H

#include "export.h"

/* A slice begins, or the innermost one of its thread ends. `ns` is in nanoseconds of the
 * trace's clock. */
typedef void fxt_export_slice_visit(void *state, const struct fxt_slice *slice, uint64_t ns, bool is_end);

/*
 * Scans the trace, which must happen before its slices can be read, and applies the user's
 * query filter. The caller frees the scan and the filter. Returns false, after reporting
 * the reason, if the filter cannot be applied; then there is nothing to free.
 */
bool fxt_export_scan_chosen(struct fxt_export *e, struct fxt_scan *scan, struct fxt_filter *filter);

/* Calls `visit` for each begin and each end of a slice, in the order of time. */
void fxt_export_slices(
        struct fxt_export *e, const struct fxt_scan *scan, fxt_export_slice_visit *visit, void *state);

#endif
