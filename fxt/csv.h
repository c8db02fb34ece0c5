/*
 * Texts in CSV (RFC 4180), with the escapes of reader/trace/text.h, so that every text is
 * one line regardless of its contents.
 */
#ifndef FXT_FXT_CSV_H
#define FXT_FXT_CSV_H

#include <stdio.h>
#include "reader/slices/span.h"

/* Writes a text in quotes. */
void fxt_csv_text(FILE *out, struct fxt_span text);

/* Writes a column title, without quotes if it has no characters with a meaning in CSV. */
void fxt_csv_title(FILE *out, const char *title);

#endif
