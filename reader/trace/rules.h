/*
 * The rules for a single record, given the registrations before it: reserved bits and
 * padding are zero; references mean something; texts are short enough and UTF-8; arguments
 * are of known types and no longer than their contents; and the record meets the demands of
 * the format or the Perfetto UI on its type.
 */
#ifndef FXT_READER_RULES_H
#define FXT_READER_RULES_H

#include "tables.h"
#include "reader/stats/verdict.h"

/* Notes every rule that a decoded record breaks. Call it before fxt_tables_apply(). */
void fxt_check_record(struct fxt_verdict *verdict, struct fxt_tables *t, const struct fxt_record *r,
        const struct fxt_view *view);

#endif
