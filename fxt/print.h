/*
 * What a command answers of traces, but for the tables (table.h): for people, as JSON (--json) or as CSV
 * (--csv). JSON is one document; fxt(1) describes it.
 */
#ifndef FXT_FXT_PRINT_H
#define FXT_FXT_PRINT_H

#include <stdbool.h>
#include "reader/slices/span.h"

enum fxt_format { FXT_FORMAT_TEXT, FXT_FORMAT_JSON, FXT_FORMAT_CSV };

/* Begins what a command prints. Nothing is printed, and no pager started, before there is a trace. */
void fxt_print_begin(const char *command, enum fxt_format format);

enum fxt_format fxt_print_format(void);

/* What follows is of this trace. `name` stays valid. */
void fxt_print_trace(const char *name);

/* A line for people alone, without its end. What is no ordinary text in it is escaped (fxt_escape()). */
void fxt_print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What whoever reads the answer must know: an empty line and a line for people, one of "notes" in JSON, and a
 * line on the standard error with CSV. */
void fxt_print_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A number about the trace, for JSON only: a member of "facts". */
void fxt_print_fact(const char *key, double number);

/* The same, a text. */
void fxt_print_fact_text(const char *key, struct fxt_span text);

/* A table of the trace begins; returns whether it is the first. */
bool fxt_print_next_table(void);

/* Ends the document. */
void fxt_print_end(void);

#endif
