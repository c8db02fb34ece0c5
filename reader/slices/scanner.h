/*
 * A scan under way, and what its files share: scan.c reads a trace block by block, scan_slices.c takes the
 * calls and other slices in them, and scan_records.c all that is no run of plain calls.
 */
#ifndef FXT_READER_SCANNER_H
#define FXT_READER_SCANNER_H

#include "reader/trace/marks.h"
#include "scan.h"

/* What is known of a thread on the way. */
struct fxt_scan_thread {
	struct fxt_place last; /* slice in order */
	bool has_last;
	bool has_boundary; /* there was one before the range */
	uint64_t boundary; /* where that one ended */
	size_t range;      /* which this is said of */
};

struct fxt_scanner {
	struct fxt_scan *scan;
	struct fxt_scan_sizes sizes;
	const struct fxt_scan_listener *listener; /* or NULL */
	struct fxt_scan_thread *threads;
	size_t thread_count;
	struct fxt_marks marks;
	size_t block_room, range_room;
	struct fxt_scan_block *block; /* the one that is read */
	bool has_unit;
	bool two_rates; /* providers with two rates were found while times were ticks: this pass is repeated
	                   in nanoseconds */
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

static inline void fxt_scan_see_in_block(struct fxt_scan_block *block, uint64_t from, uint64_t to)
{
	if (from < block->start)
		block->start = from;
	if (to > block->end)
		block->end = to;
}

static inline void fxt_scan_see_moment(struct fxt_scan *scan, uint64_t time)
{
	if (time < scan->start)
		scan->start = time;
	if (time > scan->end)
		scan->end = time;
}

/* ---- what stands in a block ---- */

/* Takes a slice. One that ends before it starts is malformed. */
void fxt_scan_put_slice(struct fxt_scanner *s, const struct fxt_slice *slice);

/*
 * Plain calls of one thread and category, one behind the other: nearly all of a trace. Returns how many words
 * they take.
 */
size_t fxt_scan_plain_calls(struct fxt_scanner *s, const uint64_t *words, size_t room, uint64_t offset);

/* Takes a record of any kind. */
void fxt_scan_see_record(struct fxt_scanner *s, const struct fxt_record *r);

#endif
