/*
 * fxt heap --json: the contents of the tables, for programs.
 */
#ifndef FXT_FXT_HEAP_JSON_H
#define FXT_FXT_HEAP_JSON_H

#include "reader/heap/heap_paths.h"

/* Prints one object with the processes that have a heap as its "processes". Paths are
 * folded. */
void fxt_heap_print_json(struct fxt_heap *heap, const char *name, bool by_program);

#endif
