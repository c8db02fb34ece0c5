#include "heap.h"
#include <pthread.h>
#include <string.h>
#include "allocator.h"
#include "callpath.h"
#include "heap_record.h"
#include "notice.h"
#include "sample.h"
#include "symbols.h"
#include "walk.h"
#include "writer/categories.h"
#include "writer/encode.h"

/* enum fxt_heap_mode: what the manager asked for, if this program's allocator allows it. agent_heap_begin()
 * puts it into force. */
static uint32_t wanted_mode;

/* There are blocks that were allocated before this process was one whose heap is recorded, or may be. */
static bool is_late;

/* What lives as the thread forks, beside whom others may; in its child, as it was forked. */
static __thread struct {
	bool is_known;
	struct fxt_heap_live live;
} at_fork;

/* ---- beginning and end ---- */

static uint16_t heap_name(const char *text)
{
	return fxt_string_register(&agent_engine, text, strlen(text));
}

static uint64_t heap_instant_header(uint16_t category, uint16_t name, uint64_t words, unsigned arguments)
{
	return fxt_record_header(FXT_RECORD_EVENT, words) | FXT_EVENT_INSTANT << 16 | arguments << 20 |
	       (uint64_t)category << 32 | (uint64_t)name << 48;
}

static void heap_make_headers(struct agent_heap *heap)
{
	heap->object_header =
	        fxt_record_header(FXT_RECORD_USERSPACE_OBJECT, AGENT_OBJECT_WORDS) | UINT64_C(1) << 40;
	heap->allocate_header =
	        heap_instant_header(heap->category, heap->allocate_name, AGENT_INSTANT_WORDS + 1, 2);
	heap->free_header = heap_instant_header(heap->category, heap->free_name, AGENT_INSTANT_WORDS, 1);
	heap->size_argument = agent_argument_header(FXT_ARGUMENT_UINT32, 1, heap->size_name);
}

/* With the lock held: names, and a durable instant that tells how this heap is recorded. */
static bool heap_announce(struct agent_heap *heap)
{
	struct fxt_engine *e = &agent_engine;
	static const char *const modes[] = {[FXT_HEAP_OBJECTS] = "objects",
	        [FXT_HEAP_SAMPLED] = "sampled",
	        [FXT_HEAP_COUNTERS] = "counters"};
	uint16_t path = heap_name("path"), pointer = heap_name("pointer"), parent = heap_name("parent");
	uint64_t record[16];
	struct fxt_argument arguments[2];

	heap->category = heap_name("heap");
	heap->allocate_name = heap_name("allocate");
	heap->free_name = heap_name("free");
	heap->size_name = heap_name("size");
	if (!path || !pointer || !parent || !heap->category || !heap->allocate_name || !heap->free_name ||
	        !heap->size_name)
		return false;
	heap->path_argument = agent_argument_header(FXT_ARGUMENT_POINTER, 2, path);
	heap->pointer_argument = agent_argument_header(FXT_ARGUMENT_POINTER, 2, pointer);
	heap->parent_argument = agent_argument_header(FXT_ARGUMENT_POINTER, 2, parent);
	heap_make_headers(heap);
	arguments[0] = fxt_argument_string(fxt_string_inline("mode", 4),
	        fxt_string_inline(modes[wanted_mode], strlen(modes[wanted_mode])));
	arguments[1] = fxt_argument_uint64(fxt_string_inline("sample_bytes", 12), heap->sample_bytes);
	size_t words = fxt_put_event(record, sizeof(record) / 8, FXT_EVENT_INSTANT,
	        fxt_thread_inline(e->process_koid, (uint64_t)e->pid), fxt_string_index(heap->category),
	        fxt_string_inline("recorded", 8), fxt_clock_ticks(e->clock), arguments,
	        wanted_mode == FXT_HEAP_SAMPLED ? 2 : 1, 0);

	return fxt_durable_write(e, record, words, false);
}

void agent_heap_begin(void)
{
	static uint32_t announced; /* the generation of the engine that has the names */
	uint64_t mask;

	if (wanted_mode == FXT_HEAP_OFF || !fxt_category_is_enabled(agent_engine.control, "heap"))
		return;
	mask = fxt_lock(&agent_engine.lock);
	if (announced == agent_engine.generation || heap_announce(&agent_heap)) {
		announced = agent_engine.generation;
		store_release(&agent_heap.mode, wanted_mode);
		store_release(&agent_heap.is_fast,
		        wanted_mode == FXT_HEAP_OBJECTS && agent_engine.clock == FXT_CLOCK_COUNTER);
	}
	fxt_unlock(&agent_engine.lock, mask);
}

void agent_heap_before_fork(void)
{
	if (wanted_mode == FXT_HEAP_OFF ||
	        fxt_engine_was_forked(&agent_engine)) /* of a child that has done nothing yet */
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
	/* A fork by the system call alone. The parent's memory is still there, but the parent has gone on. */
	if (wanted_mode != FXT_HEAP_OFF && !at_fork.is_known)
		at_fork.live = fxt_heap_live(agent_engine.control);
	at_fork.is_known = false;
	agent_heap_end();
	agent_heap_guard = AGENT_HEAP_OPEN; /* a fork in a handler that interrupted a walk */
	agent_walk_forget();
	agent_paths_forget();
}

void agent_heap_inherit(void)
{
	struct fxt_heap_sum *sum = fxt_heap_sum(agent_engine.control, 0);

	if (wanted_mode == FXT_HEAP_OFF)
		return;
	agent_engine.control->heap_is_late = is_late;
	if (is_late)
		return;
	add_relaxed(&sum->nested_bytes, at_fork.live.bytes);
	add_relaxed(&sum->nested_objects, at_fork.live.objects);
	store_release(&agent_heap.mode, AGENT_HEAP_STOPPED);
}

/* The manager's choice, of processes that are instrumented. */
static void heap_choose(const struct fxt_control *control)
{
	bool is_auto = control->heap_mode == FXT_HEAP_AUTO;

	agent_heap.sample_bytes = control->heap_sample_bytes;
	agent_heap.stacks = control->heap_stacks;
	if (control->heap_mode == FXT_HEAP_COUNTERS)
		agent_heap.stacks = FXT_HEAP_STACKS_NONE;
	else if (is_auto && control->heap_stacks == FXT_HEAP_STACKS_AUTO)
		agent_heap.stacks = FXT_HEAP_STACKS_SHADOW;
	wanted_mode = is_auto ? FXT_HEAP_OBJECTS : control->heap_mode;
}

/* The first call of instrumented code in a process that had none at its start, in a hook. */
static void heap_begin_late(void)
{
	if (!agent_paths_prepare())
		return;
	heap_choose(agent_engine.control);
	if (agent_heap.stacks == FXT_HEAP_STACKS_UNWIND) /* a library to walk with cannot be loaded here */
		agent_heap.stacks = FXT_HEAP_STACKS_SHADOW;
	is_late = true;
	agent_engine.control->heap_is_late = true;
	agent_heap_begin();
}

static bool heap_is_instrumented(void)
{
	return agent_symbol_is_used("__cyg_profile_func_enter") ||
	       agent_symbol_is_used("__cyg_profile_func_exit");
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
	if (!why && is_auto && !heap_is_instrumented()) {
		agent_await_call(heap_begin_late);
		return;
	}
	if (!why && (!agent_paths_prepare() ||
	                    (control->heap_mode == FXT_HEAP_SAMPLED && !agent_sample_prepare())))
		why = "there is no memory for it";
	if (why) {
		if (!is_auto) /* nobody asked for it */
			agent_notice("the program's heap is not recorded: ", why, NULL);
		return;
	}
	heap_choose(control);
	if (agent_heap.stacks == FXT_HEAP_STACKS_AUTO || agent_heap.stacks == FXT_HEAP_STACKS_UNWIND)
		agent_walk_prepare();
	/* A later start may have the category: until then a program pays nothing for it. */
	is_late = !fxt_category_is_enabled(control, "heap");
	agent_engine.control->heap_is_late = is_late;
	if (is_late)
		return;
	pthread_atfork(agent_heap_before_fork, agent_heap_in_parent, NULL);
	store_release(&agent_heap.mode, AGENT_HEAP_STOPPED);
}
