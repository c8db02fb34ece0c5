/*
 * The states of each thread over time, from the scheduling records of a trace, and which
 * thread was on which CPU. The timeline consists of stretches of time without a change.
 * Records need not be in order. They are collected during the scan (scan.h); the collection
 * grows with their number, in memory and then in TMPDIR (spill.h).
 *
 *   struct fxt_timeline timeline;
 *   fxt_timeline_init(&timeline);
 *   in the listener's begin():   fxt_timeline_clear(&timeline)
 *   in the listener's record():  fxt_timeline_record(&timeline, tables, view)
 *   fxt_timeline_finish(&timeline, the start of the trace, its end)
 *
 * A thread's activity is known from its first record until the thread or the trace ends. It
 * is unknown while the thread is suspended, as it is while recording is suspended, and
 * outside of the time of a trace that was cut (cut.h). Without wakeups in the trace, a wait
 * lasts until the thread is back on a CPU.
 *
 * Times are nanoseconds. Only one thread may query the timeline at a time.
 */
#ifndef FXT_READER_TIMELINE_H
#define FXT_READER_TIMELINE_H

#include "reader/trace/index.h"
#include "reader/trace/spill.h"
#include "reader/trace/tables.h"

/* RUNNING: on a CPU. RUNNABLE: it could have run, but something else did. BLOCKED: it
 * waited. */
enum fxt_activity { FXT_ACTIVITY_UNKNOWN, FXT_RUNNING, FXT_RUNNABLE, FXT_BLOCKED };

/*
 * A sample of what a thread was blocked in: an instant event of category "sched" with the
 * system call, and the descriptor with its file, or the address of a futex.
 */
#define FXT_BLOCKED_CATEGORY "sched"
#define FXT_BLOCKED_EVENT    "blocked"
#define FXT_DESCRIPTOR_EVENT "descriptor" /* in a recorded wait; it has no call */
#define FXT_BLOCKED_CALL     "call"
#define FXT_BLOCKED_FD       "fd"
#define FXT_BLOCKED_FILE     "file"
#define FXT_BLOCKED_OBJECT   "object"

/* Calls that are none: the thread could run and had no CPU; it waited for memory that it
 * touched; it was stopped. */
#define FXT_BLOCKED_READY   "ready"
#define FXT_BLOCKED_FAULT   "page fault"
#define FXT_BLOCKED_STOPPED "stopped"

#define FXT_BLOCKED_NS UINT64_C(1000000) /* waits that are shorter have no sample */

struct fxt_blocker {
	uint32_t call;   /* id of a string */
	uint32_t file;   /* the same; FXT_NOTHING: none */
	uint64_t object; /* a descriptor plus 1, or an address; 0: none */
	bool has_fd;
};

struct fxt_stretch {
	uint64_t koid;
	uint64_t start, end;        /* equal if it left a CPU to come back at once, or at the very
	                               end */
	enum fxt_activity activity; /* never UNKNOWN: such time has no stretch */
	uint16_t cpu;               /* on which it runs, or last ran */
	bool left_cpu;              /* began by leaving a CPU; else it runs, or was woken */
	uint32_t blocker;           /* BLOCKED: 1 + what a sample in it says, or both
	                               samples around it, in fxt_timeline.blockers; 0: there
	                               is none */
};

struct fxt_timeline {
	struct fxt_spill changes;   /* of activities, until the timeline is finished */
	struct fxt_spill by_thread; /* struct fxt_stretch, by koid and start */
	struct fxt_spill by_cpu;    /* the same, only those that run, by CPU and start */
	struct fxt_spill samples;   /* until the timeline is finished */
	struct fxt_blocker *blockers;
	size_t blocker_count, blocker_room;
	struct fxt_index blocker_index;
	uint64_t from, to; /* nothing is known outside of this time: before the trace,
	                               or outside of the part, if it was cut */
};

void fxt_timeline_init(struct fxt_timeline *t);
void fxt_timeline_free(struct fxt_timeline *t);

/* Forgets all records. */
void fxt_timeline_clear(struct fxt_timeline *t);

/* Takes a scheduling record, a sample, or a trace's own note that it was cut. Other records change
 * nothing. */
void fxt_timeline_record(struct fxt_timeline *t, struct fxt_tables *tables, const struct fxt_view *view);

/* Call it once all records are there. Every thread continues its last activity until `end`.
 * The kernel tells of a program before its first event and behind its last one: nothing
 * outside of the trace counts, so that the states of a thread add up to its part of it. With
 * a start of 0 all of it counts. */
void fxt_timeline_finish(struct fxt_timeline *t, uint64_t start, uint64_t end);

/* True if there are any stretches; if not, nothing is known about any thread. */
static inline bool fxt_timeline_is_known(const struct fxt_timeline *t)
{
	return t->by_thread.count > 0;
}

/* The place in by_thread of a thread's first stretch that ends after a moment, or where it
 * would stand. */
uint64_t fxt_timeline_thread_at(const struct fxt_timeline *t, uint64_t koid, uint64_t moment);

/* The same in by_cpu. */
uint64_t fxt_timeline_cpu_at(const struct fxt_timeline *t, uint16_t cpu, uint64_t moment);

/* Gets the stretch at a place. Returns false behind the last one of the koid. */
bool fxt_timeline_of_thread(
        const struct fxt_timeline *t, uint64_t place, uint64_t koid, struct fxt_stretch *stretch);

/* The koid of the thread on a CPU at a moment; 0 if it is unknown or there is none. *until
 * is lowered to the end of that state, if that is earlier. The place is that of the first
 * stretch to consider, and advances with the moment. */
uint64_t fxt_timeline_on_cpu(
        const struct fxt_timeline *t, uint64_t *place, uint16_t cpu, uint64_t moment, uint64_t *until);

#endif
