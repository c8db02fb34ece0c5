#include "heap_state.h"

struct agent_heap agent_heap;

void agent_heap_stop(void)
{
	store_relaxed(&agent_heap.is_fast, 0);
	if (load_relaxed(&agent_heap.mode) != FXT_HEAP_OFF)
		store_relaxed(&agent_heap.mode,
		        agent_engine.control->heap_is_late ? FXT_HEAP_OFF : AGENT_HEAP_STOPPED);
}

void agent_heap_end(void)
{
	store_relaxed(&agent_heap.is_fast, 0);
	store_relaxed(&agent_heap.mode, FXT_HEAP_OFF);
}
