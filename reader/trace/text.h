/*
 * Text for people, on the standard output: names, times and sizes. Names come from the
 * archive, so nothing about their bytes is certain.
 */
#ifndef FXT_READER_TEXT_H
#define FXT_READER_TEXT_H

#include <stdint.h>
#include <stdio.h>
#include "reader/slices/span.h"

/*
 * The first character of a text that is not empty: how many bytes it has, and in `escape`
 * what is shown in its place, "" for itself. Control characters of every kind, those that
 * change the direction of writing, line separators, and bytes that are no UTF-8 are shown
 * as \n, \x7f or \u202e, so that no name reaches a terminal as anything but a name on one
 * line.
 */
size_t fxt_escape(struct fxt_span text, char escape[8]);

/* Writes a text with its escapes. */
void fxt_write_text(FILE *out, struct fxt_span text);

/* The same on the standard output. */
void fxt_print_text(struct fxt_span text);

/* The same between quotes, which are escaped in it, as backslashes are. */
void fxt_print_quoted(struct fxt_span text);

/* The end of a word that says what is counted: "" for one, else "s". */
static inline const char *fxt_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* A time in the unit that suits it: "12 ns", "12.5 ns", "1.234 us", "12.345 ms", "123.456
 * s". */
struct fxt_time_text {
	char text[32];
};
struct fxt_time_text fxt_time_text(double ns);

/* Bytes in the unit that suits them: "1 byte", "999 bytes", "1.2 kB", "12 MB". */
struct fxt_bytes_text {
	char text[32];
};
struct fxt_bytes_text fxt_bytes_text(double bytes);

/* A file that is written into memory. The caller frees that memory once the file is closed.
 * Out of memory ends the program, because fclose() alone does not report that the text is
 * lost. */
FILE *fxt_memory_open(char **text, size_t *bytes);
void fxt_memory_close(FILE *file, char *const *text);

#endif
