/*
 * fxt heap --pointer: what happened to an address.
 */
#ifndef FXT_FXT_HEAP_HISTORY_H
#define FXT_FXT_HEAP_HISTORY_H

#include "heap_view.h"

/* A table of the allocations and frees of all blocks that the wanted pointer led into, in the order of time.
 */
void fxt_heap_print_history(
        const struct fxt_heap *heap, const char *name, const struct fxt_heap_wanted *wanted);

#endif
