/*
 * Threads that call functions, as the hooks do: one that makes the calls it is given, and
 * workers that make them at random.
 */
#ifndef FXT_TESTS_UNIT_CALLER_H
#define FXT_TESTS_UNIT_CALLER_H

#include "random.h"
#include "rig.h"

/* A thread of the engine's, made so by caller_attach. */
struct caller {
	struct fxt_engine *e;
	struct fxt_thread_writer *writer;
	struct fxt_thread_slot *slot;
	uint64_t koid;
};

void caller_attach(struct caller *caller, struct fxt_engine *e);

/* Counts an event inside a hook as lost, as the hooks do. */
void caller_nested(struct caller *caller);

/* The hooks at the begin and end of a function, and both. */
void enter(struct caller *caller, uint64_t function);
void leave(struct caller *caller);
void call(struct caller *caller, uint64_t function);

/* A thread that makes calls, nested at random; functions and depth have defaults. */
struct worker {
	struct rig *rig;
	uint64_t calls;     /* to make */
	uint64_t functions; /* to choose from */
	unsigned depth;     /* at most */
	uint64_t seed;
	bool leaves_open; /* ends inside of its calls */
	struct caller caller;
	pthread_t thread;
};

/* The address of the nth function. */
#define FUNCTION(n) (UINT64_C(0x550000001000) + (uint64_t)(n)*16)

void start_worker(struct worker *w, struct rig *rig, uint64_t seed);

/* Every call of the thread is in the trace, or counted as lost: once. `shown`: each loss is
 * in a slice of its own too; together with what was overwritten it always is. */
void check_worker(const struct worker *w, bool shown);

#endif
