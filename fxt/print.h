/*
 * The output of commands, except for tables (table.h): for people, as JSON (--json) or as
 * CSV (--csv). JSON is one document, which fxt(1) describes.
 */
#ifndef FXT_FXT_PRINT_H
#define FXT_FXT_PRINT_H

#include <stdbool.h>
#include "reader/slices/span.h"

enum fxt_format { FXT_FORMAT_TEXT, FXT_FORMAT_JSON, FXT_FORMAT_CSV };

/* Begins a command's output. Nothing is printed, and no pager is started, before there
 * is a trace. */
void fxt_print_begin(const char *command, enum fxt_format format);

enum fxt_format fxt_print_format(void);

/* From now on text for people is Markdown (markdown.h). */
void fxt_print_markdown(void);
bool fxt_print_is_markdown(void);

/* Begins the output about a trace. `name` must stay valid. */
void fxt_print_trace(const char *name);

/* Prints a line for people only; the newline is added. Unprintable text in it is escaped
 * (fxt_escape()). */
void fxt_print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints something that every reader of the answer must know: for people an empty line
 * and a line, in JSON an element of "notes", with CSV a line on the standard error. */
void fxt_print_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a number about the trace, in JSON only: a member of "facts". */
void fxt_print_fact(const char *key, double number);

/* As above, for a text. */
void fxt_print_fact_text(const char *key, struct fxt_span text);

/* Begins a table of the trace. Returns true if it is the first one. */
bool fxt_print_next_table(void);

/* Ends the document. */
void fxt_print_end(void);

#endif
