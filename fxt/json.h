/*
 * Texts and numbers as JSON has them (RFC 8259). Bytes of a text that are not UTF-8 are
 * shown as U+FFFD.
 */
#ifndef FXT_FXT_JSON_H
#define FXT_FXT_JSON_H

#include <stdio.h>
#include "reader/trace/tables.h"

/* A string with its quotes. */
void fxt_json_string(FILE *out, struct fxt_span text);

/* As above, for use inside a script element of HTML: the text cannot end the element. */
void fxt_json_string_in_html(FILE *out, struct fxt_span text);

/* A number; null if it is not a number or infinite. */
void fxt_json_number(FILE *out, double number);

/* Writes the arguments of an event of this process as an object: {"size": 16, "path":
 * "0x7f001234"}; {} if there are none. Numbers of 64 bits have all their digits. A pointer
 * or koid of an object with a name has a second member: "path_label": "main window". */
void fxt_json_arguments(
        FILE *out, struct fxt_tables *tables, uint64_t process, struct fxt_arguments arguments);

#endif
