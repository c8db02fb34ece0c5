/*
 * A trace as people are to read it: with the names of functions. One that was left without
 * (symbolizer/rewrite.h: fxtrun --raw, or recorded by the agent alone where the tools were not at hand) is
 * read in a copy that has them, a file without a name in TMPDIR.
 */
#ifndef FXT_FXT_NAMED_H
#define FXT_FXT_NAMED_H

#include "reader/trace/archive.h"
#include "reader/trace/source.h"

/* As fxt_source_open(). Functions that have no name are counted on stderr. */
int fxt_named_source_open(struct fxt_source *source, const char *name, char *error, size_t error_bytes);

/* As fxt_archive_open(). */
int fxt_named_archive_open(struct fxt_archive *archive, const char *name, char *error, size_t error_bytes);

#endif
