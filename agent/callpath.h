/*
 * Call paths: which functions led to an event, as one word. A path is a node in a tree of functions; its id
 * is a hash over the functions from the outermost on, with bit 63 set, which no address has. At the first
 * sight of a node a userspace-object record tells what it is: pointer = id, name = function, argument
 * "parent" = the id it extends. Id 0 is the path of which nothing is known.
 *
 * Where the program is instrumented the shadow stack is the path, and nothing is unwound: what the open calls
 * amount to is kept beside them by their start times, which never come twice. Elsewhere libunwind walks the
 * stack. It is opened privately, in the constructor or never: linked, it would replace the program's own
 * unwinder.
 */
#ifndef FXT_AGENT_CALLPATH_H
#define FXT_AGENT_CALLPATH_H

#include <errno.h>
#include "agent.h"
#include "stacks.h"

#define AGENT_PATHS_KEPT 256 /* open calls whose paths are kept, by the lowest bits of their depth */

/* What the thread's allocations mean for the moment. Initial-exec, as all of the agent's. */
enum agent_heap_guard {
	AGENT_HEAP_OPEN = 0,
	AGENT_HEAP_WALKING, /* the stack is being walked: recorded, without a path */
	AGENT_HEAP_OURS,    /* not the program's: not recorded */
};
extern __thread uint8_t agent_heap_guard;

/* What heap recording knows of a thread, by its slot's number. Wiped in a forked child. */
struct agent_heap_thread {
	uint64_t generation;  /* of the paths kept */
	int64_t until_sample; /* bytes */
	uint64_t random;
	struct {
		uint64_t start; /* of the open call */
		uint64_t path;
	} kept[AGENT_PATHS_KEPT];
};
extern struct agent_heap_thread *agent_heap_threads;

/* A path and the string index of its innermost function; FXT_INDEX_LOCAL = its name is local to a chunk. */
struct agent_path {
	uint64_t id;
	uint64_t address; /* of that function */
	uint64_t index;
};

/* Maps what paths need. With unwinding, opens libunwind too; without it the stacks of functions that are not
 * instrumented stay unknown, and one notice says so. In the constructor. False: no memory. */
bool agent_paths_prepare(bool unwinding);

/* In a forked child, whose paths are its own. */
void agent_paths_forget(void);

/* In a thread of the program, before it calls anything. */
void agent_paths_thread_begins(void);

/* The path of an open call, if it is kept; else 0. */
static inline uint64_t agent_path_kept(const struct agent_heap_thread *thread, const struct fxt_frame *frame)
{
	unsigned at = (uintptr_t)frame / sizeof(*frame) % AGENT_PATHS_KEPT;

	return thread->kept[at].start == frame->start ? thread->kept[at].path : 0;
}

/* In circular mode a node that was dropped with its buffer must be written again: paths hold for one
 * generation. */
static inline uint64_t agent_paths_generation(void)
{
	return agent_engine.mode == FXT_CIRCULAR ? load_relaxed(&agent_engine.wrapped) : 0;
}

/* The path of the open calls, its new nodes written. Id 0: there are none. OUT_OF_LINE. */
struct agent_path agent_path_of_calls(struct fxt_block *block);

/* The same for a walked stack, innermost return address first. OUT_OF_LINE. */
struct agent_path agent_path_of_walk(struct fxt_block *block, void *const *addresses, unsigned count);

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
	uint64_t left = agent_place((uintptr_t)__builtin_frame_address(0));
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

#endif
