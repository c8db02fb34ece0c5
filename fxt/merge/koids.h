/*
 * Maps the numbers of processes and threads of several traces. If two traces have the same
 * number, the later trace's gets a new one, in the same way as the recorder renumbers what
 * the kernel has used again (number + n * 2^22).
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
	bool is_own; /* recorded in the trace; otherwise only mentioned, such as the
	                sender of a signal */
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
	struct fxt_merge_koids next; /* by a number of the kernel: the next number for a
	                                reuse of it */
};

/* Adds a number that a trace has; 0 is ignored. */
void fxt_merge_koids_add(struct fxt_merge_koids *koids, uint64_t koid, bool is_own);

/* As above, for a flow id or an asynchronous slice's id. */
void fxt_merge_koids_add_flow(struct fxt_merge_koids *koids, uint64_t flow);

/* Gives new numbers to those that `used` already has, and adds all to `used`. A number
 * that is only mentioned stays if both traces have the same pid namespace
 * (is_same_space): it means the process that the other trace recorded. */
void fxt_merge_koids_settle(struct fxt_merge_koids *koids, struct fxt_merge_used *used, bool is_same_space);

/* The new value of a number. */
uint64_t fxt_merge_koid(const struct fxt_merge_koids *koids, uint64_t koid);

/* As above, for a flow id or an asynchronous slice's id. */
uint64_t fxt_merge_flow(const struct fxt_merge_koids *koids, uint64_t flow);

void fxt_merge_koids_free(struct fxt_merge_koids *koids);
void fxt_merge_used_free(struct fxt_merge_used *used);

#endif
