/*
 * fxt heap --diff: compares the costs of call paths in two traces. All processes of a trace
 * are taken together.
 */
#ifndef FXT_FXT_HEAP_DIFF_H
#define FXT_FXT_HEAP_DIFF_H

#include "heap_view.h"

/* Adds the costs of a trace's paths. The trace from before comes first. */
void fxt_heap_diff_add(struct fxt_heap *heap, bool is_before, const struct fxt_heap_wanted *wanted);

/* Prints a table for each cost, the largest change first. Then forgets the costs of the
 * trace from after, so that another one can be added. */
void fxt_heap_diff_print(const struct fxt_heap_wanted *wanted);

void fxt_heap_diff_free(void);

#endif
