/*
 * The rules a single record has to keep, given what was registered before it: reserved bits and padding are
 * zero, references mean something, texts are short enough and UTF-8, arguments are of known types and no
 * longer than their contents, and what the format or the Perfetto UI demands of each type.
 */
#ifndef FXT_READER_RULES_H
#define FXT_READER_RULES_H

#include "tables.h"
#include "reader/stats/verdict.h"

/* Notes every rule that a decoded record breaks. Before fxt_tables_apply(). */
void fxt_check_record(struct fxt_verdict *verdict, struct fxt_tables *t, const struct fxt_record *r,
        const struct fxt_view *view);

#endif
