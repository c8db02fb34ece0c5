/*
 * The first of two passes over a trace: forward, over the headers of its records. It finds
 * out what the second pass (walk.h), which reads backwards, has to know beforehand.
 *
 *   file      | block | block | block | block | block | block | ...     each begins with a whole record
 *             |         range         |         range         | ...     where a walk may begin
 *
 * A thread's calls stand in the file in the order of their ends. A reader that starts at
 * the end therefore meets callers before callees, and a stack is all it needs. Slices that
 * stand otherwise are out_of_order: the scan takes them out of the file's order and puts
 * them where they belong:
 *   - a slice that stands behind a slice of its thread that ends later (a wait, which is
 *     written late);
 *   - a slice of two records, Duration Begin and End, which may stand in any order. A begin
 *     without an end lasts until its process ended, or to the end of the trace. An end
 *     without a begin is counted and dropped. Viewers do the same: an end of a thread ends
 *     the slice that began last, whatever their names.
 *
 *   - an alert of the program, which is an instant: a slice of no length.
 *
 * Indices of strings and threads may change their meaning along the file. Every change is
 * noted, to be undone on the way back. For each boundary of two ranges the scan records
 * which calls are open there, so ranges can be walked independently, by several threads at
 * once.
 *
 * Everything that grows with the length of the trace is either a few bytes a block or in a
 * spill.
 */
#ifndef FXT_READER_SCAN_H
#define FXT_READER_SCAN_H

#include "call.h"
#include "reader/trace/cut.h"
#include "filter.h"
#include "reader/stats/elided.h"
#include "reader/stats/muted.h"
#include "reader/trace/origins.h"
#include "reader/trace/process_ends.h"
#include "slice.h"
#include "reader/trace/source.h"
#include "reader/trace/tables.h"
#include "writer/format/call_cost.h"

/* The order of a thread's slices: by end, inner ones before those around them. */
struct fxt_place {
	uint64_t end, start, offset;
};

static inline bool fxt_is_before(const struct fxt_place *a, const struct fxt_place *b)
{
	if (a->end != b->end)
		return a->end < b->end;
	if (a->start != b->start)
		return a->start > b->start;
	return a->offset < b->offset;
}

static inline struct fxt_place fxt_place(const struct fxt_slice *slice)
{
	return (struct fxt_place){slice->end, slice->start, slice->offset};
}

/* A block is read in one piece. A record that is larger than this belongs to no block. */
#define FXT_BLOCK_BYTES ((size_t)1 << 18)

struct fxt_scan_block {
	uint64_t offset;
	uint64_t first_stray; /* index in fxt_scan.strays of the first one in this block */
	uint64_t start, end;  /* all times in it lie between these; start > end: it has none */
	uint32_t bytes;
	uint32_t strays;
	bool is_plain;   /* nothing but plain calls of one thread and category */
	bool is_careful; /* some slices are out of order, or end before they start */
};

struct fxt_range {
	uint64_t offset; /* of its first block */
	size_t first_block;
	struct fxt_place *last; /* by thread id: the last slice in order before the range */
	size_t thread_count;    /* of `last`; later threads have none */
};

/* One thread's slices among those out_of_order. */
struct fxt_out_of_order {
	uint64_t first, count;
};

struct fxt_scan {
	const struct fxt_source *source;
	struct fxt_tables tables; /* as they are at the end; texts are copied */

	/* The unit of times: ticks of this rate if all events have one rate, else
	 * nanoseconds. */
	struct fxt_rate rate;
	bool in_ticks;

	struct fxt_scan_block *blocks;
	struct fxt_range *ranges; /* ascending; the first begins with the first block */
	size_t block_count, range_count;

	struct fxt_spill changes;      /* of the tables, struct fxt_change */
	struct fxt_spill strays;       /* offsets of complete slices that were out_of_order,
	                                  ascending */
	struct fxt_spill out_of_order; /* struct fxt_slice, by thread and order */
	/* struct fxt_slice, in the file's order: slices in order that began before their
	 * range */
	struct fxt_spill across;
	/* struct fxt_slice: times when the tracer made a thread wait for the tracer */
	struct fxt_spill waited;
	struct fxt_out_of_order *out_of_order_of; /* by thread; thread_count of them */
	size_t thread_count;

	uint64_t start, end; /* of the trace: the first and the last moment of any
	                                   event except page faults. For a part, `start` is
	                                   that of the whole trace, so that times since then
	                                   mean the same */
	uint64_t records, malformed,
	        unknown;             /* malformed records cannot be read, those of an unknown kind are
	                                       * skipped */
	uint64_t ends_without_begin; /* left out too */
	bool has_calls;
	bool has_earlier_waits;         /* in a trace without calls: waits that began before an
	                                   attach */
	uint32_t event_types;           /* a bit for each type of event that the trace has */
	uint64_t records_lost;          /* sums reported by the tracer's slices and events:
	                                   records that found no room; and one for each
	                                   provider that does not say how many
	                                   (fxt_tables_uncounted_losses()) */
	uint64_t records_overwritten;   /* and records that made room for newer ones */
	struct fxt_rotation rotation;   /* which of several files this is; number 0: of none */
	struct fxt_archive_state state; /* as the archive reports it; finished if it reports
	                                   nothing */
	struct fxt_cut cut;             /* of a trace that is a part: which part; its times
	                                   in units of the scan */
	struct fxt_anchor began;        /* its first anchor; all 0: it has none */
	struct fxt_call_cost cost;      /* 0: the trace does not report it */
	struct fxt_fault fault;
	struct fxt_origins origins;           /* of functions */
	struct fxt_elided_sums elided_sums;   /* calls that were counted and not recorded */
	struct fxt_muted muted;               /* functions that were excluded before the end */
	struct fxt_process_ends process_ends; /* in units of the scan */

	/* The slices that walks hand out; NULL: all. The code that chooses (query_filter.h)
	 * sets it between scan and walk; the scan does not own it. */
	const struct fxt_filter *filter;

	/* Functions whose calls walks hand out only where no other call is around them, by
	 * id; NULL: none (query_filter.h) */
	bool *folded;

	uint32_t tracer_category, process_category, sync_category, inherited_category, call_category,
	        alert_category, lost_name, overwritten_name, cost_name, elided_name, muted_name, killed_name,
	        alert_name, process_end_name, recording_stop_name, waited_name; /* ids of strings */
};

/* Sizes that replace the defaults, so that a small trace has several of everything. */
struct fxt_scan_sizes {
	size_t block_bytes; /* a block ends after this many; at most FXT_BLOCK_BYTES */
	uint64_t range_bytes;
	size_t memory_bytes; /* of memory that a spill uses */
};

/* Gets the records that are no plain calls during the scan, with the tables as they are at
 * that record. This saves a pass over the file. */
struct fxt_scan_listener {
	/* The scan begins anew, which happens at most once: forget everything received so
	 * far. */
	void (*begin)(void *state);
	void (*record)(void *state, struct fxt_tables *tables, const struct fxt_view *view, uint64_t offset);
	void *state;
};

/* Scans a source, which must stay open as long as the scan is in use. NULL for `sizes`
 * means the defaults. */
void fxt_scan(struct fxt_scan *scan, const struct fxt_source *source, const struct fxt_scan_sizes *sizes);

/* The same, with a listener, which may be NULL. */
void fxt_scan_listened(struct fxt_scan *scan, const struct fxt_source *source,
        const struct fxt_scan_sizes *sizes, const struct fxt_scan_listener *listener);
void fxt_scan_free(struct fxt_scan *scan);

/* ---- for the walk ---- */

/* The header bits that are the same for all plain calls of one thread and category. */
#define FXT_PLAIN_CALL_BITS UINT64_C(0x8000ffffffffffff)

static inline bool fxt_scan_is_call(const struct fxt_scan *scan, uint32_t category)
{
	const struct fxt_call_categories categories = {
	        scan->tracer_category, scan->process_category, scan->sync_category, scan->inherited_category};

	return fxt_is_call(&categories, category);
}

/* Whether durations of a category are said by the program: calls, and not of functions. */
static inline bool fxt_scan_is_span(const struct fxt_scan *scan, uint32_t category)
{
	return category != scan->call_category && category != scan->alert_category &&
	       fxt_scan_is_call(scan, category);
}

/* The string that stands for a function or a span, once the scan is done. */
static inline uint32_t fxt_scan_settled(const struct fxt_scan *scan, uint32_t name, uint32_t category)
{
	return fxt_scan_is_span(scan, category) ? fxt_tables_find_span(&scan->tables, name, category)
	                                        : fxt_tables_settled(&scan->tables, name);
}

/* Decodes a Duration Complete event; `t` gives the meaning of its indices. The result is no
 * slice if its end is before its start. */
struct fxt_slice fxt_scan_slice(
        const struct fxt_scan *scan, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset);

/* A length of time in nanoseconds, rounded down. */
static inline uint64_t fxt_scan_ns(const struct fxt_scan *scan, uint64_t time)
{
	return fxt_rate_ns(&scan->rate, time);
}

/* Returns the end of a slice that the thread had begun by `moment` and never ended: the next
 * end of its process, or else the end of the trace. */
static inline uint64_t fxt_scan_last_moment(const struct fxt_scan *scan, uint32_t thread, uint64_t moment)
{
	uint64_t end =
	        fxt_process_ends_from(&scan->process_ends, scan->tables.threads[thread].process, moment);

	if (end != UINT64_MAX)
		return end;
	return scan->end > moment ? scan->end : moment;
}

/* The states of threads count from this moment on, in ns: the start of the trace. In a
 * trace without slices all states count, and it is 0. */
static inline uint64_t fxt_scan_states_from(const struct fxt_scan *scan)
{
	for (size_t i = 0; i < scan->tables.provider_count; i++)
		if (scan->tables.providers[i]->has_slices)
			return fxt_scan_ns(scan, scan->start);
	return 0;
}

#endif
