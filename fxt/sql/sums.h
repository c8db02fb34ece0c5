/*
 * What of a trace is summed up for lists, at the first question for it.
 */
#ifndef FXT_FXT_SQL_SUMS_H
#define FXT_FXT_SQL_SUMS_H

#include "reader/stats/functions.h"
#include "reader/heap/heap.h"
#include "reader/time/switches.h"
#include "trace.h"

struct fxt_sql_sums {
	struct fxt_functions functions; /* calls alone; times in ns */
	size_t *function_of;        /* by string: place in functions; SIZE_MAX: no function is called so */
	uint64_t *calls_of;         /* by thread */
	uint64_t *calls_of_process; /* by place in the trace's processes */
	bool has_switches;
	struct fxt_switches switches;
};

/* The blocks of the heap, kept in a file. Times are those of the trace's clock, in ns. */
struct fxt_sql_blocks {
	struct fxt_archive archive; /* that names are in */
	struct fxt_heap heap;
	struct fxt_spill blocks; /* struct fxt_heap_block */
};

/* Reads the whole trace the first time. */
const struct fxt_sql_sums *fxt_sql_sums(struct fxt_sql_trace *trace);
const struct fxt_switches *fxt_sql_switches(struct fxt_sql_trace *trace);

const struct fxt_sql_blocks *fxt_sql_blocks(struct fxt_sql_trace *trace);

void fxt_sql_blocks_free(struct fxt_sql_blocks *blocks);
void fxt_sql_sums_free(struct fxt_sql_sums *sums);

#endif
