/*
 * Explains why a call took as long as it did. It divides the call's account (account.h)
 * into a few parts, beside those of a call that took the usual time. For each wait it
 * explains what the other thread did during it, through as many threads as are requested.
 *
 *   handle                                     81.8 ms
 *     waited for index_lock, held by "keeper"    50.2 ms
 *       blocked in write_all                       48.0 ms     what "keeper" did until it released the lock
 *       running in rebuild_index                    2.2 ms
 *     running in parse                           31.6 ms
 *
 * The parts of a call sum to it, to the nanosecond.
 */
#ifndef FXT_READER_CAUSES_H
#define FXT_READER_CAUSES_H

#include "account.h"

enum fxt_part_kind {
	FXT_PART_RAN,       /* in its callee `name`; FXT_NOTHING: in its own code */
	FXT_PART_ALLOCATED, /* ran in `name`, a function of an allocator */
	FXT_PART_PREEMPTED, /* by thread `koid`; 0: by something that is not in the trace */
	FXT_PART_WAITED,    /* by function `name`, for `object` */
	FXT_PART_WOKEN,     /* the same, after the release, not on a CPU again */
	FXT_PART_SAMPLED,   /* in system call `name`, on file `symbol` or `object`, by a sample */
	FXT_PART_BLOCKED,   /* in `name`, the innermost function, for an unknown reason */
	FXT_PART_TRACER,    /* `name` says what the tracer did */
	FXT_PART_UNKNOWN,   /* like RAN, but whether it ran is unknown */
	FXT_PART_OTHERS,    /* several, reported as one (fxt_causes_report()) */
};

struct fxt_parts {
	struct fxt_part *items; /* longest first */
	size_t count, room;
};

struct fxt_part {
	enum fxt_part_kind kind;
	enum fxt_wait_kind wait_kind;
	uint32_t name;   /* id of a string */
	uint32_t symbol; /* of the object waited for; FXT_NOTHING: it has none */
	uint32_t file;   /* of the descriptor waited for; FXT_NOTHING: not known, or there are
	                    several */
	bool has_file;   /* the file of one of the waits is known */
	uint32_t life;   /* how many locks ended at the object's address before it */
	uint32_t holder; /* id of the thread that ended the wait; FXT_NOTHING: unknown */
	uint32_t path;   /* call path of that release, in fxt_waits.paths */
	uint64_t koid;   /* WAITED: of the holder that did not release; 0: unknown */
	uint64_t object;
	uint64_t ns;
	uint64_t calls;                               /* RAN: calls of `name`, directly
	                                                 inside */
	uint64_t faults;                              /* page faults in the whole part */
	uint64_t usual_ns, usual_calls, usual_faults; /* the same for the usual call */
	size_t others;                                /* OTHERS: their number */
	/* WAITED: the holder's activity until it released, by innermost function; it may
	 * have begun before our thread was off its CPU. RAN: time in `name`, by innermost
	 * function. */
	struct fxt_parts inside;
};

struct fxt_causes {
	struct fxt_accounts accounts;
	struct fxt_parts *calls; /* by requested call */
	uint32_t *names;         /* by requested call: its function */
	size_t count;
};

/*
 * Explains calls, all at once. `usual` is the call to compare with, or NULL. `waits`,
 * `timeline` and `faults` are of the same scan. The depth is the number of threads to
 * follow from waiter to holder, 0 for none. Returns false if not all of the file could be
 * read again.
 */
bool fxt_causes_read(struct fxt_causes *causes, const struct fxt_scan *scan,
        const struct fxt_timeline *timeline, const struct fxt_faults *faults, struct fxt_waits *waits,
        const struct fxt_slice *const *calls, size_t count, const struct fxt_slice *usual, unsigned depth);

void fxt_causes_free(struct fxt_causes *causes);

/* The part that makes most of the difference between a call and the usual one; NULL if no
 * part is longer than usual. */
const struct fxt_part *fxt_causes_main(const struct fxt_parts *parts);

/* Visits the parts of a call that took `whole` ns: its own parts, each followed by the
 * important parts inside it, one level deeper. At most `most` parts are visited. With
 * `folds`, a part of the call's own is small if it takes less than a 200th of `whole`,
 * both in this call and in the usual one. Small parts, except for the longest part of all,
 * are visited as one part behind the others, together with those that `most` has no room
 * for. The visited parts still sum to the call. */
typedef void fxt_part_visit(void *context, const struct fxt_part *part, unsigned level);
void fxt_causes_report(const struct fxt_parts *parts, uint64_t whole, uint64_t most, bool folds,
        fxt_part_visit *visit, void *context);

#endif
