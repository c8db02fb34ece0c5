/*
 * Why a call took as long as it did: its account (account.h) as a few parts, beside those of a call that took
 * the usual time, and what those did meanwhile whom it waited for, through as many threads as there are
 * arrows between.
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
	FXT_PART_RAN,       /* in `name`, which it called; FXT_NOTHING: in code of its own */
	FXT_PART_ALLOCATED, /* it ran in `name`, a function of an allocator */
	FXT_PART_PREEMPTED, /* by thread `koid`; 0: something that is not in the trace */
	FXT_PART_WAITED,    /* by function `name`, for `object` */
	FXT_PART_WOKEN,     /* the same, let go on but not on a CPU again */
	FXT_PART_BLOCKED,   /* in `name`, the innermost; for what is unknown */
	FXT_PART_TRACER,    /* `name` says what the tracer did */
	FXT_PART_UNKNOWN,   /* the same as RAN, but whether it ran is unknown */
	FXT_PART_OTHERS,    /* several that are told as one (fxt_causes_tell()) */
};

struct fxt_parts {
	struct fxt_part *items; /* the longest first */
	size_t count, room;
};

struct fxt_part {
	enum fxt_part_kind kind;
	enum fxt_wait_kind wait_kind;
	uint32_t name;   /* id of a string */
	uint32_t symbol; /* of what was waited for; FXT_NOTHING: it has none */
	uint32_t holder; /* id of the thread that let it go on; FXT_NOTHING: unknown */
	uint32_t path;   /* in which that thread did so, in fxt_waits.paths */
	uint64_t koid, object;
	uint64_t ns;
	uint64_t calls;                               /* of RAN: of `name`, directly inside */
	uint64_t faults;                              /* page faults, in all of it */
	uint64_t usual_ns, usual_calls, usual_faults; /* the same of the usual call */
	size_t others;                                /* of OTHERS: how many they are */
	/* Of WAITED: what the holder did until it let go, by the innermost functions; that may have begun
	 * before our thread was off its CPU. Of RAN: what ran in `name`, the same way. */
	struct fxt_parts inside;
};

struct fxt_causes {
	struct fxt_accounts accounts;
	struct fxt_parts *calls; /* of each call that was asked for */
	uint32_t *names;         /* of the function that each call is of */
	size_t count;
};

/*
 * Explains calls, all at once. `usual` is the one to compare with, or NULL. `waits`, `timeline` and `faults`
 * are of the same scan. The depth is how many threads the arrows are followed through, 0 for none. Returns
 * false if not all of the file could be read again.
 */
bool fxt_causes_read(struct fxt_causes *causes, const struct fxt_scan *scan,
        const struct fxt_timeline *timeline, const struct fxt_faults *faults, struct fxt_waits *waits,
        const struct fxt_slice *const *calls, size_t count, const struct fxt_slice *usual, unsigned depth);

void fxt_causes_free(struct fxt_causes *causes);

/* Of the parts of a call the one that makes most of the difference to the usual one; NULL if no part is
 * longer than usual. */
const struct fxt_part *fxt_causes_main(const struct fxt_parts *parts);

/* The parts of a call that took `whole` ns, as they are told: those of its own, each followed by what matters
 * of what is inside of it, a level deeper; `most` of them at the most. With `folds`, those of its own that
 * have less than a 200th of it, and that of the usual call, are told as one behind the others, and so are
 * those that `most` has no room for: what is told still sums to the call. */
typedef void fxt_part_visit(void *context, const struct fxt_part *part, unsigned level);
void fxt_causes_tell(const struct fxt_parts *parts, uint64_t whole, uint64_t most, bool folds,
        fxt_part_visit *visit, void *context);

#endif
