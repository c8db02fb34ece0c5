/*
 * Plays the history of a heap while the archive is read. Events wait in a window and leave
 * it in the order of their times. A free then finds the live block at its address, and the
 * sums of processes and paths are updated. A path's sums at the peak are noted when the
 * path changes for the first time after it.
 */
#ifndef FXT_READER_HEAP_PLAY_H
#define FXT_READER_HEAP_PLAY_H

#include "heap.h"
#include "heap_window.h"

/* Takes the next event of the archive. Sets out_of_order if the window was too narrow. */
void fxt_heap_take(struct fxt_heap *heap, struct fxt_heap_event *event);

/* Plays the events that still wait, and completes the sums. */
void fxt_heap_finish(struct fxt_heap *heap);

/* Frees the memory for playing a process. */
void fxt_heap_end(const struct fxt_heap *heap, struct fxt_heap_process *process);

#endif
