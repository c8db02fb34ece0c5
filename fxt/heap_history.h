/*
 * fxt heap --pointer: the history of an address.
 */
#ifndef FXT_FXT_HEAP_HISTORY_H
#define FXT_FXT_HEAP_HISTORY_H

#include "heap_view.h"

/* Prints a table of the allocations and frees of all blocks that contained the wanted
 * pointer, in the order of time. */
void fxt_heap_print_history(
        const struct fxt_heap *heap, const char *name, const struct fxt_heap_wanted *wanted);

#endif
