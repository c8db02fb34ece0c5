/*
 * A file of patterns that choose functions (symbolizer/record_filter.h). Each line has the
 * name of an option, without dashes, and its pattern. Empty lines and lines that begin with
 * # are ignored.
 */
#ifndef FXT_LAUNCHER_FILTER_FILE_H
#define FXT_LAUNCHER_FILTER_FILE_H

#include "symbolizer/record_filter.h"

/* Takes a pattern, which is valid only during the call. Returns NULL, or a description of
 * the error. */
typedef const char *fxt_take_pattern(void *context, enum fxt_record_filter_kind kind, const char *pattern);

/* Reads the file. Returns NULL, or a description (message.h) of an error of the file or of
 * its first wrong line, including an error of `take`. The text is valid until the next
 * call. */
const char *fxt_filter_file_read(const char *path, fxt_take_pattern *take, void *context);

#endif
