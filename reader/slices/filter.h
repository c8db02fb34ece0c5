/*
 * What a walk (walk.h) hands out of a trace, decided once for each thread and name so that a slice costs a
 * look-up. Who walks without a filter pays nothing for it.
 *
 * What is outside of the chosen threads and the chosen time is not there at all: a slice that begins before
 * the time begins there, and one that ends behind it ends there. All else is hidden: it counts in the times
 * of what is around it, but is not handed out; what is inside of it is, if it is chosen, and has the word of
 * the frame around.
 */
#ifndef FXT_READER_FILTER_H
#define FXT_READER_FILTER_H

#include "slice.h"

/* Arrays by id of the scan's tables; NULL: all. Times are in units of the scan. */
struct fxt_filter {
	bool *threads;
	bool *names;
	bool *under;       /* names: only what is inside of these, and these themselves */
	uint64_t from, to; /* the latter is not inside */
	uint64_t least;    /* of the length of a slice, with what is outside of the time */
};

/* For what is no slice; without a filter, it is NULL, everything is chosen. */
static inline bool fxt_filter_has_thread(const struct fxt_filter *filter, uint32_t thread)
{
	return !filter || !filter->threads || filter->threads[thread];
}

static inline bool fxt_filter_has_time(const struct fxt_filter *filter, uint64_t time)
{
	return !filter || (time >= filter->from && time < filter->to);
}

/* Cuts a slice to the time; false if nothing is left of it, or its thread was not chosen. */
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

/* Whether a slice, before it was cut, is handed out; is_under: it is inside of what `under` has, or has it.
 */
static inline bool fxt_filter_shows(
        const struct fxt_filter *filter, const struct fxt_slice *slice, bool is_under)
{
	return (!filter->names || filter->names[slice->name]) && (!filter->under || is_under) &&
	       slice->end - slice->start >= filter->least;
}

#endif
