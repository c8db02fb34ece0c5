/*
 * Writes the records of a trace that were chosen (keep.h), as they stand, in their order, and before each
 * what it refers to: its provider, the strings and threads behind its indices, their names, the call path of
 * an allocation, where a function stands in the source. So what nothing refers to is not written. Indices
 * mean in the new trace what they mean in the old one.
 *
 * Memory holds the names, threads and call paths of the trace.
 */
#ifndef FXT_FXT_CUT_WRITE_H
#define FXT_FXT_CUT_WRITE_H

#include <stdio.h>
#include "keep.h"

/* Writes the trace; `note` and `options` are what it says of itself (reader/trace/cut.h), behind those of the
 * trace if that was made so too. What could not be written is the file's to tell. */
void fxt_cut_write(FILE *out, const struct fxt_archive *archive, struct fxt_keep *keep,
        const struct fxt_cut *note, const char *options);

#endif
