/*
 * A file of patterns that choose functions (symbolizer/selection.h): on each line the name of an option,
 * without dashes, and its pattern. Empty lines, and those that begin with #, are nothing.
 */
#ifndef FXT_LAUNCHER_FILTER_FILE_H
#define FXT_LAUNCHER_FILTER_FILE_H

#include "symbolizer/selection.h"

/* Takes a pattern, which holds only during the call. Returns NULL, or what is wrong with it. */
typedef const char *fxt_take_pattern(void *context, enum fxt_selection_kind kind, const char *pattern);

/* Reads the file. Returns NULL, or what is wrong (message.h): with the file, or with the first such line,
 * that of `take` included; that text holds until the next call. */
const char *fxt_filter_file_read(const char *path, fxt_take_pattern *take, void *context);

#endif
