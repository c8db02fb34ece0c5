/*
 * Begins and ends of slices that have a record each. They are collected while a trace is
 * read, and paired at its end: the format lets an end stand before its begin in the file.
 * In the order of time, an end closes the latest slice of its thread that has begun and not
 * ended. A slice without an end lasts until its process or its recording ended
 * (process_ends.h), else to the end of the trace.
 */
#ifndef FXT_READER_MARKS_H
#define FXT_READER_MARKS_H

#include "reader/slices/scan.h"

struct fxt_marks {
	struct fxt_spill marks; /* struct fxt_slice: begins, which are open, and ends, with their
	                           time as start */
};

/* Initialises; marks beyond memory_bytes go into a file. */
void fxt_marks_init(struct fxt_marks *m, size_t memory_bytes);
void fxt_marks_free(struct fxt_marks *m);

/* Adds a begin (if is_open) or an end, at `start`. */
void fxt_marks_add(struct fxt_marks *m, const struct fxt_slice *mark);

/*
 * Pairs all begins and ends, thread by thread, in the order of the ends. `begin` is NULL
 * for an end without one, and `end` for a begin without one; these come last of their
 * thread, the latest first.
 */
typedef void fxt_marks_paired(void *context, const struct fxt_slice *begin, const struct fxt_slice *end);
void fxt_marks_pair(struct fxt_marks *m, fxt_marks_paired *paired, void *context);

/* Adds the slices to the scan's out_of_order ones, in no particular order, and counts the
 * ends without a begin. The scan's ends of processes must be sorted. */
void fxt_marks_match(struct fxt_marks *m, struct fxt_scan *scan);

#endif
