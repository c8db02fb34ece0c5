/*
 * What a trace holds, row by row, for who asks for the next one: calls and other slices, events, counters,
 * flows, context switches, losses. They come from a walk (reader/slices/walk.h) that goes on when its rows
 * are used up, by one block at a time; so they are in no order that means anything, and there are never more
 * of them in memory than a block holds.
 *
 * Limits say what is wanted. Blocks that cannot hold any of it are not read. A row that is handed out may
 * still lie a little outside: who set limits compares again.
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
	uint64_t inside;     /* of the time: in slices directly inside */
	uint64_t calls;      /* directly inside */
	uint64_t caller;     /* id; 0: there is none */
	uint64_t number; /* correlation id, object, descriptor, records lost, koid of the thread that comes in
	                  */
	uint64_t value;  /* of a counter: as its argument; koid of the thread that goes */
	uint32_t thread, name, category, caller_name, depth; /* ids of the tables */
	uint32_t label;                                      /* another name: id of a string */
	uint8_t type;                                        /* of the event, or of the argument */
	uint8_t state;                                       /* of the thread that goes */
	uint16_t cpu;
	bool is_open, is_abandoned, has_object, has_descriptor;
	char *arguments; /* JSON; the rows' own, until the next one */
};

struct fxt_sql_limits {
	uint64_t start_from, start_to, end_from, end_to; /* in units of the scan */
	uint64_t shortest, longest;                      /* the same, from start to end */
	uint64_t id;                                     /* 0: any */
	uint64_t caller;                                 /* 0: any */
	/* By id; NULL: all are wanted. */
	unsigned char *threads, *names, *categories;
};

/* What of a row is asked for, besides what costs nothing. */
enum {
	FXT_SQL_NEEDS_INSIDE = 1,
	FXT_SQL_NEEDS_CALLER = 2,
	FXT_SQL_NEEDS_ARGUMENTS = 4,
};

extern const struct fxt_sql_limits fxt_sql_no_limits;
void fxt_sql_limits_free(struct fxt_sql_limits *limits);

/* Takes over what the limits have allocated. */
struct fxt_sql_rows *fxt_sql_rows_open(struct fxt_sql_trace *trace, enum fxt_sql_rows_kind kind,
        const struct fxt_sql_limits *limits, unsigned needs);
void fxt_sql_rows_close(struct fxt_sql_rows *rows);

/* False: that was the last one. */
bool fxt_sql_rows_next(struct fxt_sql_rows *rows, struct fxt_sql_row *row);

#endif
