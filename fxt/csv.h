/*
 * Texts as CSV has them (RFC 4180), with the escapes of reader/trace/text.h: a text is one line, whatever it
 * holds.
 */
#ifndef FXT_FXT_CSV_H
#define FXT_FXT_CSV_H

#include <stdio.h>
#include "reader/slices/span.h"

/* A text in quotes. */
void fxt_csv_text(FILE *out, struct fxt_span text);

/* The title of a column: as it is, if nothing in it means something else. */
void fxt_csv_title(FILE *out, const char *title);

#endif
