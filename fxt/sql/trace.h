/*
 * One trace as all tables of a query see it: scanned once (reader/slices/scan.h), then read again as far as a
 * table is asked.
 *
 * Times in SQL are nanoseconds since the start of the trace, its first event; here they are in units of the
 * scan.
 */
#ifndef FXT_FXT_SQL_TRACE_H
#define FXT_FXT_SQL_TRACE_H

#include <signal.h>
#include "reader/slices/walk.h"

struct fxt_sql_trace {
	const char *name; /* of the file */
	struct fxt_scan scan;
	struct fxt_tables view;                 /* of the scan's tables, to look texts up */
	struct fxt_tables texts;                /* of records, that the scan's tables do not have */
	uint32_t *thread_names, *process_names; /* by thread: ids of strings */
	bool *is_mark; /* by string: whether slices of category "sync" that are called so are no waits */
	uint64_t *processes; /* koids, ascending */
	size_t process_count;
	uint32_t *process_of;                 /* by thread: its place in processes */
	uint32_t *threads_of;                 /* by place in processes: how many threads it has */
	struct fxt_sql_sums *sums;            /* NULL: nobody asked yet (sums.h) */
	struct fxt_sql_blocks *blocks;        /* the same */
	struct fxt_sql_modules *modules;      /* the same (lists.h) */
	uint64_t start_ns;                    /* of the trace */
	uint64_t bytes_read;                  /* of blocks, since the scan */
	volatile sig_atomic_t is_interrupted; /* rows end at once */
	bool is_short;                        /* something could not be read again */
};

/* The source must stay open as long as the trace is in use. Sizes as fxt_scan() has them. */
void fxt_sql_trace_open(struct fxt_sql_trace *trace, const char *name, const struct fxt_source *source,
        const struct fxt_scan_sizes *sizes);
void fxt_sql_trace_close(struct fxt_sql_trace *trace);

/* What a record calls something, `t` having the meaning of its indices; and the text of that. */
uint32_t fxt_sql_string(struct fxt_sql_trace *trace, struct fxt_tables *t, struct fxt_string string);
struct fxt_span fxt_sql_text(const struct fxt_sql_trace *trace, uint32_t string);

/* A time in SQL's sense, and a length of time. */
static inline int64_t fxt_sql_time(const struct fxt_sql_trace *trace, uint64_t time)
{
	return (int64_t)(fxt_scan_ns(&trace->scan, time) - trace->start_ns);
}

/* The last time that is surely before a nanosecond of SQL's, and the first one behind it; the same of
 * lengths. */
uint64_t fxt_sql_time_before(const struct fxt_sql_trace *trace, int64_t ns);
uint64_t fxt_sql_time_behind(const struct fxt_sql_trace *trace, int64_t ns);
uint64_t fxt_sql_length_below(const struct fxt_sql_trace *trace, int64_t ns);
uint64_t fxt_sql_length_above(const struct fxt_sql_trace *trace, int64_t ns);

/* The times of the event whose record stands at an offset, without a look at any other; the end is UINT64_MAX
 * where the record does not tell. False: they are not known. */
bool fxt_sql_record_times(const struct fxt_sql_trace *trace, uint64_t id, uint64_t *start, uint64_t *end);

#endif
