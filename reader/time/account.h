/*
 * Accounts for a stretch of a thread's time: divides it into parts that sum to it, to the
 * nanosecond. At each moment the thread is in its innermost slice (walk.h), it runs or does
 * not (timeline.h), and if it waits, a thread holds what it waits for (waits.h).
 *
 *   the call      handle                                                                    |
 *   its callees     parse ...........  look_up ....................................  parse .|
 *   waits                                 pthread_mutex_lock, held by B, then by C
 *   the thread    ran .... preempted . ran  blocked .............................. ran .....|
 *   parts          RAN     PREEMPTED   RAN     WAITED (B's release)  WAITED (C's)    RAN
 *
 * A cell is one such part: what the thread did, in which call path, and because of which
 * other thread. Code that shows accounts adds cells up. Time that the trace does not
 * explain has a kind of its own.
 */
#ifndef FXT_READER_ACCOUNT_H
#define FXT_READER_ACCOUNT_H

#include "faults.h"
#include "timeline.h"
#include "waits.h"

enum fxt_cell_kind {
	FXT_CELL_RAN,
	FXT_CELL_PREEMPTED, /* it could have run; `who` is the koid of the thread that ran
	                       on its CPU, 0 for none of the trace */
	FXT_CELL_WAITED,    /* in a wait; `who` is 1 + the release that ended it, or 0:
	                       unknown */
	FXT_CELL_WOKEN,     /* the same, after the release, until it was on a CPU again */
	FXT_CELL_BLOCKED,   /* blocked in no wait of the trace; `who` is 1 + what a sample
	                       says (timeline.h), or 0: unknown */
	FXT_CELL_TRACER,    /* the tracer's own wait, or lost records; `path` says which */
	FXT_CELL_UNKNOWN,   /* in the path; whether it ran is unknown */
};

struct fxt_cell_of_time {
	uint32_t path; /* of fxt_accounts.paths: the slices around, from the thread's
	                  outermost one */
	enum fxt_cell_kind kind;
	uint64_t who;
	uint32_t wait; /* 1 + the wait */
	uint64_t ns;
	uint64_t calls;  /* calls that began at this very path; counted with RAN, or with
	                    UNKNOWN if nothing is known of any thread's activity */
	uint64_t faults; /* page faults in this very path; counted with the same kinds */
};

/* A stretch of time of a thread. */
struct fxt_account {
	uint32_t thread;     /* id in the tables */
	uint64_t start, end; /* ns */
	uint64_t offset;     /* of the record of the call; 0: the stretch is no call */
	/* Out: */
	/* of the call; for another stretch, the path at its beginning, as far as it lasts
	 * throughout */
	uint32_t path;
	struct fxt_cell_of_time *cells; /* except those of waits */
	size_t cell_count, cell_room;
	struct fxt_spill waited; /* struct fxt_cell_of_time of waits, in any number */
	/* inside */
	struct fxt_index index;
	uint64_t left;    /* the time before this is not accounted for yet */
	uint64_t stretch; /* of the timeline, around `left`; UINT64_MAX: not looked up yet */
	uint64_t fault;   /* the first one behind `left`; valid once `stretch` is */
};

struct fxt_accounts {
	const struct fxt_scan *scan;
	const struct fxt_timeline *timeline;
	const struct fxt_faults *faults;
	struct fxt_waits *waits;
	struct fxt_paths paths;
	struct fxt_account *items;
	size_t count, room;
	/* inside */
	size_t done;                 /* number of accounts that are complete */
	struct fxt_call_time *times; /* of the calls; by their begin, and disjoint, once
	                                they are walked */
	size_t time_count, time_room;
	struct fxt_span_of_accounts *of_thread;
	uint32_t *order;
};

void fxt_accounts_init(struct fxt_accounts *a, const struct fxt_scan *scan,
        const struct fxt_timeline *timeline, const struct fxt_faults *faults, struct fxt_waits *waits);
void fxt_accounts_free(struct fxt_accounts *a);

/* Requests the account of a call, or of a stretch of a thread's time that lies within a
 * requested call. Returns its index in `items`. */
size_t fxt_accounts_add_call(struct fxt_accounts *a, const struct fxt_slice *call);
size_t fxt_accounts_add_stretch(struct fxt_accounts *a, uint32_t thread, uint64_t start, uint64_t end);

/* Makes the accounts requested since the last time, by a walk over the time of each call.
 * The walk also notes the paths of waits and releases. The scan's filter hides nothing from
 * it. Calls that overlap share a walk; the time between disjoint calls is not read. Returns
 * false if not all of the file could be read again. */
bool fxt_accounts_walk(struct fxt_accounts *a);

#endif
