/*
 * fxt heap --diff: what call paths cost in one trace and in another, processes of a trace together.
 */
#ifndef FXT_FXT_HEAP_DIFF_H
#define FXT_FXT_HEAP_DIFF_H

#include "heap_view.h"

/* Takes over what the paths of a trace cost; first of the one from before. */
void fxt_heap_diff_add(struct fxt_heap *heap, bool is_before, const struct fxt_heap_wanted *wanted);

/* A table for each cost, what changed most first. What is not from before is forgotten: another trace can be
 * taken over then. */
void fxt_heap_diff_print(const struct fxt_heap_wanted *wanted);

void fxt_heap_diff_free(void);

#endif
