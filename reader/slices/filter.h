/*
 * The choice of slices that a walk (walk.h) hands out. It is decided once for each thread
 * and name, so that a slice costs a look-up. Conditions on arguments are decided for each
 * record. A walk without a filter pays nothing for it.
 * Slices outside of the chosen threads and the chosen time do not exist for the walk: a
 * slice that begins before the time begins at its start, and a slice that ends after it
 * ends at its end. All other slices that were not chosen are hidden: they count in the
 * times of the slices around them, but are not handed out. Chosen slices inside a hidden
 * one are handed out. A hidden frame has the word of the frame around it.
 */
#ifndef FXT_READER_FILTER_H
#define FXT_READER_FILTER_H

#include <stddef.h>
#include "slice.h"
#include "writer/shared/search.h"

/* Arrays by id of the scan's tables; NULL: all. Times are in units of the scan. */
struct fxt_filter {
	bool *threads;
	bool *names;
	bool *under;       /* names: only these functions and what is inside of them */
	uint64_t from, to; /* `to` itself is not inside */
	uint64_t least;    /* length of a slice, including its part outside of the time */
	uint64_t *records; /* offsets of the records of slices, ascending; NULL: all */
	size_t record_count;
	bool are_others; /* instead of `records`, the slices of all other records */
};

/* For things that are no slices. A NULL filter chooses everything. */
static inline bool fxt_filter_has_thread(const struct fxt_filter *filter, uint32_t thread)
{
	return !filter || !filter->threads || filter->threads[thread];
}

static inline bool fxt_filter_has_time(const struct fxt_filter *filter, uint64_t time)
{
	return !filter || (time >= filter->from && time < filter->to);
}

/* Cuts a slice to the time. Returns false if nothing is left of it, or if its thread was
 * not chosen. */
static inline bool fxt_filter_cut(const struct fxt_filter *filter, struct fxt_slice *slice)
{
	if (filter->threads && !filter->threads[slice->thread])
		return false;
	if (slice->start >= filter->to || (slice->end <= filter->from && slice->start < filter->from))
		return false;
	if (slice->start < filter->from)
		slice->start = filter->from;
	if (slice->end > filter->to)
		slice->end = filter->to;
	return true;
}

/* Whether a slice is among the chosen records. */
static inline bool fxt_filter_has_record(const struct fxt_filter *filter, uint64_t offset)
{
	uint64_t at = partition_point(i, filter->record_count, filter->records[i] < offset);

	return at < filter->record_count && filter->records[at] == offset;
}

/* Decides whether a slice is handed out, by its length before it was cut. is_under: it is
 * inside a function of `under`, or is one. */
static inline bool fxt_filter_shows(
        const struct fxt_filter *filter, const struct fxt_slice *slice, bool is_under)
{
	return (!filter->names || filter->names[slice->name]) && (!filter->under || is_under) &&
	       slice->end - slice->start >= filter->least &&
	       (!filter->records || fxt_filter_has_record(filter, slice->offset) != filter->are_others);
}

#endif
