/*
 * Text that came from outside (symbol tables, debug information, paths) made fit for a trace, whose strings
 * are UTF-8 of limited length.
 */
#ifndef FXT_READER_UTF8_H
#define FXT_READER_UTF8_H

#include <stddef.h>

/* The length of the longest whole characters of UTF-8 text that `limit` bytes hold. */
size_t fxt_utf8_cut(const char *text, size_t bytes, size_t limit);

/* Replaces every byte that belongs to no well-formed character by '?'. */
void fxt_utf8_repair(char *text, size_t bytes);

#endif
