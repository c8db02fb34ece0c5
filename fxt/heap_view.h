/*
 * What fxt heap prints: tables for people, folded stacks for flame graphs, JSON for programs.
 */
#ifndef FXT_FXT_HEAP_VIEW_H
#define FXT_FXT_HEAP_VIEW_H

#include "reader/heap.h"

enum fxt_heap_cost {
	FXT_HEAP_PEAK,
	FXT_HEAP_LEAKED,
	FXT_HEAP_ALLOCATED,
	FXT_HEAP_TEMPORARY,
	FXT_HEAP_COSTS,
	FXT_HEAP_COST_UNSET = FXT_HEAP_COSTS
};

struct fxt_heap_wanted {
	enum fxt_heap_cost cost;
	uint64_t limit;
	bool by_function, histogram, timeline, pointers, folded, json;
};

/* FXT_HEAP_COST_UNSET: no cost is called so. */
enum fxt_heap_cost fxt_heap_cost_named(const char *name);

void fxt_heap_print(struct fxt_heap *heap, const char *name, const struct fxt_heap_wanted *wanted);

/* One line a path, outermost function first: "a;b;c 4096", in bytes. A cost unset is that of the peak. */
void fxt_heap_print_folded(struct fxt_heap *heap, enum fxt_heap_cost cost);

void fxt_heap_print_json(struct fxt_heap *heap, const char *name);

/* ---- shared by the views ---- */

/* What a node's own path cost. */
struct fxt_heap_sums fxt_heap_cost(const struct fxt_heap_node *node, enum fxt_heap_cost cost);
struct fxt_heap_sums fxt_heap_total(const struct fxt_heap_process *process, enum fxt_heap_cost cost);
const char *fxt_heap_cost_name(enum fxt_heap_cost cost);

/*
 * The nodes of a path, outermost first, without the root; their number. More than the format's deepest
 * sensible path, or a circle of parents, is cut off at its outer end. The result holds until the next call.
 */
size_t fxt_heap_path(const struct fxt_heap *heap, uint32_t node, const uint32_t **path);

/* Calls `line` for every path of a process that cost something, paths of equal functions as one, most bytes
 * first. With by_function the path is the innermost function alone. */
void fxt_heap_each_path(struct fxt_heap *heap, uint32_t process, enum fxt_heap_cost cost, bool by_function,
        void (*line)(void *context, struct fxt_span folded, struct fxt_heap_sums sums), void *context);

#endif
