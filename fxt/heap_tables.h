/*
 * The output of fxt heap --csv: a table of the processes or programs with their sums, then
 * the tables of each, with the same contents as for people.
 */
#ifndef FXT_FXT_HEAP_TABLES_H
#define FXT_FXT_HEAP_TABLES_H

#include "heap_view.h"

void fxt_heap_print_tables(struct fxt_heap *heap, const char *name, const struct fxt_heap_wanted *wanted);

#endif
