/*
 * A scan under way, shared by three files: scan.c reads a trace block by block,
 * scan_slices.c takes the calls and other slices in the blocks, and scan_records.c takes
 * all records except runs of plain calls.
 */
#ifndef FXT_READER_SCANNER_H
#define FXT_READER_SCANNER_H

#include "reader/trace/marks.h"
#include "scan.h"

/* State of a thread during the scan. */
struct fxt_scan_thread {
	struct fxt_place last; /* the last slice in order */
	bool has_last;
	bool has_boundary; /* the thread had a slice before the range */
	uint64_t boundary; /* the end of that slice */
	size_t range;      /* that the two above refer to */
};

struct fxt_scanner {
	struct fxt_scan *scan;
	struct fxt_scan_sizes sizes;
	const struct fxt_scan_listener *listener; /* or NULL */
	struct fxt_scan_thread *threads;
	size_t thread_count;
	struct fxt_marks marks;
	uint64_t first_switch, last_switch; /* context switches */
	size_t block_room, range_room;
	struct fxt_scan_block *block; /* being read */
	bool has_unit;
	bool two_rates; /* providers with two rates were found while times were ticks: the
	                   pass is repeated in nanoseconds */
};

/* ---- times ---- */

static inline uint64_t fxt_scan_time(
        const struct fxt_scan *scan, const struct fxt_provider_tables *provider, uint64_t ticks)
{
	return scan->in_ticks ? ticks : fxt_rate_ns(&provider->rate, ticks);
}

/* Ticks can be compared and added as long as they are those of one clock. */
static inline bool fxt_scan_is_comparable(struct fxt_scanner *s, const struct fxt_provider_tables *provider)
{
	struct fxt_scan *scan = s->scan;

	if (!scan->in_ticks || provider->rate.ticks_per_second == scan->rate.ticks_per_second)
		return s->has_unit = true;
	if (s->has_unit) {
		s->two_rates = true;
		return false;
	}
	scan->rate = provider->rate;
	return s->has_unit = true;
}

static inline void fxt_scan_on_record_in_block(struct fxt_scan_block *block, uint64_t from, uint64_t to)
{
	if (from < block->start)
		block->start = from;
	if (to > block->end)
		block->end = to;
}

static inline void fxt_scan_on_moment(struct fxt_scan *scan, uint64_t time)
{
	if (time < scan->start)
		scan->start = time;
	if (time > scan->end)
		scan->end = time;
}

/* ---- what stands in a block ---- */

/* Takes a slice. A slice that ends before it starts is malformed. */
void fxt_scan_put_slice(struct fxt_scanner *s, const struct fxt_slice *slice);

/*
 * Takes a run of plain calls of one thread and category; nearly all of a trace is such
 * runs. Returns the number of words they take.
 */
size_t fxt_scan_plain_calls(struct fxt_scanner *s, const uint64_t *words, size_t room, uint64_t offset);

/* Takes a record of any kind. */
void fxt_scan_on_record(struct fxt_scanner *s, const struct fxt_record *r);

#endif
