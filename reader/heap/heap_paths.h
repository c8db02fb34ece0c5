/*
 * The call paths of a heap by what they cost: bytes and blocks at the peak, leaked, allocated or temporary.
 */
#ifndef FXT_READER_HEAP_PATHS_H
#define FXT_READER_HEAP_PATHS_H

#include "heap.h"

enum fxt_heap_cost {
	FXT_HEAP_PEAK,
	FXT_HEAP_LEAKED,
	FXT_HEAP_ALLOCATED,
	FXT_HEAP_TEMPORARY,
	FXT_HEAP_COSTS,
	FXT_HEAP_COST_UNSET = FXT_HEAP_COSTS
};

/* FXT_HEAP_COST_UNSET: no cost is called so. */
enum fxt_heap_cost fxt_heap_cost_named(const char *name);

/* What a node's own path cost. */
struct fxt_heap_sums fxt_heap_cost(const struct fxt_heap_node *node, enum fxt_heap_cost cost);
struct fxt_heap_sums fxt_heap_total(const struct fxt_heap_process *process, enum fxt_heap_cost cost);
const char *fxt_heap_cost_name(enum fxt_heap_cost cost);

/*
 * Makes one process of all that run programs of one name, with the sums of their heaps, and of their images
 * as long as these have that name: what is in their place has no events. Peaks are added up, although each
 * may have been at another time. What the archive is read again for (fxt_heap_play()) is then to be had no
 * more.
 */
void fxt_heap_join_programs(struct fxt_heap *heap);

/* The processes that have events, in the order to show them in: once joined by their peaks, the highest
 * first. The result is to be freed. */
uint32_t *fxt_heap_list(const struct fxt_heap *heap, size_t *count);

#define FXT_HEAP_DEPTH 4096

/*
 * The names of the functions of a path, outermost first, as ids of strings; their number. A path of more than
 * `depth` functions, at most FXT_HEAP_DEPTH, has the outermost and the innermost ones, and
 * FXT_HEAP_LEFT_OUT in between; so has a circle of parents. The result holds until the next call.
 */
size_t fxt_heap_path(const struct fxt_heap *heap, uint32_t node, size_t depth, const uint32_t **names);

/* The same as a text: "main;parse;keep". It holds until the next call, or that of fxt_heap_each_path(). */
struct fxt_span fxt_heap_folded(const struct fxt_heap *heap, uint32_t node);

/* Calls `line` for every path of a process that cost something, paths of equal functions as one, most bytes
 * first. With by_function the path is the innermost function alone. */
void fxt_heap_each_path(struct fxt_heap *heap, uint32_t process, enum fxt_heap_cost cost, bool by_function,
        void (*line)(void *context, struct fxt_span folded, struct fxt_heap_sums sums), void *context);

#endif
