/*
 * Sums over the whole trace for the lists; they are computed at the first query that needs
 * them.
 */
#ifndef FXT_FXT_SQL_SUMS_H
#define FXT_FXT_SQL_SUMS_H

#include "reader/stats/functions.h"
#include "reader/heap/heap.h"
#include "reader/time/switches.h"
#include "trace.h"

struct fxt_sql_sums {
	struct fxt_functions functions; /* calls only; times in ns */
	size_t *function_of;            /* by string: index in `functions`; SIZE_MAX: no
	                                   function has this name */
	uint64_t *calls_of;             /* by thread */
	uint64_t *calls_of_process;     /* by place in the trace's processes */
	bool has_switches;
	struct fxt_switches switches;
};

/* The blocks of the heap, kept in a file. Times are in ns of the trace's clock. */
struct fxt_sql_blocks {
	struct fxt_archive archive; /* holds the names */
	struct fxt_heap heap;
	struct fxt_spill blocks; /* struct fxt_heap_block */
};

/* The calls of one function that one thread made. Times are in ns. */
struct fxt_sql_call_sum {
	uint32_t thread, name;
	uint64_t calls, duration, self, shortest, longest;
};

struct fxt_sql_call_sums {
	struct fxt_sql_call_sum *items;
	size_t count, room;
	struct fxt_index index; /* by thread and name */
	bool is_partial;        /* the query that summed up was interrupted */
};

/* Returns the sums. The first call reads the whole trace. */
const struct fxt_sql_sums *fxt_sql_sums(struct fxt_sql_trace *trace);
const struct fxt_switches *fxt_sql_switches(struct fxt_sql_trace *trace);

const struct fxt_sql_blocks *fxt_sql_blocks(struct fxt_sql_trace *trace);

const struct fxt_sql_call_sums *fxt_sql_call_sums(struct fxt_sql_trace *trace);

void fxt_sql_call_sums_free(struct fxt_sql_call_sums *sums);
void fxt_sql_blocks_free(struct fxt_sql_blocks *blocks);
void fxt_sql_sums_free(struct fxt_sql_sums *sums);

#endif
