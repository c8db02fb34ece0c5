/*
 * The slices of a trace in the order of time, for formats with separate events for begin
 * and end: the chosen calls, waits and other slices of a thread. On each thread the output
 * nests, and no time is before the one before it, whatever the trace holds. A slice that
 * ends after the slice around it is ended with that one. A slice that begins inside another
 * one of the same depth ends that one.
 */
#ifndef FXT_FXT_EXPORT_SLICES_H
#define FXT_FXT_EXPORT_SLICES_H

#include "export.h"

/* A slice begins, or the innermost one of its thread ends. `ns` is in nanoseconds of the
 * trace's clock. */
typedef void fxt_export_slice_visit(void *state, const struct fxt_slice *slice, uint64_t ns, bool is_end);

/*
 * Scans the chosen part of the trace for what must be known beforehand. The caller frees
 * the scan and the filter. Returns false, after reporting the reason, if that is not
 * possible; then there is nothing to free.
 */
bool fxt_export_scan_chosen(struct fxt_export *e, struct fxt_scan *scan, struct fxt_filter *filter);

/* Reads the slices. */
void fxt_export_slices(
        struct fxt_export *e, const struct fxt_scan *scan, fxt_export_slice_visit *visit, void *state);

#endif
