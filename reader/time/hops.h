/*
 * The way of a flow that the program says, through its threads: its events, and the slice
 * around each of them. A request that hops over three threads has three hops.
 *
 *   main       receive [begin]
 *   handler              ....  handle [step]
 *   answerer                              .. answer [end]
 */
#ifndef FXT_READER_HOPS_H
#define FXT_READER_HOPS_H

#include "reader/slices/walk.h"

enum { FXT_HOPS_MAX = 256 };

/* An event of a flow that is not the tracer's. */
struct fxt_hop_event {
	uint64_t process, id;
	uint64_t ns, ticks;
	uint32_t thread, name;
};

/* A slice of the way, or where the next thread was before it. */
struct fxt_hop {
	struct fxt_slice slice;  /* around the event; times in units of the scan */
	uint64_t from, to;       /* its part that is after all hops before it */
	uint64_t waited_from;    /* < from: until then nothing was done for the flow */
	struct fxt_slice before; /* waited: where its thread was then; no offset: unknown */
};

struct fxt_hops {
	struct fxt_hop_event *events; /* of all flows, in the file's order */
	size_t event_count, event_room;
	/* of one flow, by their begin: */
	struct fxt_hop *items;
	size_t count;
	uint32_t name;
	bool is_message;     /* between ranks of a job */
	size_t threads;      /* of these hops */
	uint64_t start, end; /* of all of them */
};

/* For the scan's listener: takes a record. */
void fxt_hops_record(struct fxt_hops *hops, struct fxt_tables *t, const struct fxt_view *view);

/* Finds the way of the first flow that has an event in a slice, through all threads,
 * whatever the scan's filter shows. Without such a flow, or if it has a single slice, there
 * are no hops; of a longer way, the first FXT_HOPS_MAX events count. The parts and waits of
 * the hops sum to end - start. Returns false if not all of the file could be read again. */
bool fxt_hops_find(struct fxt_hops *hops, const struct fxt_scan *scan, const struct fxt_slice *slice);

void fxt_hops_free(struct fxt_hops *hops);

#endif
