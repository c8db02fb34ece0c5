/*
 * What each thread did when, by the scheduling records of a trace, and which thread was on which CPU:
 * stretches of time in which nothing changes. Records need not be in order; they are collected on the way of
 * the scan (scan.h), and what is kept grows with their number, in memory and then in TMPDIR (spill.h).
 *
 *   struct fxt_timeline timeline;
 *   fxt_timeline_init(&timeline);
 *   in the listener's begin():   fxt_timeline_clear(&timeline)
 *   in the listener's record():  fxt_timeline_record(&timeline, tables, view)
 *   fxt_timeline_finish(&timeline, the end of the trace)
 *
 * What a thread does is known from its first record on, until it ends, or the trace does; while it is
 * suspended, which it is when recording is, nothing is known; nor, in a trace that was cut (cut.h), outside
 * of its time. Without wakeups in the trace, what a thread waits goes on until it is back on a CPU.
 *
 * Times are nanoseconds. One thread asks at a time.
 */
#ifndef FXT_READER_TIMELINE_H
#define FXT_READER_TIMELINE_H

#include "reader/trace/spill.h"
#include "reader/trace/tables.h"

/* It ran on a CPU, it could have run but something else did, or it waited. */
enum fxt_activity { FXT_ACTIVITY_UNKNOWN, FXT_RUNNING, FXT_RUNNABLE, FXT_BLOCKED };

struct fxt_stretch {
	uint64_t koid;
	uint64_t start, end; /* the same where it left a CPU to come back at once, or at the very end */
	enum fxt_activity activity; /* never unknown: of such a time there is no stretch */
	uint16_t cpu;               /* where it runs, or ran last */
	bool left_cpu;              /* with that it began; else it runs, or was woken */
};

struct fxt_timeline {
	struct fxt_spill changes;   /* of activities, until it is finished */
	struct fxt_spill by_thread; /* struct fxt_stretch, by koid and start */
	struct fxt_spill by_cpu;    /* the same, those that run, by CPU and start */
	uint64_t from, to;          /* of a trace that was cut: nothing is known of other times */
};

void fxt_timeline_init(struct fxt_timeline *t);
void fxt_timeline_free(struct fxt_timeline *t);

/* Forgets all records. */
void fxt_timeline_clear(struct fxt_timeline *t);

/* Takes a record; other ones than of scheduling, and what a trace says of having been cut, change nothing. */
void fxt_timeline_record(struct fxt_timeline *t, struct fxt_tables *tables, const struct fxt_view *view);

/* All records are there, and all threads go on with what they did until `end`. */
void fxt_timeline_finish(struct fxt_timeline *t, uint64_t end);

/* Whether there is anything: else nothing is known of any thread. */
static inline bool fxt_timeline_is_known(const struct fxt_timeline *t)
{
	return t->by_thread.count > 0;
}

/* The place in by_thread of a thread's first stretch that ends after a moment, or where it would stand. */
uint64_t fxt_timeline_thread_at(const struct fxt_timeline *t, uint64_t koid, uint64_t moment);

/* The same in by_cpu. */
uint64_t fxt_timeline_cpu_at(const struct fxt_timeline *t, uint16_t cpu, uint64_t moment);

/* A stretch at a place; false if it is behind the last one of the koid. */
bool fxt_timeline_of_thread(
        const struct fxt_timeline *t, uint64_t place, uint64_t koid, struct fxt_stretch *stretch);

/* Who runs on a CPU at a moment, 0 for nobody that is known of; and in *until, if it is earlier, until when.
 * The place is of the first stretch that may be meant, and moves on with the moment. */
uint64_t fxt_timeline_on_cpu(
        const struct fxt_timeline *t, uint64_t *place, uint16_t cpu, uint64_t moment, uint64_t *until);

#endif
