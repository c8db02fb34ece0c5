/*
 * The call paths of a heap by their cost: bytes and blocks at the peak, leaked, kept by the
 * C library, allocated or temporary.
 */
#ifndef FXT_READER_HEAP_PATHS_H
#define FXT_READER_HEAP_PATHS_H

#include "heap.h"

enum fxt_heap_cost {
	FXT_HEAP_PEAK,
	FXT_HEAP_LEAKED,
	FXT_HEAP_KEPT, /* never freed, by the C library */
	FXT_HEAP_ALLOCATED,
	FXT_HEAP_TEMPORARY,
	FXT_HEAP_COSTS,
	FXT_HEAP_COST_UNSET = FXT_HEAP_COSTS
};

/* Returns FXT_HEAP_COST_UNSET if no cost has that name. */
enum fxt_heap_cost fxt_heap_cost_named(const char *name);

/* The cost of a node's own path, without its children. */
struct fxt_heap_sums fxt_heap_cost(const struct fxt_heap_node *node, enum fxt_heap_cost cost);
struct fxt_heap_sums fxt_heap_total(const struct fxt_heap_process *process, enum fxt_heap_cost cost);
const char *fxt_heap_cost_name(enum fxt_heap_cost cost);

/*
 * Joins all processes that run programs of the same name into one process, with the sums of
 * their heaps, and of their images with that name. Joined processes have no events any
 * more. Peaks are added up, although they may have been at different times. Functions that
 * read the archive again (fxt_heap_play()) cannot be used afterwards.
 */
void fxt_heap_join_programs(struct fxt_heap *heap);

/* Lists the processes that have events, in the order to show them: joined ones by their
 * peaks, the highest first. The caller frees the result. */
uint32_t *fxt_heap_list(const struct fxt_heap *heap, size_t *count);

#define FXT_HEAP_DEPTH 4096

/*
 * Gets the names of the functions of a path, outermost first, as ids of strings, and
 * returns their number. A path of more than `depth` functions, at most FXT_HEAP_DEPTH, is
 * given by its outermost and innermost ones, with FXT_HEAP_LEFT_OUT in between. A circle of
 * parents is treated the same way. The result is valid until the next call.
 */
size_t fxt_heap_path(const struct fxt_heap *heap, uint32_t node, size_t depth, const uint32_t **names);

/* The same as a text: "main;parse;keep". It is valid until the next call of this function
 * or of fxt_heap_each_path(). */
struct fxt_span fxt_heap_folded(const struct fxt_heap *heap, uint32_t node);

/* Calls `line` for every path of a process with a cost, most bytes first. Paths of equal
 * functions are one path. With by_function, the path is the innermost function alone. */
void fxt_heap_each_path(struct fxt_heap *heap, uint32_t process, enum fxt_heap_cost cost, bool by_function,
        void (*line)(void *context, struct fxt_span folded, struct fxt_heap_sums sums), void *context);

#endif
