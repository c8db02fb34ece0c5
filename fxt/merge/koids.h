/*
 * Makes the koids of processes and threads unique among several traces. If two traces have
 * the same koid, the later trace's gets a new value: number + n * 2^22. The manager does
 * the same with numbers that the kernel has reused.
 *
 * Ids of flows and of asynchronous slices have the number of the process that began them in
 * their upper half (agent/hook/events.h). Other producers count theirs from 1: the upper
 * half of such ids is mapped as if it were a process.
 */
#ifndef FXT_FXT_MERGE_KOIDS_H
#define FXT_FXT_MERGE_KOIDS_H

#include <stdbool.h>
#include "reader/trace/index.h"

struct fxt_merge_koid {
	uint64_t koid, becomes;
	bool is_own; /* the trace describes it; false: the trace only mentions it, such as
	                the sender of a signal */
};

/* The numbers of one trace. All zeros: none. */
struct fxt_merge_koids {
	struct fxt_merge_koid *items;
	size_t count, room;
	struct fxt_index index;
	bool has_changes;
};

/* The numbers of all settled traces. All zeros: none. */
struct fxt_merge_used {
	struct fxt_merge_koids koids;
	struct fxt_merge_koids next; /* by the kernel's number, plus REUSED: `becomes` is
	                                the next koid to try for it */
};

/* Adds a koid that a trace has; `is_own` as above. Ignores 0. */
void fxt_merge_koids_add(struct fxt_merge_koids *koids, uint64_t koid, bool is_own);

/* As above, for a flow id or an asynchronous slice's id. */
void fxt_merge_koids_add_flow(struct fxt_merge_koids *koids, uint64_t flow);

/* Gives new values to koids that `used` already has, and adds all to `used`. is_same_space:
 * an earlier trace has the same pid namespace. Then a koid that is only mentioned stays,
 * because it means the process that the other trace describes. */
void fxt_merge_koids_settle(struct fxt_merge_koids *koids, struct fxt_merge_used *used, bool is_same_space);

/* Two traces are of one session, and a koid means the same in both: adds the later trace's
 * to the earlier one's, before these are settled, and gives it their new values
 * afterwards. */
void fxt_merge_koids_join(struct fxt_merge_koids *earlier, const struct fxt_merge_koids *later);
void fxt_merge_koids_follow(struct fxt_merge_koids *later, const struct fxt_merge_koids *earlier);

/* Returns the new value of a koid. */
uint64_t fxt_merge_koid(const struct fxt_merge_koids *koids, uint64_t koid);

/* As above, for a flow id or an asynchronous slice's id. */
uint64_t fxt_merge_flow(const struct fxt_merge_koids *koids, uint64_t flow);

void fxt_merge_koids_free(struct fxt_merge_koids *koids);
void fxt_merge_used_free(struct fxt_merge_used *used);

#endif
