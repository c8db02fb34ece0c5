/*
 * The kinds of records by name, as fxt dump and fxt info show them: the record types, and
 * the subtypes of a type that has several.
 */
#ifndef FXT_READER_KINDS_H
#define FXT_READER_KINDS_H

#include "cursor.h"

enum { FXT_KINDS = 28 };

/* The kind of a decoded record, below FXT_KINDS. */
unsigned fxt_kind(const struct fxt_view *view);
const char *fxt_kind_name(unsigned kind);

/* The kind of plain calls. */
#define FXT_KIND_DURATION_COMPLETE 10u

/* The name of a record type, for records that cannot be decoded. */
const char *fxt_record_type_name(enum fxt_record_type type);

#endif
