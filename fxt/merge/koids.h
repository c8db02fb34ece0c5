/*
 * The numbers of processes and threads of several traces: where two traces have the same, the later trace's
 * becomes another one, as the recorder gives numbers that the kernel uses again (number + n * 2^22).
 *
 * Ids of arrows and of asynchronous slices have the number of the process that began them in their upper half
 * (agent/hook/events.h). Other producers count theirs from 1: the upper half of such ids is settled as if it
 * were a process.
 */
#ifndef FXT_FXT_MERGE_KOIDS_H
#define FXT_FXT_MERGE_KOIDS_H

#include <stdbool.h>
#include "reader/trace/index.h"

struct fxt_merge_koid {
	uint64_t koid, becomes;
	bool is_own; /* recorded in the trace; else only mentioned, as who sent a signal */
};

/* Those of a trace. All zeros: none. */
struct fxt_merge_koids {
	struct fxt_merge_koid *items;
	size_t count, room;
	struct fxt_index index;
	bool has_changes;
};

/* What traces that are settled have. All zeros: nothing. */
struct fxt_merge_used {
	struct fxt_merge_koids koids;
	struct fxt_merge_koids next; /* by a number of the kernel, what one that it used again may become */
};

/* Adds one that a trace has; 0 is nobody. */
void fxt_merge_koids_add(struct fxt_merge_koids *koids, uint64_t koid, bool is_own);

/* The same of an arrow's id, or of an asynchronous slice's. */
void fxt_merge_koids_add_flow(struct fxt_merge_koids *koids, uint64_t flow);

/* Changes those that `used` has, and adds all to that. What is only mentioned stays where both traces count
 * processes alike (is_same_space): it is who the other trace recorded. */
void fxt_merge_koids_settle(struct fxt_merge_koids *koids, struct fxt_merge_used *used, bool is_same_space);

/* What a number has become. */
uint64_t fxt_merge_koid(const struct fxt_merge_koids *koids, uint64_t koid);

/* The same of an arrow's id, or of an asynchronous slice's. */
uint64_t fxt_merge_flow(const struct fxt_merge_koids *koids, uint64_t flow);

void fxt_merge_koids_free(struct fxt_merge_koids *koids);
void fxt_merge_used_free(struct fxt_merge_used *used);

#endif
