#include "heap_state.h"

struct agent_heap agent_heap;
__thread uint8_t agent_heap_guard;

void agent_heap_end(void)
{
	store_relaxed(&agent_heap.is_fast, 0);
	store_relaxed(&agent_heap.mode, FXT_HEAP_OFF);
}
