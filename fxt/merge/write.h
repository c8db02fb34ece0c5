/*
 * Writes one trace after the other, records as they stand, in their order, but for what belongs to their
 * session (fields.h): times are put on the timeline, numbers that two traces have are told apart, and
 * providers are counted anew. Indices of strings and threads are their provider's, and stay.
 *
 * Memory holds the names and threads of one trace, and the functions of all.
 */
#ifndef FXT_FXT_MERGE_WRITE_H
#define FXT_FXT_MERGE_WRITE_H

#include <stdio.h>
#include "input.h"

/* Writes the merged trace; `said` is what it says of itself (FXT_MERGED_BLOB). What could not be written is
 * the file's to tell. */
void fxt_merge_write(FILE *out, const struct fxt_merge_input *inputs, const struct fxt_merge_clock *clocks,
        size_t count, const struct fxt_merge_timeline *timeline, const char *said);

#endif
