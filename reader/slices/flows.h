/*
 * Checks that flows and asynchronous events belong to something. A flow's steps and ends
 * need a begin with the same id in the same process. An async end needs a begin with the
 * same id and name (the format's section on events). A viewer attaches a flow to the slice
 * around it, so a flow outside of every slice is lost. Slices are put in as nesting.h hands
 * them out, children before parents. Flows are put in in the order of the file. This need
 * not be the order of time: an end may stand before its begin. Nothing is therefore certain
 * before the archive's end.
 *
 * Flows, and slices that are in no other slice, are kept in memory, and then in TMPDIR
 * (spill.h).
 */
#ifndef FXT_READER_FLOWS_H
#define FXT_READER_FLOWS_H

#include "reader/trace/spill.h"
#include "reader/trace/tables.h"
#include "reader/stats/verdict.h"

struct fxt_flows {
	struct fxt_spill ends;           /* begins, steps and ends of flows and async events */
	struct fxt_flow_thread *threads; /* by id */
	size_t thread_count;
};

void fxt_flows_init(struct fxt_flows *flows);

/* Puts in an event. Events of other kinds than flows and async events change nothing. */
void fxt_flows_event(
        struct fxt_flows *flows, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset);

/* Puts in a slice of a thread. Returns the depth of the tree it is the root of: itself and
 * the slices inside. */
uint32_t fxt_flows_slice(struct fxt_flows *flows, uint32_t thread, uint64_t start, uint64_t end);

/* Reports flows and async events that belong to nothing. A flow that ends without a begin
 * is lawful: the thread that would have begun it may have been killed before that. */
void fxt_flows_check(struct fxt_flows *flows, struct fxt_verdict *verdict);

void fxt_flows_free(struct fxt_flows *flows);

#endif
