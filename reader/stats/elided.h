/*
 * Elided calls: calls that are not in a trace because of their duration or number (fxtrun
 * --min-duration, --max-calls). The trace has their sums by thread and function
 * (writer/engine/elided.h). Added to the sums of the recorded calls, these give the sums of
 * all calls (functions.h).
 */
#ifndef FXT_READER_ELIDED_H
#define FXT_READER_ELIDED_H

#include "reader/trace/tables.h"

/* Times are in units of the scan. */
struct fxt_elided_calls {
	uint32_t thread, name; /* ids */
	uint64_t calls, total, sum, longest, shortest;
	uint64_t own; /* without the elided calls inside them */
	int64_t self; /* the same, less the elided calls directly inside calls that are in
	                 the trace */
};

struct fxt_elided_sums {
	struct fxt_elided_calls *items;
	size_t count, room;
	uint64_t calls, own; /* of all */
	uint32_t *names;     /* functions with elided calls */
	size_t name_count, name_room;
	struct fxt_index name_index;
};

/* Takes an instant event of that name. A malformed event changes nothing. `in_ticks`: times
 * are in ticks, as in the scan; otherwise they are in nanoseconds. */
void fxt_elided_sums_add(struct fxt_elided_sums *elided_sums, struct fxt_tables *t,
        const struct fxt_view *view, bool in_ticks);

/* "elided: 12 calls of 3 functions, 1.200 ms"; `own_ns`: elided_sums->own in
 * nanoseconds. */
struct fxt_elided_sums_text {
	char text[128];
};
struct fxt_elided_sums_text fxt_elided_sums_text(const struct fxt_elided_sums *elided_sums, uint64_t own_ns);

/* Counts the calls for the settled functions (reader/trace/namesakes.h). */
void fxt_elided_sums_settle(struct fxt_elided_sums *elided_sums, const struct fxt_tables *t);

void fxt_elided_sums_free(struct fxt_elided_sums *elided_sums);

#endif
