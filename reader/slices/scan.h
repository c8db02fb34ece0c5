/*
 * The first of two passes over a trace: forward, over the headers of its records. It finds out what reading
 * backwards (walk.h) has to know beforehand.
 *
 *   file      | block | block | block | block | block | block | ...     each begins with a whole record
 *             |         range         |         range         | ...     where a walk may begin
 *
 * A thread's calls stand in the file in the order of their ends, so whoever reads from the end meets callers
 * before what they called, and needs no more than a stack. What is otherwise is out_of_order out of the
 * file's order here, and put where it belongs there:
 *   - a slice that stands behind one of its thread that ends later (a wait, which is written late);
 *   - a slice of two records, Duration Begin and End, which may stand in any order; a begin that has no end
 * lasts until its process was killed, or to the end of the trace; an end that has no begin is counted and
 * dropped. A viewer does the same: the ends of a thread end what began last, whatever their names.
 *
 * Indices of strings and threads may mean one thing here and another there, so every change is noted to be
 * undone on the way back. Of what is called across the boundary of two ranges, it is noted that it is open
 * there: ranges can be walked each by itself, by several threads at once.
 *
 * All that grows with the length of the trace is either a few bytes a block or in a spill.
 */
#ifndef FXT_READER_SCAN_H
#define FXT_READER_SCAN_H

#include "call.h"
#include "reader/trace/cut.h"
#include "filter.h"
#include "reader/stats/elided.h"
#include "reader/stats/muted.h"
#include "reader/trace/origins.h"
#include "slice.h"
#include "reader/trace/source.h"
#include "reader/trace/tables.h"
#include "writer/call_cost.h"

/* The order of the slices of a thread: by end, inner ones before those around them. */
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

/* A block is read in one piece. Its record may be larger than that, then it belongs to no block. */
#define FXT_BLOCK_BYTES ((size_t)1 << 18)

struct fxt_scan_block {
	uint64_t offset;
	uint64_t first_stray; /* of those in fxt_scan.strays that stand in it */
	uint64_t start, end;  /* all that has a time in it lies between these; start > end: nothing has */
	uint32_t bytes;
	uint32_t strays;
	bool is_plain;   /* nothing but plain calls of one thread and category */
	bool is_careful; /* not all of its slices are in order, or some end before they start */
};

struct fxt_range {
	uint64_t offset; /* of its first block */
	size_t first_block;
	struct fxt_place *last; /* of each thread, by id: the last slice in order before the range */
	size_t thread_count;    /* of these; the others have none */
};

/* The slices of one thread among those out_of_order. */
struct fxt_out_of_order {
	uint64_t first, count;
};

struct fxt_scan {
	const struct fxt_source *source;
	struct fxt_tables tables; /* as they are at the end; texts are copies */

	/* What a time is in. Where all events have one rate, the ticks of that; else nanoseconds. */
	struct fxt_rate rate;
	bool in_ticks;

	struct fxt_scan_block *blocks;
	struct fxt_range *ranges; /* ascending; the first begins with the first block */
	size_t block_count, range_count;

	struct fxt_spill changes;      /* of the tables, struct fxt_change */
	struct fxt_spill strays;       /* offsets of the complete slices that were out_of_order, ascending */
	struct fxt_spill out_of_order; /* struct fxt_slice, by thread and order */
	struct fxt_spill
	        across; /* struct fxt_slice, as in the file: those in order that began before their range */
	struct fxt_spill waited; /* struct fxt_slice: when the tracer made a thread wait for itself */
	struct fxt_out_of_order *out_of_order_of; /* by thread; thread_count of them */
	size_t thread_count;

	uint64_t start, end;          /* of the trace: the first and the last moment of any event but for page
	                                 faults; of a part the first of the whole, so that times since then
	                                 mean the same */
	uint64_t records, malformed;  /* the latter were left out, because they cannot be read */
	uint64_t ends_without_begin;  /* they were left out too */
	uint64_t records_lost;        /* the sums the tracer's slices and events tell: what found no room, */
	uint64_t records_overwritten; /* and what made room for newer records */
	struct fxt_archive_state state; /* as the archive says; finished if it says nothing */
	struct fxt_cut cut;             /* what it is a part of; its times in units of the scan */
	struct fxt_call_cost cost;      /* 0: the trace does not tell */
	struct fxt_fault fault;
	struct fxt_origins origins;         /* of functions */
	struct fxt_elided_sums elided_sums; /* calls that the tracer left out, but for their sums */
	struct fxt_muted muted;             /* functions whose calls are not recorded to the end */

	/* What walks are to hand out; NULL: all. Set between scan and walk by who chooses (choice.h), and not
	 * the scan's own. */
	const struct fxt_filter *filter;

	uint32_t tracer_category, process_category, sync_category, inherited_category, call_category,
	        lost_name, overwritten_name, cost_name, elided_name, muted_name, killed_name,
	        process_end_name, waited_name; /* ids of strings */
};

/* Sizes to be used instead of those that suit a real trace, so that a small one has several of everything. */
struct fxt_scan_sizes {
	size_t block_bytes; /* after so many a block ends; at most FXT_BLOCK_BYTES */
	uint64_t range_bytes;
	size_t memory_bytes; /* that a spill keeps */
};

/* Who is told of the records that are no plain calls, as the scan comes by them and the tables stand: a pass
 * over the file is saved. */
struct fxt_scan_listener {
	/* What was told before does not count: the scan begins anew, which it does once if at all. */
	void (*begin)(void *state);
	void (*record)(void *state, struct fxt_tables *tables, const struct fxt_view *view, uint64_t offset);
	void *state;
};

/* Scans a source, which must stay open as long as the scan is in use. Without sizes, they are NULL. */
void fxt_scan(struct fxt_scan *scan, const struct fxt_source *source, const struct fxt_scan_sizes *sizes);

/* The same; a listener that is not NULL is told. */
void fxt_scan_told(struct fxt_scan *scan, const struct fxt_source *source, const struct fxt_scan_sizes *sizes,
        const struct fxt_scan_listener *listener);
void fxt_scan_free(struct fxt_scan *scan);

/* ---- for the walk ---- */

/* The bits of a plain call's header that are the same for all of one thread and category. */
#define FXT_PLAIN_CALL_BITS UINT64_C(0x8000ffffffffffff)

static inline bool fxt_scan_is_call(const struct fxt_scan *scan, uint32_t category)
{
	const struct fxt_call_categories categories = {
	        scan->tracer_category, scan->process_category, scan->sync_category, scan->inherited_category};

	return fxt_is_call(&categories, category);
}

/* Takes a decoded Duration Complete event apart, `t` having the meaning of its indices. The end may be before
 * the start, which is no slice. */
struct fxt_slice fxt_scan_slice(
        const struct fxt_scan *scan, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset);

/* A length of time in nanoseconds, rounded down. */
static inline uint64_t fxt_scan_ns(const struct fxt_scan *scan, uint64_t time)
{
	return fxt_rate_ns(&scan->rate, time);
}

#endif
