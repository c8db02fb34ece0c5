/*
 * What fxt heap prints for people: tables; and folded stacks for flame graphs.
 */
#ifndef FXT_FXT_HEAP_VIEW_H
#define FXT_FXT_HEAP_VIEW_H

#include "print.h"
#include "reader/heap/heap_paths.h"

enum { FXT_HEAP_STEPS = 50 }; /* of a timeline */

struct fxt_heap_wanted {
	enum fxt_heap_cost cost;
	uint64_t limit;
	uint64_t at_ns;   /* since the trace's start: the heap as it was then; UINT64_MAX: at its end */
	uint64_t pointer; /* all that happened to it; 0: no pointer is wanted */
	/* Sections of a trace: one a process; a program; or, where there are more than `limit` processes, a
	 * program. */
	enum { FXT_HEAP_BY_EITHER, FXT_HEAP_BY_PROCESS, FXT_HEAP_BY_PROGRAM } sections;
	bool by_function, histogram, timeline, pointers, folded;
	enum fxt_format format;
};

/* Whether the paths of a cost are wanted: without any that is named those of the peak, and what leaked. */
bool fxt_heap_wants(const struct fxt_heap_wanted *wanted, enum fxt_heap_cost cost);

/* The tables of a trace, and what else is wanted beside them. */
void fxt_heap_print(struct fxt_heap *heap, const char *name, const struct fxt_heap_wanted *wanted);

/* At a moment before the end what is not freed lives. */
const char *fxt_heap_cost_title(const struct fxt_heap_wanted *wanted, enum fxt_heap_cost cost);

/* A note of how many records were lost, if there were any; `name` is that of the trace if there are several,
 * else NULL. */
void fxt_heap_print_lost(const char *name, uint64_t records);

/* The mentions of a process's pointers, the most frequent first; to be freed. */
struct fxt_heap_mention *fxt_heap_sort_mentions(const struct fxt_heap *heap, uint32_t process, size_t *count);

/* One line a path, outermost function first: "a;b;c 4096", in bytes. A cost unset is that of the peak. */
void fxt_heap_print_folded(struct fxt_heap *heap, enum fxt_heap_cost cost);

#endif
