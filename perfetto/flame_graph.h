/*
 * The call paths of a process's heap by function name. In the trace a path has a node for
 * each of its call sites and address ranges; here paths of equal names are merged into one
 * stack with the sums of all.
 */
#ifndef FXT_PERFETTO_FLAME_GRAPH_H
#define FXT_PERFETTO_FLAME_GRAPH_H

#include "reader/heap/heap.h"

#define FXT_FLAME_DEPTH 1024 /* a deeper path lacks functions in its middle */

/* Returns the name to show for a function, given its text in the archive and its provider.
 * The result holds until the next call. */
typedef struct fxt_span fxt_heap_name(void *context, uint32_t provider, struct fxt_span text);

struct fxt_flame_stack {
	uint32_t parent; /* the caller's stack, which comes before it; stack 0 is empty */
	uint32_t function;
	struct fxt_heap_sums allocated, allocated_at_peak, at_peak; /* as in a node */
	struct fxt_heap_sums left;                                  /* at the end: leaked and kept */
};

struct fxt_flame_graph {
	struct fxt_span *functions; /* names by function number */
	struct fxt_flame_stack *stacks;
	size_t function_count, stack_count;

	size_t function_room, stack_room;
	struct fxt_index function_index, stack_index;
};

/* Reads all nodes of the process that allocated something. The names are copies. */
void fxt_flame_graph_read(struct fxt_flame_graph *stacks, const struct fxt_heap *heap, uint32_t process,
        fxt_heap_name *name, void *context);
void fxt_flame_graph_free(struct fxt_flame_graph *stacks);

#endif
