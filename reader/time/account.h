/*
 * What became of a stretch of a thread's time, as parts that sum to it to the nanosecond: a moment is in the
 * innermost slice of the thread (walk.h), the thread ran or did not (timeline.h), and if it waited, somebody
 * held what it waited for (waits.h).
 *
 *   the call      handle                                                                        |
 *   its callees     parse ...........  look_up ........................................  parse .|
 *   waits                                 pthread_mutex_lock, held by B, then by C ....
 *   the thread    ran .... preempted . ran  blocked .................................. ran .....|
 *   parts          RAN     PREEMPTED   RAN     WAITED (B's release)  WAITED (C's)        RAN
 *
 * A cell is one such part: what was so, in which path of calls, and by whose doing. Whoever shows them adds
 * cells up. What the trace does not tell is a kind of its own.
 */
#ifndef FXT_READER_ACCOUNT_H
#define FXT_READER_ACCOUNT_H

#include "faults.h"
#include "timeline.h"
#include "waits.h"

enum fxt_cell_kind {
	FXT_CELL_RAN,
	FXT_CELL_PREEMPTED, /* it could have run; `who` is the koid of the thread that did on its CPU, 0 is
	                       none of the trace */
	FXT_CELL_WAITED,    /* in a wait; `who` is the release that ended that, plus 1, or 0: unknown */
	FXT_CELL_WOKEN,     /* the same, after the release: it was not on a CPU again yet */
	FXT_CELL_BLOCKED,   /* for what, the trace does not tell */
	FXT_CELL_TRACER,    /* the tracer's own wait, or records that were lost; `path` tells which */
	FXT_CELL_UNKNOWN,   /* in the path, but whether it ran is unknown */
};

struct fxt_cell_of_time {
	uint32_t path; /* of fxt_accounts.paths: the slices that it was in, from the thread's outermost one */
	enum fxt_cell_kind kind;
	uint64_t who;
	uint32_t wait; /* which, plus 1 */
	uint64_t ns;
	uint64_t calls;  /* begun at this very path; counted as RAN, or as UNKNOWN if no thread's doings are
	                    known */
	uint64_t faults; /* page faults in this very path; counted as calls are */
};

/* A stretch of time of a thread. */
struct fxt_account {
	uint32_t thread;     /* id in the tables */
	uint64_t start, end; /* ns */
	uint64_t offset;     /* of the record of the call that it is; 0: it is none */
	/* Out: */
	uint32_t path; /* of the call; of no call what the stretch begins in, as far as it lasts */
	struct fxt_cell_of_time *cells; /* but those of waits */
	size_t cell_count, cell_room;
	struct fxt_spill waited; /* struct fxt_cell_of_time, of waits: there may be any number of these */
	/* inside */
	struct fxt_index index;
	uint64_t left;    /* from here on it is accounted */
	uint64_t stretch; /* of the timeline, in which `left` is; UINT64_MAX: not looked for yet */
	uint64_t fault;   /* the first one behind `left`; of use once the stretch is */
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
	size_t done;                 /* the first so many are accounted for */
	struct fxt_call_time *times; /* of the calls, by their begin once they are walked; none overlap */
	size_t time_count, time_room;
	struct fxt_span_of_accounts *of_thread;
	uint32_t *order;
};

void fxt_accounts_init(struct fxt_accounts *a, const struct fxt_scan *scan,
        const struct fxt_timeline *timeline, const struct fxt_faults *faults, struct fxt_waits *waits);
void fxt_accounts_free(struct fxt_accounts *a);

/* Asks for the account of a call, or of a stretch of a thread's time, which lies within a call that was asked
 * for. Returns its place in the items. */
size_t fxt_accounts_add_call(struct fxt_accounts *a, const struct fxt_slice *call);
size_t fxt_accounts_add_stretch(struct fxt_accounts *a, uint32_t thread, uint64_t start, uint64_t end);

/* Accounts for all that was asked for since the last time, by a walk over the time of each call, in which it
 * also takes note of the paths of waits and releases; the scan's filter hides nothing of it. Calls that
 * overlap have one walk, and what lies between two that do not is not read. Returns false if not all could be
 * read again. */
bool fxt_accounts_walk(struct fxt_accounts *a);

#endif
