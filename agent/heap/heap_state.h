/*
 * What all that records the heap (heap.h) has to know: what is recorded, the headers of its records, and
 * whether the thread's allocations are the program's.
 */
#ifndef FXT_AGENT_HEAP_STATE_H
#define FXT_AGENT_HEAP_STATE_H

#include "agent/base/self.h"

/* A mode of the agent's alone: nothing is recorded until the next start, and what lives is counted all the
 * same. Else a free of what was allocated meanwhile would be taken off a sum that it is not in. */
#define AGENT_HEAP_STOPPED (FXT_HEAP_COUNTERS + 1)

/* Headers of records and arguments, but for the thread's index. */
struct agent_heap {
	uint32_t mode; /* enum fxt_heap_mode, or AGENT_HEAP_STOPPED; FXT_HEAP_OFF before the engine is there,
	                  at the end, and while nothing is recorded where nobody knows what lives
	                  (fxt_control.heap_is_late) */
	uint32_t wanted_mode; /* enum fxt_heap_mode: what the manager asked for, if this program's allocator
	                         allows it; agent_heap_begin() puts it into force */
	uint32_t is_fast;     /* whether the fast path is to be tried (heap_record.h) */
	uint32_t stacks;      /* enum fxt_heap_stacks */
	uint64_t allocate_header, free_header;
	uint64_t size_argument, path_argument, pointer_argument, parent_argument;
	uint64_t sample_bytes;
	uint16_t size_name, category, allocate_name, free_name, elided_name;
};
extern HIDDEN struct agent_heap agent_heap;

/* Nothing is recorded until agent_heap_begin(). */
void agent_heap_stop(void);

/* Nothing is recorded from here on, nor counted. */
void agent_heap_end(void);

#endif
