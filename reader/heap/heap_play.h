/*
 * The history of a heap, played as the archive is read: events wait in a window, from which they leave in the
 * order of their times; a free then finds the block that lives at its address, and the sums of processes and
 * paths follow. What a path had at the peak is noted when the path changes for the first time after it.
 */
#ifndef FXT_READER_HEAP_PLAY_H
#define FXT_READER_HEAP_PLAY_H

#include "heap.h"
#include "heap_window.h"

/* The next event of the archive. Sets out_of_order when the window was too narrow. */
void fxt_heap_take(struct fxt_heap *heap, struct fxt_heap_event *event);

/* There are no more events: plays those that wait, and completes the sums. */
void fxt_heap_finish(struct fxt_heap *heap);

/* Frees what playing a process took. */
void fxt_heap_end(const struct fxt_heap *heap, struct fxt_heap_process *process);

#endif
