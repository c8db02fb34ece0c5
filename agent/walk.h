/*
 * Walking the stack of a thread that is not instrumented, by libunwind. It is opened privately, in the
 * constructor or never: linked, it would replace the program's own unwinder. Where it is not installed the
 * stacks of functions that are not instrumented stay unknown.
 */
#ifndef FXT_AGENT_WALK_H
#define FXT_AGENT_WALK_H

#include <errno.h>
#include "heap_state.h"

/* Opens libunwind; one notice if it is not there. In the constructor. */
void agent_walk_prepare(void);

/* In a forked child, which walks no stack any more if its parent had threads. */
void agent_walk_forget(void);

/* In a thread of the program, before it calls anything. */
void agent_walk_thread_begins(void);

#define AGENT_WALK_MAX         64
#define AGENT_WALK_STACK_BYTES (UINT64_C(32) << 10) /* that must be left of a stack for it to be walked */

/* unw_backtrace() of libunwind, or NULL. */
extern int (*agent_unwind)(void **addresses, int count);

/*
 * Walks the calling thread's stack: return addresses from `caller` outwards, inside addresses[]; *count of
 * them, 0 when in doubt. IDLE, without any lock: libunwind may wait for the loader's. errno is kept. Inline:
 * each frame of our own costs the walk as much as one of the program.
 */
static inline __attribute__((always_inline)) void *const *agent_walk(
        const void *caller, void *addresses[AGENT_WALK_MAX], unsigned *count)
{
	uint64_t left = agent_stack_offset((uintptr_t)__builtin_frame_address(0));
	int error = errno, found, first = 0;

	*count = 0;
	if (!agent_unwind || left < AGENT_WALK_STACK_BYTES || left >= agent_self.stack_bytes ||
	        agent_heap_guard)
		return addresses;
	agent_heap_guard = AGENT_HEAP_WALKING;
	compiler_barrier();
	found = agent_unwind(addresses, AGENT_WALK_MAX);
	compiler_barrier();
	agent_heap_guard = AGENT_HEAP_OPEN;
	errno = error;
	while (found > 0 && !addresses[found - 1])
		found--;
	/* Our own frames come first. */
	while (first < found && addresses[first] != caller)
		first++;
	*count = (unsigned)(found > first ? found - first : 0);
	return addresses + first;
}

/*
 * Where the function begins that holds a return address, as unwind tables know it: so its calls share one
 * name. Without a table, the call instruction's last byte: that lies in the function too.
 */
uint64_t agent_walk_function(uint64_t return_address);

#endif
