/*
 * Call paths: which functions led to an event, as a number. A path is a node in a tree of functions. At the
 * first sight of a node a userspace-object record tells what it is: pointer = fxt_heap_path_of_number(),
 * name = function, argument "parent" = the same of the path it extends. Number 0 is the path of which nothing
 * is known. Each process has numbers of its own.
 *
 * Where the program is instrumented the shadow stack is the path, and nothing is unwound: what the open calls
 * amount to is kept beside them by their start times, which never come twice. Elsewhere the
 * stack is walked (unwind.h).
 */
#ifndef FXT_AGENT_CALLPATH_H
#define FXT_AGENT_CALLPATH_H

#include "agent/hook/frames.h"

#define AGENT_PATHS_KEPT 256 /* paths of open calls that are kept; the depth modulo this is the place */

/* What heap recording knows of a thread, by its slot's number. Wiped in a forked child. */
struct agent_heap_thread {
	uint64_t generation;  /* of the paths kept */
	int64_t until_sample; /* bytes */
	uint64_t random;
	struct {
		uint64_t start; /* of the open call */
		uint32_t path;  /* its number */
	} kept[AGENT_PATHS_KEPT];
};
extern HIDDEN struct agent_heap_thread *agent_heap_threads;

/* Maps what paths need. In the constructor. False: no memory. */
bool agent_paths_prepare(void);

/* In a forked child, whose paths are its own. */
void agent_paths_forget(void);

/* A module's code between these addresses is unloaded: what is called there from now on are other functions.
 * Under the engine's lock. */
void agent_paths_retire(uint64_t start, uint64_t end);

/* The path of an open call, if it is kept; else 0. */
static inline uint32_t agent_path_kept(const struct agent_heap_thread *thread, const struct fxt_frame *frame)
{
	unsigned at = (uintptr_t)frame / sizeof(*frame) % AGENT_PATHS_KEPT;

	return thread->kept[at].start == frame->start ? thread->kept[at].path : 0;
}

/* A node that was dropped with its buffer must be written again: paths hold for one generation. */
static inline uint64_t agent_paths_generation(void)
{
	return load_relaxed(&agent_engine.drops);
}

/* The path of the open calls, its new nodes written. 0: there are none. SLOW_PATH. */
uint32_t agent_path_of_calls(struct fxt_block *block);

struct agent_walk;

/* The path of a walked stack, if it is known; else 0. From wherever. */
uint32_t agent_path_of_known_walk(const struct agent_walk *walk);

/* The path of a walked stack, its new nodes written. SLOW_PATH. */
uint32_t agent_path_of_walk(struct fxt_block *block, const struct agent_walk *walk);

#endif
