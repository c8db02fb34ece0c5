/*
 * What in a record belongs to the session that recorded it: times, numbers of processes and threads, and the
 * arrows' ids, by the places where they stand.
 */
#ifndef FXT_FXT_MERGE_FIELDS_H
#define FXT_FXT_MERGE_FIELDS_H

#include "reader/trace/tables.h"

enum fxt_merge_field {
	FXT_MERGE_TIME,
	FXT_MERGE_DURATION, /* an argument by a name that ends in "_ticks" */
	FXT_MERGE_KOID,     /* of a process or thread that the trace has records of */
	FXT_MERGE_MENTION,  /* of one that an argument names, which another trace may have */
	FXT_MERGE_FLOW,
};

/* The word at this index of the record is such a field. */
typedef void fxt_merge_visit(void *context, enum fxt_merge_field field, size_t index);

/* Visits all fields of a decoded record that is no metadata. The tables stand where it was read. */
void fxt_merge_fields(struct fxt_tables *tables, const struct fxt_record *record, const struct fxt_view *view,
        fxt_merge_visit *visit, void *context);

#endif
