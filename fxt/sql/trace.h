/*
 * One trace, shared by all tables of a query. It is scanned once (reader/slices/scan.h),
 * then read again as far as a query needs. Times in SQL are nanoseconds since the start of
 * the trace, its first event; times here are in units of the scan.
 */
#ifndef FXT_FXT_SQL_TRACE_H
#define FXT_FXT_SQL_TRACE_H

#include <signal.h>
#include "reader/slices/walk.h"

/* The object or the descriptor that a wait waits for. */
struct fxt_sql_awaited {
	uint64_t offset; /* of the wait's record */
	uint64_t number; /* an address, or a descriptor */
	uint32_t symbol; /* id of a string; FXT_NOTHING: it has none */
	bool has_object, has_descriptor;
};

struct fxt_sql_trace {
	const char *name; /* of the file */
	struct fxt_scan scan;
	struct fxt_tables view;                 /* the scan's tables, to look texts up */
	struct fxt_tables texts;                /* texts of records that the scan's
	                                           tables do not have */
	uint32_t *thread_names, *process_names; /* by thread: ids of strings */
	/* by string: slices of category "sync" with this name are no waits */
	bool *is_mark;
	/* struct fxt_sql_awaited, sorted by offset: one for each wait whose begin is a record
	 * of its own. The walk does not pass these records together with their slices. */
	struct fxt_spill begun;
	uint64_t *processes; /* koids, ascending */
	size_t process_count;
	uint32_t *process_of;                 /* by thread: its place in `processes` */
	uint32_t *threads_of;                 /* by place in `processes`: its number of
	                                         threads */
	struct fxt_sql_sums *sums;            /* NULL until the first query that needs it
	                                         (sums.h) */
	struct fxt_sql_call_sums *call_sums;  /* the same */
	struct fxt_sql_blocks *blocks;        /* the same */
	struct fxt_sql_modules *modules;      /* the same (lists.h) */
	uint64_t start_ns;                    /* of the trace */
	uint64_t bytes_read;                  /* of blocks, since the scan */
	volatile sig_atomic_t is_interrupted; /* set to end a query: rows stop at once */
	bool is_short;                        /* something could not be read again */
};

/* Opens a trace. The source must stay open as long as the trace is in use. `sizes` are
 * those of fxt_scan(). */
void fxt_sql_trace_open(struct fxt_sql_trace *trace, const char *name, const struct fxt_source *source,
        const struct fxt_scan_sizes *sizes);
void fxt_sql_trace_close(struct fxt_sql_trace *trace);

/* The id of a string of a record, with `t` in the state of the record's place; and the
 * text of an id. */
uint32_t fxt_sql_string(struct fxt_sql_trace *trace, struct fxt_tables *t, struct fxt_string string);
struct fxt_span fxt_sql_text(const struct fxt_sql_trace *trace, uint32_t string);

/* Reads from a wait's record what the wait waits for. `t` has the tables as they are at that
 * record. */
struct fxt_sql_awaited fxt_sql_awaited(
        struct fxt_sql_trace *trace, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset);

/* Returns the same for a wait whose begin is a record of its own, at this offset. All zeros:
 * no such wait begins there. */
struct fxt_sql_awaited fxt_sql_begun(const struct fxt_sql_trace *trace, uint64_t offset);

/* Converts a time, or a duration, to SQL's nanoseconds. */
static inline int64_t fxt_sql_time(const struct fxt_sql_trace *trace, uint64_t time)
{
	return (int64_t)(fxt_scan_ns(&trace->scan, time) - trace->start_ns);
}

/* The duration and the self time of a slice, in SQL's nanoseconds; `inside` is the time in
 * slices inside it. This is rounded to the nearest nanosecond. If it were always rounded
 * down, every sum of self times would be too large. */
static inline uint64_t fxt_sql_duration(const struct fxt_sql_trace *trace, uint64_t start, uint64_t end)
{
	return fxt_scan_ns(&trace->scan, end) - fxt_scan_ns(&trace->scan, start);
}

static inline uint64_t fxt_sql_self(const struct fxt_sql_trace *trace, uint64_t duration, uint64_t inside)
{
	inside = (fxt_scan_ns(&trace->scan, 2 * inside) + 1) / 2;
	return duration > inside ? duration - inside : 0;
}

/* The last time that is certainly before a nanosecond of SQL, and the first one after
 * it; the same for durations. */
uint64_t fxt_sql_time_before(const struct fxt_sql_trace *trace, int64_t ns);
uint64_t fxt_sql_time_behind(const struct fxt_sql_trace *trace, int64_t ns);
uint64_t fxt_sql_length_below(const struct fxt_sql_trace *trace, int64_t ns);
uint64_t fxt_sql_length_above(const struct fxt_sql_trace *trace, int64_t ns);

/* The times of the event with its record at this offset, without reading any other
 * record. *end is UINT64_MAX if the record does not say. Returns false if the times are
 * not known. */
bool fxt_sql_record_times(const struct fxt_sql_trace *trace, uint64_t id, uint64_t *start, uint64_t *end);

#endif
