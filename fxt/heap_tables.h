/*
 * What fxt heap prints with --csv: a table of the processes, or of the programs, with their sums, then those
 * of each, as for people.
 */
#ifndef FXT_FXT_HEAP_TABLES_H
#define FXT_FXT_HEAP_TABLES_H

#include "heap_view.h"

void fxt_heap_print_tables(struct fxt_heap *heap, const char *name, const struct fxt_heap_wanted *wanted);

#endif
