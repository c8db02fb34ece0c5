/*
 * TCP connections with an end in each of two traces. Each end notes how far its streams are
 * (agent/interpose/connections.h). One note says that a byte was not sent yet; another one
 * says that the byte was received. The first note was made earlier, so both are a message from
 * one trace to the other. Messages link the clocks of machines (links.h), and their order is
 * checked like that of MPI's messages (messages.h).
 *
 * Memory does not grow with the notes: many of them are sorted in a file.
 */
#ifndef FXT_FXT_MERGE_STREAMS_H
#define FXT_FXT_MERGE_STREAMS_H

#include "links.h"
#include "messages.h"
#include "reader/trace/spill.h"

/* A note of the trace number `input`, at that time of its clock. */
struct fxt_merge_note {
	uint64_t stream, socket, position, ticks;
	uint32_t input, is_received;
};

struct fxt_merge_streams {
	struct fxt_spill notes;
	struct fxt_merge_links links;
};

void fxt_merge_streams_init(struct fxt_merge_streams *s);

void fxt_merge_streams_add(struct fxt_merge_streams *s, const struct fxt_merge_note *note);

/* Finds the messages, adds those between traces, and links the machines. It sets each clock's
 * line to that between its own anchors. */
void fxt_merge_streams_match(struct fxt_merge_streams *s, struct fxt_merge_clock *clocks, size_t count,
        struct fxt_merge_messages *messages);

void fxt_merge_streams_free(struct fxt_merge_streams *s);

#endif
