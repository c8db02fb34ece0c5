/*
 * Messages between traces: those of the ranks of a job (mpi/record.h), which are flows whose
 * ends are in different traces, and those of TCP connections (streams.h).
 * Once the traces are on one timeline, no message may be received before it was sent. If
 * the clocks are not exact enough for that, the traces of some ranks are moved to later
 * times, by as little as all messages allow.
 *
 * Memory grows with the pairs of ranks that send to each other, not with the messages.
 */
#ifndef FXT_FXT_MERGE_MESSAGES_H
#define FXT_FXT_MERGE_MESSAGES_H

#include "reader/trace/index.h"
#include "reader/trace/spill.h"
#include "timeline.h"

/* Two traces, and the message from one to the other that took the least time. */
struct fxt_merge_pair {
	uint32_t from, to;
	int64_t ns;
};

struct fxt_merge_messages {
	struct fxt_spill ends;
	bool is_of_ranks; /* some are of MPI */
	struct fxt_merge_pair *pairs;
	size_t pair_count, pair_room;
	struct fxt_index index;
	uint64_t count; /* of messages with both ends */
	uint64_t lone;  /* ends without the other */
	uint64_t wrong; /* messages that were received before they were sent */
	int64_t worst;  /* by how much, in ns */
	int64_t moved;  /* the most that a trace was moved by, in ns */
	size_t moved_count;
	uint64_t left; /* pairs of traces with messages that still are, which no move mends */
};

void fxt_merge_messages_init(struct fxt_merge_messages *m);

/* Adds an end of a message of the trace number `input`, at that time of its clock. */
void fxt_merge_messages_add(
        struct fxt_merge_messages *m, uint64_t id, bool is_received, uint64_t ticks, uint32_t input);

/* Pairs the ends, and moves traces if that is needed and the timeline allows it. */
void fxt_merge_messages_judge(struct fxt_merge_messages *m, struct fxt_merge_clock *clocks, size_t count,
        const struct fxt_merge_timeline *t);

/* Adds a phrase for people to the text; nothing if there are no messages. */
void fxt_merge_messages_describe(const struct fxt_merge_messages *m, char *text, size_t text_bytes);

void fxt_merge_messages_free(struct fxt_merge_messages *m);

#endif
