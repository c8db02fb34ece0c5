/*
 * The description that fxt cut writes into a trace, as a blob record at its beginning: that
 * it is a part, and which part of which trace. Calls across the boundaries of the time are
 * whole in the file. Readers count the part of them that is inside, as they do when that
 * time is chosen in the whole trace.
 */
#ifndef FXT_READER_CUT_H
#define FXT_READER_CUT_H

#include "cursor.h"
#include "rate.h"

#define FXT_CUT_BLOB "fxt:cut"

/* The description of its timeline that fxt merge writes into a trace, as text. */
#define FXT_MERGED_BLOB "fxt:merged"

enum {
	FXT_CUT_TIME = 1,
	FXT_CUT_THREADS = 2,   /* some threads or processes are kept, as a whole */
	FXT_CUT_FUNCTIONS = 4, /* some slices, without those around and inside of them */
	FXT_CUT_DAMAGED = 8,   /* the trace it was made of could not be read as a whole */
};

/* The blob's data; behind it stand the options that made it, as text. Times are in ticks of
 * a clock of its own rate. */
struct fxt_cut {
	uint64_t what; /* 0: the trace is whole */
	uint64_t ticks_per_second;
	uint64_t from, to;   /* `to` is not inside; 0 and UINT64_MAX: no boundary */
	uint64_t start, end; /* of the whole trace, the end not behind `to` */
};

/* True if a decoded record is such a blob and makes sense; *cut is then its contents, and
 * *options the text, in the archive. Otherwise both are left unchanged. */
static inline bool fxt_view_cut(const struct fxt_view *view, struct fxt_cut *cut, struct fxt_span *options)
{
	struct fxt_cut said;

	if (!fxt_span_is(fxt_view_blob_name(view), FXT_CUT_BLOB) || view->blob.data.bytes < sizeof(said))
		return false;
	memcpy(&said, view->blob.data.data, sizeof(said));
	if (said.what == 0 || said.ticks_per_second == 0 || said.from >= said.to || said.start > said.end)
		return false;
	*cut = said;
	*options =
	        (struct fxt_span){view->blob.data.data + sizeof(said), view->blob.data.bytes - sizeof(said)};
	return true;
}

/* A time of it on a clock of another rate; no boundary stays none. */
static inline uint64_t fxt_cut_time(const struct fxt_cut *cut, uint64_t time, uint64_t ticks_per_second)
{
	if (time == UINT64_MAX || cut->ticks_per_second == ticks_per_second)
		return time;
	unsigned __int128 whole = (unsigned __int128)time * ticks_per_second / cut->ticks_per_second;

	return whole < UINT64_MAX ? (uint64_t)whole : UINT64_MAX - 1;
}

/* The same for `to`, rounded up, so that even a coarse clock leaves something of the time.
 * If the clock cannot express it, there is no boundary. */
static inline uint64_t fxt_cut_time_to(const struct fxt_cut *cut, uint64_t ticks_per_second)
{
	uint64_t last = fxt_cut_time(cut, cut->to - 1, ticks_per_second);

	if (cut->to == UINT64_MAX || cut->ticks_per_second == ticks_per_second)
		return cut->to;
	return last < UINT64_MAX - 1 ? last + 1 : UINT64_MAX;
}

#endif
