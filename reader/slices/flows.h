/*
 * Whether flows and asynchronous events belong to something: a flow's steps and ends need a begin of the same
 * id in the same process, an async end one of the same id and name (the format's section on events); and a
 * viewer attaches a flow to the slice around it, so that one outside of every slice is lost. Slices are put
 * in as nesting.h hands them out, children before parents; flows in the order of the file, which need not be
 * that of time: an end may stand before its begin. So nothing is known before the archive's end.
 *
 * What is kept of flows, and of slices that are in no other slice, is in memory, and then in TMPDIR
 * (spill.h).
 */
#ifndef FXT_READER_FLOWS_H
#define FXT_READER_FLOWS_H

#include "reader/trace/spill.h"
#include "reader/trace/tables.h"
#include "reader/stats/verdict.h"

struct fxt_flows {
	struct fxt_spill ends;           /* of flows and of async events: their begins, steps and ends */
	struct fxt_flow_thread *threads; /* by id */
	size_t thread_count;
};

void fxt_flows_init(struct fxt_flows *flows);

/* Puts in an event; one that is neither a flow nor an async event changes nothing. */
void fxt_flows_event(
        struct fxt_flows *flows, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset);

/* Puts in a slice of a thread. Returns how many slices deep it is, itself and what it contains. */
uint32_t fxt_flows_slice(struct fxt_flows *flows, uint32_t thread, uint64_t start, uint64_t end);

/* Notes what belongs to nothing: as violations, or as warnings in a trace that tells of losses, which may
 * have been of what it belonged to. A flow that ends without a begin is a warning always: who would have
 * begun it may have been killed before that, and viewers draw no arrow. */
void fxt_flows_check(struct fxt_flows *flows, struct fxt_verdict *verdict, bool lossy);

void fxt_flows_free(struct fxt_flows *flows);

#endif
