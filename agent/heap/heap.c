/*
 * Decides whether this process's heap is recorded, begins and ends that, and keeps the live
 * sums across forks (heap.h). Runs on the thread that starts the agent, begins to record or
 * forks. Nothing here may call the allocator.
 */
#include "heap.h"
#include <pthread.h>
#include <string.h>
#include "allocator.h"
#include "callpath.h"
#include "heap_names.h"
#include "heap_state.h"
#include "agent/hook/sources.h"
#include "agent/base/notice.h"
#include "agent/base/symbols.h"
#include "agent/process/modules.h"
#include "sample.h"
#include "writer/format/c_library.h"
#include "writer/format/categories.h"
#include "writer/engine/heap.h"

/* Blocks were allocated before this process became one with a recorded heap, or may have
 * been. */
static bool is_late;

/* The live heap when the thread forks, beside other threads that may fork too; in its
 * child, the live heap at the fork. */
static __thread struct {
	bool is_known;
	struct fxt_heap_live live;
} at_fork;

/* ---- beginning and end ---- */

void agent_heap_begin(void)
{
	uint32_t mode = agent_heap.wanted_mode;
	uint64_t mask;

	/* The control memory has the mode of this recording, which may exclude a heap that
	 * is followed. */
	if (mode == FXT_HEAP_OFF || agent_engine.control->heap_mode == FXT_HEAP_OFF ||
	        !fxt_category_is_enabled(agent_engine.control, "heap"))
		return;
	mask = fxt_lock(&agent_engine.lock);
	/* If the heap was not requested, no record mentions it before it has its first
	 * event. */
	if (agent_engine.control->heap_mode == FXT_HEAP_AUTO || agent_heap_announce()) {
		store_release(&agent_heap.mode, mode);
		store_release(&agent_heap.is_fast,
		        mode == FXT_HEAP_OBJECTS && agent_engine.clock == FXT_CLOCK_COUNTER);
	}
	fxt_unlock(&agent_engine.lock, mask);
}

void agent_heap_before_fork(void)
{
	/* A child that has done nothing yet, or is not recorded, has nothing to hand on. */
	if (agent_heap.wanted_mode == FXT_HEAP_OFF || agent_engine.state == FXT_ENGINE_NONE ||
	        fxt_engine_was_forked(&agent_engine))
		return;
	at_fork.live = fxt_heap_live(agent_engine.control);
	at_fork.is_known = true;
}

void agent_heap_in_parent(void)
{
	if (!fxt_engine_was_forked(&agent_engine))
		at_fork.is_known = false;
}

void agent_heap_forget(void)
{
	/* A fork by the system call alone. The parent's memory is still there, but the
	 * parent has gone on. */
	if (agent_heap.wanted_mode != FXT_HEAP_OFF && !at_fork.is_known)
		at_fork.live = fxt_heap_live(agent_engine.control);
	at_fork.is_known = false;
	agent_heap_end();
	agent_paths_forget();
}

void agent_heap_inherit(void)
{
	struct fxt_heap_sum *sum = fxt_heap_sum(agent_engine.control, 0);

	if (agent_heap.wanted_mode == FXT_HEAP_OFF)
		return;
	agent_engine.control->heap_is_late = is_late;
	if (is_late)
		return;
	add_relaxed(&sum->nested_bytes, at_fork.live.bytes);
	add_relaxed(&sum->nested_objects, at_fork.live.objects);
	store_release(&agent_heap.mode, AGENT_HEAP_STOPPED);
}

static void heap_note_library(const struct agent_module_tables *module)
{
	enum fxt_c_library kind = fxt_c_library(module->path, strlen(module->path));

	/* Older versions have more modules: those allocate nothing that they keep. */
	if (kind == FXT_NOT_C_LIBRARY || agent_heap.library[kind == FXT_C_LOADER].bytes)
		return;
	agent_heap.library[kind == FXT_C_LOADER].low = module->low;
	agent_heap.library[kind == FXT_C_LOADER].bytes = module->high - module->low;
}

/* Applies the manager's choice for instrumented processes. */
static void heap_choose(const struct fxt_control *control)
{
	bool is_auto = control->heap_mode == FXT_HEAP_AUTO;

	agent_heap.sample_bytes = control->heap_sample_bytes;
	agent_heap.stacks = control->heap_stacks;
	if (control->heap_mode == FXT_HEAP_COUNTERS)
		agent_heap.stacks = FXT_HEAP_STACKS_NONE;
	else if (is_auto && control->heap_stacks == FXT_HEAP_STACKS_AUTO)
		agent_heap.stacks = FXT_HEAP_STACKS_SHADOW;
	else if (agent_heap.stacks == FXT_HEAP_STACKS_AUTO && !agent_is_instrumented() &&
	         agent_imports_count())
		agent_heap.stacks = FXT_HEAP_STACKS_UNWIND; /* library calls are no path */
	agent_heap.wanted_mode = is_auto ? FXT_HEAP_OBJECTS : control->heap_mode;
	if (agent_heap.stacks == FXT_HEAP_STACKS_AUTO || agent_heap.stacks == FXT_HEAP_STACKS_SHADOW) {
		uint64_t mask = fxt_lock(&agent_engine.lock);

		agent_modules_each(heap_note_library);
		fxt_unlock(&agent_engine.lock, mask);
	}
}

/* The first call of instrumented code, inside a hook, in a process that had no such code at
 * its start. */
static void heap_begin_late(void)
{
	if (!agent_paths_prepare())
		return;
	heap_choose(agent_engine.control);
	is_late = true;
	agent_engine.control->heap_is_late = true;
	agent_heap_begin();
}

void agent_heap_prepare(void)
{
	const struct fxt_control *control = agent_engine.control;
	bool is_auto = control->heap_mode == FXT_HEAP_AUTO;
	const char *why;

	if (control->heap_mode == FXT_HEAP_OFF || control->heap_mode > FXT_HEAP_AUTO)
		return;
	why = agent_allocator_obstacle();
	if (!why && !agent_allocator_is_known())
		why = "its allocator cannot be found";
	if (!why && is_auto && !agent_is_instrumented()) {
		if (!agent_imports_count()) /* their calls are not those of instrumented code */
			agent_await_call(heap_begin_late);
		return;
	}
	if (!why && (!agent_paths_prepare() ||
	                    (control->heap_mode == FXT_HEAP_SAMPLED && !agent_sample_prepare())))
		why = "there is no memory for it";
	if (why) {
		if (!is_auto) /* else it was not requested */
			agent_notice("the program's heap is not recorded: ", why, NULL);
		return;
	}
	if (!agent_is_late()) /* a stopped thread may hold the allocator's lock */
		agent_allocator_look_at_headers();
	heap_choose(control);
	/* A later start may include the category; until then a program pays nothing for
	 * it. */
	is_late = !fxt_category_is_enabled(control, "heap") || agent_allocator_was_early || agent_is_late();
	agent_engine.control->heap_is_late = is_late;
	if (is_late)
		return;
	pthread_atfork(agent_heap_before_fork, agent_heap_in_parent, NULL);
	store_release(&agent_heap.mode, AGENT_HEAP_STOPPED);
}
