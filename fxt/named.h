/*
 * A trace with the names of its functions, as people read it. A trace without names
 * (symbolizer/rewrite.h) comes from fxtrun --raw, or from the agent alone on a machine
 * without the tools. It is read through a copy with names: an unlinked file in TMPDIR.
 */
#ifndef FXT_FXT_NAMED_H
#define FXT_FXT_NAMED_H

#include "reader/trace/archive.h"
#include "reader/trace/source.h"

/* As fxt_source_open(). Reports the number of functions that have no name on stderr. */
int fxt_named_source_open(struct fxt_source *source, const char *name, char *error, size_t error_bytes);

/* As fxt_archive_open(). */
int fxt_named_archive_open(struct fxt_archive *archive, const char *name, char *error, size_t error_bytes);

#endif
