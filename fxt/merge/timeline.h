/*
 * Several traces on one timeline, by their anchors (writer/anchor.h): how the ticks of each become those of
 * the merged trace.
 *
 * By the counter: of one boot of one machine, all ticks being of its counter. They stay as they are, under
 * one rate for all, so that any two events are in the order in which they happened.
 *
 * By CLOCK_MONOTONIC: of one boot, where that cannot be: other clocks, or a counter that began anew, as in a
 * machine that slept. Each trace's ticks become nanoseconds along the line between its two anchors.
 *
 * By the time of day: the same for traces of several machines or boots, which CLOCK_REALTIME puts beside each
 * other: as exact as these machines' clocks were set.
 */
#ifndef FXT_FXT_MERGE_TIMELINE_H
#define FXT_FXT_MERGE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "writer/anchor.h"

/* How one trace's ticks become others. */
struct fxt_merge_line {
	bool is_kept; /* they stay as they are */
	uint64_t ticks, ns;
	int64_t shift;                /* added to `ns` */
	uint64_t span_ticks, span_ns; /* how many ns so many ticks take; neither is 0, nor above 2^62 */
};

/* What is known of a trace's clock. */
struct fxt_merge_clock {
	const char *name; /* of the trace */
	struct fxt_anchor first, last;
	bool has_anchor, has_last; /* one; another one */
	uint64_t rate;             /* its ticks a second */
	struct fxt_merge_line line;
};

enum fxt_merge_by { FXT_MERGE_BY_COUNTER, FXT_MERGE_BY_MONOTONIC, FXT_MERGE_BY_REALTIME };

struct fxt_merge_timeline {
	enum fxt_merge_by by;
	uint64_t rate;     /* ticks a second of the merged trace */
	uint64_t error_ns; /* how far times of different traces may be apart where they have anchors */
	const struct fxt_merge_clock
	        *open; /* a trace without its end's anchor, whose rate is less exact; NULL: none */
	struct fxt_anchor first, last; /* the merged trace's own */
};

/* Whether two traces are of the same boot of the same machine, and of one clock there. */
bool fxt_anchors_are_of_one_boot(const struct fxt_anchor *a, const struct fxt_anchor *b);

/* Decides, and gives each clock its line. Returns 0, or -1 with one line in error[error_bytes] that says what
 * to do: they have nothing to be put on a timeline by, or only the time of day, which `may_be_realtime` did
 * not allow. */
int fxt_merge_timeline_choose(struct fxt_merge_timeline *t, struct fxt_merge_clock *clocks, size_t count,
        bool may_be_realtime, char *error, size_t error_bytes);

/* Half a sentence for people: by what, and how exact. */
void fxt_merge_timeline_describe(const struct fxt_merge_timeline *t, char *text, size_t text_bytes);

/* A time of the trace in the merged one; 0 for what was before that began. */
static inline uint64_t fxt_merge_time(const struct fxt_merge_line *line, uint64_t ticks)
{
	if (line->is_kept)
		return ticks;
	__int128 product = ((__int128)ticks - line->ticks) * line->span_ns;
	__int128 whole =
	        product / line->span_ticks - (product % line->span_ticks < 0) + line->ns + line->shift;

	return whole < 0 ? 0 : whole > UINT64_MAX ? UINT64_MAX : (uint64_t)whole;
}

/* A duration. */
static inline uint64_t fxt_merge_duration(const struct fxt_merge_line *line, int64_t ticks)
{
	return line->is_kept ? (uint64_t)ticks
	                     : (uint64_t)(int64_t)((__int128)ticks * line->span_ns / line->span_ticks);
}

#endif
