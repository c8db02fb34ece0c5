/*
 * The fields of a record that belong to the session that recorded it: times, numbers of
 * processes, threads and CPUs, and flow ids.
 */
#ifndef FXT_FXT_MERGE_FIELDS_H
#define FXT_FXT_MERGE_FIELDS_H

#include "reader/trace/tables.h"

/* An event of MPI's category with this name has a time of the trace in this argument. */
#define FXT_MERGE_CLOCK_EVENT "clock"
#define FXT_MERGE_CLOCK_TICKS "ticks"

enum fxt_merge_field {
	FXT_MERGE_TIME,
	FXT_MERGE_DURATION, /* an argument with a name that ends in "_ticks" */
	FXT_MERGE_KOID,     /* a process or thread that the trace has records of */
	FXT_MERGE_MENTION,  /* a process or thread that an argument mentions; another
	                       trace may have recorded it */
	FXT_MERGE_FLOW,
	FXT_MERGE_CPU,
};

/* Called with the value of each such field; returns the value for the merged trace. */
typedef uint64_t fxt_merge_visit(void *context, enum fxt_merge_field field, uint64_t value);

/* Visits all fields of a decoded record, and writes the values that this returns into
 * `to`, a copy of the record, or nowhere if that is NULL. The tables must be in the state
 * of the record's place. */
void fxt_merge_fields(struct fxt_tables *tables, const struct fxt_record *record, const struct fxt_view *view,
        uint64_t *to, fxt_merge_visit *visit, void *context);

#endif
