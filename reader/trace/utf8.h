/*
 * Texts as UTF-8: recognising characters, and making text from outside (symbol tables,
 * debug information, paths) fit for a trace, which has UTF-8 strings of limited length.
 */
#ifndef FXT_READER_UTF8_H
#define FXT_READER_UTF8_H

#include "reader/slices/span.h"

/* The bytes of the UTF-8 character at the start of this text; 0 if there is no valid one,
 * or no text. */
size_t fxt_utf8_character(struct fxt_span text);

bool fxt_is_utf8(struct fxt_span text);

/* The length of the longest whole characters of UTF-8 text that `limit` bytes hold. */
size_t fxt_utf8_cut(const char *text, size_t bytes, size_t limit);

/* Replaces every byte that belongs to no valid character by '?'. */
void fxt_utf8_repair(char *text, size_t bytes);

/* Writes the text with the bytes that its escapes (writer/format/escape.h) stand for; `to`
 * may be `text`. Returns the bytes written. */
size_t fxt_unescape(char *to, const char *text, size_t bytes);

#endif
