/*
 * The heap: every allocation is a userspace-object record (pointer; name = the function that allocates;
 * arguments size, path) and, right behind it, an instant "allocate" that carries the pointer; every free is
 * an instant "free" with the pointer. A resized block is freed and allocated. An allocation has its time
 * after the allocator returned, a free before it is called, so that what reuses an address comes later than
 * what it was freed by. Live bytes and objects are summed in the thread's slot; there a block counts with the
 * bytes that the allocator gave for it.
 *
 * An event that cannot be recorded is counted as lost, like a call. Nothing of this calls the allocator.
 */
#ifndef FXT_AGENT_HEAP_H
#define FXT_AGENT_HEAP_H

#include "self.h"
#include "callpath.h"

/* Headers of records and arguments, but for the thread's index and the function's. */
struct agent_heap {
	uint32_t mode;    /* enum fxt_heap_mode; FXT_HEAP_OFF until the engine has started, and at the end */
	uint32_t is_fast; /* whether the fast path is to be tried (heap_record.h) */
	uint32_t stacks;  /* enum fxt_heap_stacks */
	uint64_t object_header, allocate_header, free_header;
	uint64_t size_argument, path_argument, pointer_argument, parent_argument;
	uint64_t sample_bytes;
	uint16_t size_name, category, allocate_name, free_name;
};
extern struct agent_heap agent_heap;

/* Once, in the constructor, before recording begins: whether this program's heap can be recorded, by the
 * manager's choice and what allocator it has. */
void agent_heap_prepare(void);

/* The engine has started: registers names and begins to record. In a forked child too. */
void agent_heap_begin(void);

/* Nothing is recorded from here on. */
void agent_heap_end(void);

/* In a forked child, whose heap is its own from here on: until it begins, nothing is recorded. */
void agent_heap_forget(void);

/* The block of `usable` bytes was allocated by a call from `caller`, which asked for `size`; returns it.
 * errno is kept. */
void *agent_heap_allocated(void *block, size_t size, size_t usable, const void *caller);

/* The block of `usable` bytes is or was freed; ticks was before that. errno is kept. */
void agent_heap_freed(void *block, size_t usable, uint64_t ticks);

#endif
