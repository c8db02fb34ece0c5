/*
 * The contents of a trace, row by row on demand: calls and other slices, events, counters,
 * flows, context switches, losses.
 *
 * The rows come from a walk (reader/slices/walk.h), which continues by one block each time
 * its rows are used up. Therefore their order has no meaning, and memory never holds more
 * rows than a block gives.
 *
 * Constraints say which rows are wanted. Blocks of the file that cannot have such rows are
 * not read. A row may still lie a little outside the constraints, so the caller must check
 * it again.
 */
#ifndef FXT_FXT_SQL_ROWS_H
#define FXT_FXT_SQL_ROWS_H

#include "trace.h"

enum fxt_sql_rows_kind {
	FXT_SQL_CALLS,
	FXT_SQL_SLICES, /* calls and all others */
	FXT_SQL_WAITS,
	FXT_SQL_LOSSES,
	FXT_SQL_EVENTS,
	FXT_SQL_COUNTERS,
	FXT_SQL_FLOWS,
	FXT_SQL_SWITCHES,
};

struct fxt_sql_row {
	uint64_t id;         /* offset of its record */
	uint64_t start, end; /* in units of the scan */
	uint64_t inside;     /* time spent in slices directly inside */
	uint64_t calls;      /* the number of calls directly inside */
	uint64_t caller;     /* id; 0: there is none */
	uint64_t number;     /* correlation id, object, descriptor, records lost, or koid of
	                        the incoming thread */
	uint64_t value;      /* of a counter, in its argument's type; koid of the outgoing
	                        thread */
	uint32_t thread, name, category, caller_name, depth; /* ids in the tables of the
	                                                        trace; depth: the number of
	                                                        slices around */
	uint32_t label;                                      /* id of a string: the symbol
	                                                        of a wait, or the name of a
	                                                        counter's value */
	uint8_t type;                                        /* of the event, or of the
	                                                        argument */
	uint8_t state;                                       /* of the outgoing thread */
	uint16_t cpu;
	bool is_open, is_abandoned, has_object, has_descriptor;
	char *arguments; /* JSON; owned by the rows, valid until the next one */
};

struct fxt_sql_constraints {
	uint64_t start_from, start_to, end_from, end_to; /* in units of the scan */
	uint64_t shortest, longest;                      /* length, in units of the scan */
	uint64_t id;                                     /* 0: any */
	uint64_t caller;                                 /* 0: any */
	/* By id; NULL: all are wanted. */
	unsigned char *threads, *names, *categories;
};

/* The parts of a row that cost extra to fill in. */
enum {
	FXT_SQL_NEEDS_INSIDE = 1,
	FXT_SQL_NEEDS_CALLER = 2,
	FXT_SQL_NEEDS_ARGUMENTS = 4,
};

extern const struct fxt_sql_constraints fxt_sql_no_constraints;

/* Starts reading rows of one kind. `needs` are FXT_SQL_NEEDS_ bits. Takes ownership of the
 * memory that `constraints` points to. */
struct fxt_sql_rows *fxt_sql_rows_open(struct fxt_sql_trace *trace, enum fxt_sql_rows_kind kind,
        const struct fxt_sql_constraints *constraints, unsigned needs);
void fxt_sql_rows_close(struct fxt_sql_rows *rows);

/* The next row, valid until the one after it is asked for; NULL if there are no more. */
const struct fxt_sql_row *fxt_sql_rows_next(struct fxt_sql_rows *rows);

#endif
