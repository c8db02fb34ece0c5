/*
 * Call paths: the functions that led to an event, as a number. A path is a node in a tree
 * of functions. When a node is first seen, a userspace-object record describes it: pointer
 * = fxt_heap_path_of_number(), name = function, argument "parent" = the pointer of the path
 * it extends. Number 0 is the unknown path. Every process has its own numbers.
 *
 * In instrumented code the shadow stack is the path, and nothing is unwound. The paths of
 * the open calls are kept beside them under their start times, which are unique. Elsewhere
 * the stack is walked (unwind.h).
 */
#ifndef FXT_AGENT_CALLPATH_H
#define FXT_AGENT_CALLPATH_H

#include "agent/hook/frames.h"

/* paths of open calls that are kept, at the depth modulo this */
#define AGENT_PATHS_KEPT 256

/* State of heap recording for a thread, by its slot's number. Wiped in a forked child. */
struct agent_heap_thread {
	uint64_t generation;  /* of the kept paths */
	int64_t until_sample; /* bytes */
	uint64_t random;
	struct agent_kept_path {
		uint64_t start; /* of the open call */
		uint32_t path;  /* its number */
		uint32_t name;  /* agent_path_name() of that */
	} kept[AGENT_PATHS_KEPT];
};
extern HIDDEN struct agent_heap_thread *agent_heap_threads;

/* Maps the memory for paths. In the constructor. False: no memory. */
bool agent_paths_prepare(void);

/* In a forked child: its paths are its own. */
void agent_paths_forget(void);

/* The code of a module between these addresses is unloaded: later calls there are of other
 * functions. Under the engine's lock. */
void agent_paths_retire(uint64_t start, uint64_t end);

/* The innermost function of a path, address << FXT_FRAME_INDEX_BITS | index of its name, as
 * in the function table; 0 for path 0. The path was found or written by this thread in this
 * generation. */
uint64_t agent_path_function(uint32_t path);

/* The index of that function's name if it is valid in all chunks, else 0. */
static inline uint32_t agent_path_name(uint32_t path)
{
	uint64_t index = agent_path_function(path) & FXT_INDEX_LOCAL;

	return index == FXT_INDEX_LOCAL ? 0 : (uint32_t)index;
}

/* The place for the path of an open call. Its path is there if the start is the same. */
static inline struct agent_kept_path *agent_path_place(
        struct agent_heap_thread *thread, const struct fxt_frame *frame)
{
	return &thread->kept[(uintptr_t)frame / sizeof(*frame) % AGENT_PATHS_KEPT];
}

/* A node that was dropped with its buffer must be written again, so paths hold for one
 * generation. */
static inline uint64_t agent_paths_generation(void)
{
	return load_relaxed(&agent_engine.drops);
}

/* The path of the open calls, without the newest one if it is of the function `allocator`;
 * writes its new nodes. 0: there are no open calls. SLOW_PATH. */
uint32_t agent_path_of_calls(struct fxt_thread_writer *writer, uint64_t allocator);

struct agent_walk;

/* The path of a walked stack if it is known, else 0. From any context. */
uint32_t agent_path_of_known_walk(const struct agent_walk *walk);

/* The path that extends `path` by a walked stack; writes its new nodes. SLOW_PATH. */
uint32_t agent_path_of_walk(struct fxt_thread_writer *writer, uint32_t path, const struct agent_walk *walk);

#endif
