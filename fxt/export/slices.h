/*
 * The slices of a trace in the order of time, for formats in which each begins and ends by itself: calls,
 * waits and what else a thread is in, as far as they were chosen.
 *
 * On each thread they nest and no time is before the last one, whatever the trace has: a slice that sticks
 * out of the one it is in ends with it, and one that begins inside of another one of the same depth ends
 * that.
 */
#ifndef FXT_FXT_EXPORT_SLICES_H
#define FXT_FXT_EXPORT_SLICES_H

#include "export.h"

/* A slice begins, or the innermost one of its thread ends; in nanoseconds of the trace's clock. */
typedef void fxt_export_slice_visit(void *state, const struct fxt_slice *slice, uint64_t ns, bool is_end);

/*
 * Scans the trace, as far as it was chosen, for what has to be known beforehand; it is to be freed with the
 * filter. Returns false when it was told that it cannot be done; then there is nothing to be freed.
 */
bool fxt_export_scan_chosen(struct fxt_export *e, struct fxt_scan *scan, struct fxt_filter *filter);

/* Reads the slices. */
void fxt_export_slices(
        struct fxt_export *e, const struct fxt_scan *scan, fxt_export_slice_visit *visit, void *state);

#endif
