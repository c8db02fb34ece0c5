/*
 * Texts and numbers as JSON has them (RFC 8259). What is not UTF-8 in a text of an archive is shown as
 * U+FFFD.
 */
#ifndef FXT_FXT_JSON_H
#define FXT_FXT_JSON_H

#include <stdio.h>
#include "reader/archive.h"

/* A string with its quotes. */
void fxt_json_string(FILE *out, struct fxt_span text);

/* A number; null for what is none, or infinite. */
void fxt_json_number(FILE *out, double number);

#endif
