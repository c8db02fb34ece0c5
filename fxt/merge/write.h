/*
 * Writes the traces one after the other. Records stay unchanged and in their order, except
 * for the fields that belong to their session (fields.h): times are put on the timeline,
 * conflicting numbers get new ones, and providers are numbered anew. Indices of strings and
 * threads are local to a provider and stay. Memory holds the names and threads of one
 * trace, and the functions of all.
 */
#ifndef FXT_FXT_MERGE_WRITE_H
#define FXT_FXT_MERGE_WRITE_H

#include <stdio.h>
#include "input.h"

/* Writes the merged trace. `said` becomes the content of its FXT_MERGED_BLOB: how the
 * traces were merged. The caller checks the file for write errors. */
void fxt_merge_write(FILE *out, const struct fxt_merge_input *inputs, const struct fxt_merge_clock *clocks,
        size_t count, const struct fxt_merge_timeline *timeline, const char *said);

#endif
