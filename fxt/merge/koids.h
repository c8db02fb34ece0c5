/*
 * The numbers of processes and threads of several traces: where two traces have the same, the later trace's
 * becomes another one, as the recorder gives numbers that the kernel uses again (number + n * 2^22).
 */
#ifndef FXT_FXT_MERGE_KOIDS_H
#define FXT_FXT_MERGE_KOIDS_H

#include <stdbool.h>
#include "reader/index.h"

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

/* Adds one that a trace has; 0 is nobody. */
void fxt_merge_koids_add(struct fxt_merge_koids *koids, uint64_t koid, bool is_own);

/* Changes those that `used` has, and adds all to that. What is only mentioned stays where both traces count
 * processes alike (is_same_space): it is who the other trace recorded. */
void fxt_merge_koids_settle(struct fxt_merge_koids *koids, struct fxt_merge_koids *used, bool is_same_space);

/* What a number has become. */
uint64_t fxt_merge_koid(const struct fxt_merge_koids *koids, uint64_t koid);

/* The same of an arrow's, whose upper half is the number of the process that began it (agent/events.h). */
uint64_t fxt_merge_flow(const struct fxt_merge_koids *koids, uint64_t flow);

void fxt_merge_koids_free(struct fxt_merge_koids *koids);

#endif
