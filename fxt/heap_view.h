/*
 * The output of fxt heap for people: tables, and folded stacks for flame graphs.
 */
#ifndef FXT_FXT_HEAP_VIEW_H
#define FXT_FXT_HEAP_VIEW_H

#include "print.h"
#include "reader/heap/heap_paths.h"

enum { FXT_HEAP_STEPS = 50 }; /* steps of a timeline */

struct fxt_heap_wanted {
	enum fxt_heap_cost cost;
	uint64_t limit;
	uint64_t at_ns;   /* shows the heap at this time since the trace's start;
	                     UINT64_MAX: at its end */
	uint64_t pointer; /* shows all that happened to this address; 0: none */
	/* How the output is divided: a section for each process, or for each program.
	 * FXT_HEAP_BY_EITHER: by process, or by program if there are more than `limit`
	 * processes. */
	enum { FXT_HEAP_BY_EITHER, FXT_HEAP_BY_PROCESS, FXT_HEAP_BY_PROGRAM } sections;
	bool by_function, histogram, timeline, pointers, folded;
	enum fxt_format format;
};

/* True if the paths of a cost are wanted. The default, if no cost is named, is the peak
 * and the leaks. */
bool fxt_heap_wants(const struct fxt_heap_wanted *wanted, enum fxt_heap_cost cost);

/* Prints the tables of a trace, and everything else that is wanted. */
void fxt_heap_print(struct fxt_heap *heap, const char *name, const struct fxt_heap_wanted *wanted);

/* The title of a cost. At a time before the end, blocks that are not freed are live
 * rather than leaked. */
const char *fxt_heap_cost_title(const struct fxt_heap_wanted *wanted, enum fxt_heap_cost cost);

/* Prints a note with the number of lost records, if there are any. `name` is the trace's
 * name if there are several traces, else NULL. */
void fxt_heap_print_lost(const char *name, uint64_t records);

/* Returns the mentions of a process's pointers, the most frequent first. The caller
 * frees the array. */
struct fxt_heap_mention *fxt_heap_sort_mentions(const struct fxt_heap *heap, uint32_t process, size_t *count);

/* Prints one line for each path, outermost function first: "a;b;c 4096", in bytes. If no
 * cost is set, the peak is used. */
void fxt_heap_print_folded(struct fxt_heap *heap, enum fxt_heap_cost cost);

#endif
