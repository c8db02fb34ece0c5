/*
 * fxt heap --json: what the tables tell, for programs.
 */
#ifndef FXT_FXT_HEAP_JSON_H
#define FXT_FXT_HEAP_JSON_H

#include "reader/heap/heap_paths.h"

/* Prints one object, whose "processes" are those with a heap; paths are folded. */
void fxt_heap_print_json(struct fxt_heap *heap, const char *name, bool by_program);

#endif
