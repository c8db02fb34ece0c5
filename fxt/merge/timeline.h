/*
 * Puts several traces on one timeline by their anchors (writer/format/anchor.h): converts
 * the ticks of each to those of the merged trace. There are six ways.
 *
 * Counter: all traces are from one boot of one machine, and all ticks are of its counter.
 * Ticks stay as they are, under one rate for all, so any two events are in the order in
 * which they happened.
 *
 * CLOCK_MONOTONIC: all traces are from one boot, but the counter cannot be used, because
 * there are other clocks, or the counter started anew, as in a machine that slept. Each
 * trace's ticks become nanoseconds along the line between its two anchors.
 *
 * Time of day: as CLOCK_MONOTONIC, for traces of several machines or boots, which are
 * aligned by CLOCK_REALTIME. The result is as exact as the clocks of these machines were
 * set.
 *
 * Round trips: the traces are of the ranks of one run of MPI, on several machines or boots.
 * Each rank compared its trace's clock with the CLOCK_MONOTONIC of the first one, at least
 * once (mpi/clock.c), and says how exactly. Its ticks become nanoseconds of that clock along
 * the lines between these comparisons.
 *
 * Connections: the traces are of several machines or boots, and TCP connections between
 * these bound the offsets of their clocks (links.h). Each trace's ticks become nanoseconds of
 * the CLOCK_MONOTONIC of the first trace's machine.
 *
 * Their own ticks: no trace has an anchor, as traces of other producers. Each says only how
 * many ticks a second has, so all count from one moment.
 */
#ifndef FXT_FXT_MERGE_TIMELINE_H
#define FXT_FXT_MERGE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "links.h"
#include "writer/format/anchor.h"

/* The conversion of one trace's ticks. */
struct fxt_merge_line {
	bool is_kept; /* ticks stay as they are */
	uint64_t ticks, ns;
	int64_t shift;                /* added to `ns` */
	uint64_t span_ticks, span_ns; /* `span_ticks` ticks take `span_ns` ns; neither is
	                                 0, nor above 2^62 */
	/* The pieces of a line with corners, in order; their own shift is 0. Each is in force
	 * from its `ticks` on, the first one also before. No piece: the line is straight. */
	const struct fxt_merge_line *pieces;
	size_t piece_count;
};

/* A comparison of a trace's clock with the CLOCK_MONOTONIC of the first recorded rank. */
struct fxt_merge_mark {
	uint64_t run; /* a number of the run of MPI */
	int64_t ticks;
	int64_t reference_ns; /* that clock at these ticks */
	int64_t error_ns;     /* the most that it may be wrong by */
	bool is_kept;         /* two pieces of the line meet here */
};

/* The known facts of a trace's clock. */
struct fxt_merge_clock {
	const char *name; /* of the trace */
	struct fxt_anchor first, last;
	bool has_anchor, has_last; /* it has one anchor; it has a second one */
	uint64_t rate;             /* its ticks a second */
	uint32_t machine;          /* the number of the first trace of the same boot */
	struct fxt_merge_mark *marks;
	size_t mark_count, mark_room;
	struct fxt_merge_line line, *pieces; /* `pieces` has room for one less than the marks */
	uint64_t error_ns; /* by round trips or connections: its times are wrong by at most this */
	uint64_t moved_ns; /* it was moved by this for the order of messages (messages.h) */
};

enum fxt_merge_by {
	FXT_MERGE_BY_COUNTER,
	FXT_MERGE_BY_MONOTONIC,
	FXT_MERGE_BY_TRIPS,
	FXT_MERGE_BY_CONNECTIONS,
	FXT_MERGE_BY_REALTIME,
	FXT_MERGE_BY_TICKS
};

struct fxt_merge_timeline {
	enum fxt_merge_by by;
	uint64_t rate; /* ticks a second of the merged trace */
	/* the most that times of different traces may be apart, if they have anchors */
	uint64_t error_ns;
	/* a trace that lacks its end's anchor, so its rate is less exact; NULL: none */
	const struct fxt_merge_clock *open;
	struct fxt_anchor first, last; /* the merged trace's own; none by ticks */
};

/* True if two traces are from the same boot of the same machine. */
bool fxt_anchors_are_of_one_kernel(const struct fxt_anchor *a, const struct fxt_anchor *b);

/* The same, if they also use the same clock. */
bool fxt_anchors_are_of_one_boot(const struct fxt_anchor *a, const struct fxt_anchor *b);

/* Sets the machines of all clocks, whose anchors are known. */
void fxt_merge_find_machines(struct fxt_merge_clock *clocks, size_t count);

/* Sets a clock's line to that between its own anchors. False: its rate is too high to be
 * true. */
bool fxt_merge_timeline_draw(struct fxt_merge_clock *clock);

/* Chooses one of the ways, and sets each clock's line. Returns 0, or -1 with one line in
 * error[error_bytes] that says what to do: the traces have nothing in common to be
 * aligned by, or only the time of day, which `may_be_realtime` did not allow. */
int fxt_merge_timeline_choose(struct fxt_merge_timeline *t, struct fxt_merge_clock *clocks, size_t count,
        const struct fxt_merge_links *links, bool may_be_realtime, char *error, size_t error_bytes);

/* Writes a phrase for people: the way, and how exact it is. */
void fxt_merge_timeline_describe(const struct fxt_merge_timeline *t, char *text, size_t text_bytes);

/* Returns the piece of a line that is in force at a time. */
const struct fxt_merge_line *fxt_merge_piece(const struct fxt_merge_line *line, uint64_t ticks);

void fxt_merge_clock_free(struct fxt_merge_clock *clock);

/* Converts a time of the trace to the merged trace; times before the merged trace began
 * become 0. */
static inline uint64_t fxt_merge_time(const struct fxt_merge_line *line, uint64_t ticks)
{
	if (line->is_kept)
		return ticks;
	const struct fxt_merge_line *piece = line->piece_count ? fxt_merge_piece(line, ticks) : line;
	__int128 product = ((__int128)ticks - piece->ticks) * piece->span_ns;
	__int128 whole =
	        product / piece->span_ticks - (product % piece->span_ticks < 0) + piece->ns + line->shift;

	return whole < 0 ? 0 : whole > UINT64_MAX ? UINT64_MAX : (uint64_t)whole;
}

/* Converts a duration. */
static inline uint64_t fxt_merge_duration(const struct fxt_merge_line *line, int64_t ticks)
{
	return line->is_kept ? (uint64_t)ticks
	                     : (uint64_t)(int64_t)((__int128)ticks * line->span_ns / line->span_ticks);
}

#endif
