/* State shared by everything that records the heap (heap.h): the mode, the headers of
 * records, and whether the thread's allocations are the program's. */
#ifndef FXT_AGENT_HEAP_STATE_H
#define FXT_AGENT_HEAP_STATE_H

#include "agent/base/self.h"

/* A mode that only the agent has: nothing is recorded until the next start, but live blocks
 * are counted. Otherwise a free of a block that was allocated in between would be taken off
 * a sum that does not contain it. */
#define AGENT_HEAP_STOPPED (FXT_HEAP_COUNTERS + 1)

/* Headers of records and arguments, without the indices of the thread and the function. */
struct agent_heap {
	/* enum fxt_heap_mode, or AGENT_HEAP_STOPPED; FXT_HEAP_OFF before the engine is
	 * there, at the end, and while nothing is recorded if the live blocks are unknown
	 * (fxt_control.heap_is_late) */
	uint32_t mode;
	/* enum fxt_heap_mode: the manager's choice, if this program's allocator allows it;
	 * agent_heap_begin() puts it into force. */
	uint32_t wanted_mode;
	uint32_t is_fast; /* 1: the fast path is tried (heap_record.h) */
	uint32_t stacks;  /* enum fxt_heap_stacks */
	uint64_t object_header, allocate_header, free_header;
	uint64_t size_argument, path_argument, pointer_argument, parent_argument;
	uint64_t sample_bytes;
	uint16_t size_name, category, allocate_name, free_name, elided_name;
	/* The memory of the C library and of the loader, if paths of their allocations need
	 * a walk: open calls do not show which function of theirs allocated. */
	struct {
		uint64_t low, bytes;
	} library[2];
};
extern HIDDEN struct agent_heap agent_heap;

/* True for an address in agent_heap.library. */
static inline bool agent_heap_is_library(uint64_t address)
{
	return address - agent_heap.library[0].low < agent_heap.library[0].bytes ||
	       address - agent_heap.library[1].low < agent_heap.library[1].bytes;
}

/* Nothing is recorded until agent_heap_begin(). */
void agent_heap_stop(void);

/* From here on nothing is recorded or counted. */
void agent_heap_end(void);

#endif
