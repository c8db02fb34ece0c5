/*
 * Finds the block that a pointer points into, at any of its bytes: for pointers among the
 * arguments of events, such as the lock that a thread waits for.
 */
#ifndef FXT_READER_HEAP_POINTERS_H
#define FXT_READER_HEAP_POINTERS_H

#include "heap_play.h"

/* Called when a block is allocated, or ends. */
void fxt_heap_remember(struct fxt_heap_process *process, uint64_t pointer, uint64_t size, uint32_t node);
void fxt_heap_forget(struct fxt_heap_process *process, uint64_t pointer, uint64_t size);
void fxt_heap_forget_all(struct fxt_heap_process *process);

/* Counts an event in heap->mentions, if its pointer points into a live block. */
void fxt_heap_mention(struct fxt_heap *heap, const struct fxt_heap_event *event);

#endif
