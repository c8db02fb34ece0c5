/*
 * Tells the blocks that the C library keeps for itself from those that the program leaked.
 * Memory leak checkers call the former reachable: the buffer of stdout, the data of threads
 * and modules, locales, time zones, users.
 *
 * The functions of the library that a call path ends in decide. All memory of the loader is
 * its own. In the C library a block belongs to the program unless a function on the path is
 * known to keep what is allocated below it: strdup(), getline(), fopen() and opendir() hand
 * memory to their caller. An unknown function may hide no leak. Blocks that the C++
 * library allocates in its own initialisers are its own, too.
 */
#ifndef FXT_READER_LIBRARY_BLOCKS_H
#define FXT_READER_LIBRARY_BLOCKS_H

#include "heap.h"

/* Moves such blocks from `leaked` to `kept`, in nodes and processes. Called once the heap
 * is read and its tables are settled, before its nodes are. */
void fxt_heap_set_kept_apart(struct fxt_heap *heap);

#endif
