/*
 * Writes the chosen records of a trace (keep.h), unchanged and in their order. Before each
 * record it writes what the record refers to: its provider, the strings and threads behind
 * its indices, their names, the call path of an allocation, a function's place in the
 * source. Anything that no kept record refers to is not written. Indices mean the same in
 * the new trace as in the old one. Memory holds the names, threads and call paths of the
 * trace.
 */
#ifndef FXT_FXT_CUT_WRITE_H
#define FXT_FXT_CUT_WRITE_H

#include <stdio.h>
#include "keep.h"

/* Writes the trace. `note` and `options` describe the cut (reader/trace/cut.h); if the
 * trace is itself a cut, they follow its own. The caller checks the file for write
 * errors. */
void fxt_cut_write(FILE *out, const struct fxt_archive *archive, struct fxt_keep *keep,
        const struct fxt_cut *note, const char *options);

#endif
