/*
 * Which block a pointer is in, its first byte or any other: for pointers among the arguments of events, such
 * as the lock that a thread waits for.
 */
#ifndef FXT_READER_HEAP_POINTERS_H
#define FXT_READER_HEAP_POINTERS_H

#include "heap_play.h"

/* A block begins to live, or ends. */
void fxt_heap_remember(struct fxt_heap_process *process, uint64_t pointer, uint64_t size, uint32_t node);
void fxt_heap_forget(struct fxt_heap_process *process, uint64_t pointer, uint64_t size);
void fxt_heap_forget_all(struct fxt_heap_process *process);

/* Counts the event among heap->mentions, if its pointer is in a block that lives. */
void fxt_heap_mention(struct fxt_heap *heap, const struct fxt_heap_event *event);

#endif
