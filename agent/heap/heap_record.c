/*
 * The slow path of heap recording: writes or counts the allocations and frees that the fast
 * path cannot (heap_record.h). Runs on the thread with the event, which may be in a handler
 * inside a hook. It must never call the allocator, and never wait for a lock that its own
 * thread holds.
 */
#include "heap_record.h"
#include "agent/base/attributes.h"
#include "agent/hook/claim.h"
#include "heap_names.h"
#include "agent/process/helper.h"
#include "agent/process/modules.h"
#include "sample.h"
#include "agent/hook/shadow.h"
#include "agent/hook/thunks.h"
#include "agent/hook/stacks.h"
#include "unwind.h"
#include "writer/engine/local_names.h"
#include "writer/format/encode.h"

/* agent_write_allocation() for a size that takes a word of its own. */
static COLD bool heap_record_write_huge(struct fxt_thread_writer *writer, struct fxt_thread_slot *slot,
        const void *pointer, size_t size, uint64_t path, uint64_t name, enum fxt_clock_kind clock)
{
	return agent_write_allocation_of(writer, slot, pointer, size, path, name, clock, true);
}

/* Counts an event of a thread without a writer, or of a time when nothing is recorded, in
 * one of a few sums that threads share. Additions to those must be atomic. A forked child
 * uses its own sums. */
static void heap_record_count_apart(int64_t bytes, int64_t objects)
{
	struct fxt_heap_sum *sum;

	if (fxt_engine_was_forked(&agent_engine))
		agent_rebirth();
	if (load_relaxed(&agent_heap.mode) == FXT_HEAP_OFF)
		return;
	sum = fxt_heap_sum(
	        agent_engine.control, (uint32_t)((uintptr_t)&agent_self >> 12) % FXT_HEAP_SHARED_SUMS);
	add_relaxed(&sum->nested_bytes, bytes);
	add_relaxed(&sum->nested_objects, objects);
}

/* True if the process is a child that a handler forked before the writer became SLOW_PATH.
 * Then the writer does not belong to the thread any more, and the event is counted
 * apart. */
static bool heap_record_is_in_child(struct fxt_thread_writer *writer, int64_t bytes, int64_t objects)
{
	if (likely(!fxt_engine_was_forked(&agent_engine)))
		return false;
	agent_heap_leave(writer);
	heap_record_count_apart(bytes, objects);
	return true;
}

/* The calling thread's writer; in a forked child, the writer of its own engine. NULL:
 * nothing is recorded; heap_record_count_apart() counts the event. */
static struct fxt_thread_writer *heap_record_writer(void)
{
	uint32_t mode;

	if (fxt_engine_was_forked(&agent_engine))
		agent_rebirth();
	mode = load_relaxed(&agent_heap.mode);
	if (mode == FXT_HEAP_OFF || mode == AGENT_HEAP_STOPPED)
		return NULL;
	return agent_self.writer ? agent_self.writer : agent_attach();
}

static void heap_record_lose(struct fxt_thread_writer *writer, uint64_t ticks)
{
	fxt_chunk_count_lost(&agent_engine, writer, fxt_slot(&agent_engine, writer->number), 1, ticks);
	if (load_relaxed(&agent_engine.broken)) /* nothing reads our records any more */
		agent_heap_end();
}

static COLD bool heap_record_announce(void)
{
	uint64_t mask = fxt_lock(&agent_engine.lock);
	bool is_announced = agent_heap_announce();

	fxt_unlock(&agent_engine.lock, mask);
	return is_announced;
}

/* True if the thread may record an event of its heap now. Then it has a heap track.
 * SLOW_PATH. */
static bool heap_record_may(struct fxt_thread_writer *writer)
{
	if (!agent_may_record(writer))
		return false;
	if (writer->heap_track)
		return true;
	if (!heap_record_announce())
		return false;
	fxt_thread_take_heap_track(&agent_engine, writer);
	return true;
}

/* The index of the name of a path's innermost function for the next record, 0 if it is not
 * known. An index of the chunk becomes invalid with the chunk. */
static uint64_t heap_record_name(struct fxt_thread_writer *writer, uint32_t path)
{
	uint64_t function = agent_path_function(path), address = function >> FXT_FRAME_INDEX_BITS;

	return (function & FXT_INDEX_LOCAL) == FXT_INDEX_LOCAL
	               ? fxt_local_index(&agent_engine, writer, address, agent_module_at(address),
	                         AGENT_ALLOCATION_WORDS + 1)
	               : agent_path_name(path);
}

/* Writes an allocation at any cost, or counts it as lost. False: the path's generation is
 * over, and nothing is done yet. SLOW_PATH. */
static bool heap_record_write(struct fxt_thread_writer *writer, struct fxt_thread_slot *slot,
        const void *pointer, size_t size, uint32_t path, uint64_t generation)
{
	while (agent_paths_generation() == generation) {
		uint64_t name = heap_record_name(writer, path);
		bool is_written = (size >> 32 ? heap_record_write_huge : agent_write_allocation)(
		        writer, slot, pointer, size, path, name, agent_engine.clock);

		store_release(&writer->busy, FXT_SLOW_PATH);
		if (is_written)
			return true;
		if (!fxt_chunk_reserve(&agent_engine, writer, AGENT_ALLOCATION_WORDS + 1)) {
			heap_record_lose(
			        writer, agent_instant_ticks(writer, fxt_clock_ticks(agent_engine.clock)));
			return true;
		}
	}
	return false;
}

/* Writes the allocation and the nodes of its path in one generation: a later generation
 * would drop the nodes first, and may give their names other indices. */
static void heap_record_write_with_path(struct fxt_thread_writer *writer, struct fxt_thread_slot *slot,
        const void *pointer, size_t size, const struct agent_walk *walk, const void *caller)
{
	bool is_recorded = false;
	uint64_t generation;

	do {
		uint32_t path = 0;

		generation = agent_paths_generation();
		if (!(walk && walk->count && !walk->is_of_library) &&
		        (agent_heap.stacks == FXT_HEAP_STACKS_AUTO ||
		                agent_heap.stacks == FXT_HEAP_STACKS_SHADOW))
			path = agent_path_of_calls(writer, agent_thunk_function((uint64_t)(uintptr_t)caller));
		if (walk && walk->count)
			path = agent_path_of_walk(writer, path, walk);
		if (!is_recorded)
			is_recorded = heap_record_write(writer, slot, pointer, size, path, generation);
	} while (agent_paths_generation() != generation);
}

/* `walk`: NULL if the stack was not walked. */
static void *heap_record_finish(struct fxt_thread_writer *writer, void *pointer, size_t size, size_t usable,
        const struct agent_walk *walk, const void *caller)
{
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, writer->number);

	store_relaxed(&writer->busy, FXT_SLOW_PATH);
	compiler_barrier();
	if (heap_record_is_in_child(writer, (int64_t)usable, 1))
		return pointer;
	if (agent_heap.mode != FXT_HEAP_COUNTERS && heap_record_may(writer))
		heap_record_write_with_path(writer, slot, pointer, size, walk, caller);
	agent_count(writer, (int64_t)usable, 1);
	if (agent_helper_wanted())
		agent_helper_start();
	agent_heap_leave(writer);
	return pointer;
}

/* the stack must have this much left for a walk */
#define WALK_STACK_BYTES (UINT64_C(8) << 10)

/* Walks the thread's own stack. The walk is empty on another stack, or if the stack is
 * nearly used up. */
static inline void heap_record_walk(const void *caller, bool is_of_library, struct agent_walk *walk)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0), bytes = agent_self.stack_bytes;

	walk->count = 0;
	walk->is_of_library = is_of_library;
	if (agent_stack_is_own(here) && here >= agent_self.stack_end + WALK_STACK_BYTES)
		agent_unwind((uintptr_t)caller, bytes == UINT64_MAX ? 0 : agent_stack_address(bytes),
		        is_of_library, walk);
}

/* In a frame of its own: the addresses take 2 KiB of a stack that may be small. */
static __attribute__((noinline)) void *heap_record_walk_and_finish(struct fxt_thread_writer *writer,
        void *pointer, size_t size, size_t usable, const void *caller, bool is_of_library)
{
	struct agent_walk walk;
	uint32_t path, name;

	heap_record_walk(caller, is_of_library, &walk);
	path = is_of_library ? 0 : agent_path_of_known_walk(&walk);
	name = agent_path_name(path);
	if (likely(name && writer->heap_track && !(size >> 32))) {
		if (likely(agent_write_allocation(writer, fxt_slot(&agent_engine, writer->number), pointer,
		            size, path, name, agent_engine.clock))) {
			agent_count(writer, (int64_t)usable, 1);
			agent_heap_leave(writer);
			return pointer;
		}
		agent_heap_leave(writer);
	}
	return heap_record_finish(writer, pointer, size, usable, &walk, caller);
}

/* Counts an event of a handler inside a hook that cannot be recorded. The thread's next
 * hook takes the slow path, and records the loss. */
static void heap_record_lose_nested(struct fxt_thread_writer *writer, int64_t bytes, int64_t objects)
{
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, writer->number);
	struct fxt_heap_sum *sum = fxt_heap_sum(agent_engine.control, writer->number);

	add_relaxed(&sum->nested_bytes, bytes);
	add_relaxed(&sum->nested_objects, objects);
	if (agent_heap.mode == FXT_HEAP_COUNTERS)
		return;
	add_relaxed(&slot->nested_lost, 1);
	agent_force_slow_path(writer);
}

static bool heap_record_is_inside_hook(void)
{
	enum agent_thread_state state = agent_thread_state();

	return state == AGENT_THREAD_IN_HOOK || state == AGENT_THREAD_IN_HANDLER;
}

/* The writer for an event of a handler inside a hook; its times lie behind those of the
 * hook. NULL: the event is lost. */
static struct fxt_thread_writer *heap_record_nested(
        struct fxt_thread_writer *writer, int64_t bytes, int64_t objects)
{
	struct fxt_thread_writer *nested = agent_nested();

	if (!nested || load_relaxed(&nested->busy) != FXT_IDLE) {
		heap_record_lose_nested(writer, bytes, objects);
		return NULL;
	}
	agent_raise_last(nested, writer->last + agent_engine.step);
	return nested;
}

/* False in a forked child, which must forget its parent's recording (agent_rebirth) before
 * anything else. */
static bool heap_record_is_stack_short(const struct fxt_thread_writer *writer)
{
	return writer && !fxt_engine_was_forked(&agent_engine) && agent_stack_is_short();
}

/* True if the thread may count in its writer at once: it is in no hook, and in no child
 * that was just forked. */
static bool heap_record_is_ready(const struct fxt_thread_writer *writer)
{
	return likely(
	        writer && load_relaxed(&writer->busy) == FXT_IDLE && !fxt_engine_was_forked(&agent_engine));
}

static void heap_record_count_only(struct fxt_thread_writer *writer, int64_t bytes, int64_t objects)
{
	store_relaxed(&writer->busy, FXT_SLOW_PATH);
	compiler_barrier();
	if (heap_record_is_in_child(writer, bytes, objects))
		return;
	agent_count(writer, bytes, objects);
	agent_heap_leave(writer);
}

/* The writer for an event on a stack that may be a coroutine's. If it is, the thread's own
 * writer stays busy, as in a hook. */
static struct fxt_thread_writer *heap_record_writer_at(struct fxt_thread_writer *own, uint64_t here)
{
	struct fxt_thread_writer *writer;

	store_relaxed(&own->busy, FXT_SLOW_PATH);
	writer = agent_writer_at(own, here, false);
	if (writer && writer != own)
		return writer;
	store_release(&own->busy, FXT_IDLE);
	return own;
}

/* The coroutine's writer is IDLE already. */
static void heap_record_leave_coroutine(void)
{
	agent_self.claimed = NULL;
	if (agent_self.writer)
		store_release(&agent_self.writer->busy, FXT_IDLE);
}

/* `is_chosen`: sampling has chosen it already. */
static __attribute__((noinline)) void *heap_record_allocated(
        void *pointer, size_t size, size_t usable, const void *caller, bool is_chosen)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct fxt_thread_writer *writer = agent_self.writer;
	void *result;
	bool is_walked, is_of_library = false;

	if (heap_record_is_stack_short(writer)) {
		heap_record_lose_nested(writer, (int64_t)usable, 1);
		return pointer;
	}
	if (heap_record_is_inside_hook()) {
		writer = heap_record_nested(writer, (int64_t)usable, 1);
		if (!writer)
			return pointer;
		is_walked = false;
	} else {
		writer = heap_record_writer();
		if (!writer) {
			heap_record_count_apart((int64_t)usable, 1);
			return pointer;
		}
		if (!agent_stack_is_own(here))
			writer = heap_record_writer_at(writer, here);
		is_walked = agent_heap.stacks == FXT_HEAP_STACKS_UNWIND ||
		            (agent_heap.stacks == FXT_HEAP_STACKS_AUTO &&
		                    !has_open_call(fxt_slot(&agent_engine, writer->number)));
		is_of_library = !is_walked && agent_heap_is_library((uintptr_t)caller);
	}
	if (agent_heap.mode == FXT_HEAP_SAMPLED && !is_chosen &&
	        !agent_sample_choose(&agent_heap_threads[writer->number], pointer, size)) {
		heap_record_count_only(writer, (int64_t)usable, 1);
		result = pointer;
	} else if (is_walked || is_of_library) {
		result = heap_record_walk_and_finish(writer, pointer, size, usable, caller, is_of_library);
	} else {
		result = heap_record_finish(writer, pointer, size, usable, NULL, caller);
	}
	if (unlikely(writer == agent_self.claimed))
		heap_record_leave_coroutine();
	return result;
}

static COLD void heap_record_freed(void *pointer, size_t usable, uint64_t ticks)
{
	struct fxt_thread_writer *writer = agent_self.writer;

	if (heap_record_is_stack_short(writer)) {
		heap_record_lose_nested(writer, -(int64_t)usable, -1);
		return;
	}
	if (heap_record_is_inside_hook()) {
		writer = heap_record_nested(writer, -(int64_t)usable, -1);
	} else {
		writer = heap_record_writer();
		if (!writer)
			heap_record_count_apart(-(int64_t)usable, -1);
	}
	if (!writer)
		return;
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, writer->number);
	bool is_recorded = agent_heap.mode == FXT_HEAP_OBJECTS ||
	                   (agent_heap.mode == FXT_HEAP_SAMPLED && agent_sample_forget(pointer));

	store_relaxed(&writer->busy, FXT_SLOW_PATH);
	compiler_barrier();
	if (heap_record_is_in_child(writer, -(int64_t)usable, -1))
		return;
	is_recorded = is_recorded && heap_record_may(writer);
	while (is_recorded && !agent_write_free(writer, slot, pointer, ticks)) {
		store_release(&writer->busy, FXT_SLOW_PATH);
		if (!fxt_chunk_reserve(&agent_engine, writer, AGENT_FREE_WORDS)) {
			heap_record_lose(
			        writer, agent_instant_ticks(writer, fxt_clock_ticks(agent_engine.clock)));
			break;
		}
	}
	agent_count(writer, -(int64_t)usable, -1);
	agent_heap_leave(writer);
}

/* For the modes that only count most blocks: sampling, and counters alone. */
static __attribute__((noinline)) void *heap_record_counted_or_allocated(
        void *pointer, size_t size, size_t usable, const void *caller)
{
	struct fxt_thread_writer *writer = agent_self.writer;
	bool is_chosen = false;

	if (heap_record_is_ready(writer)) {
		is_chosen = agent_heap.mode == FXT_HEAP_SAMPLED &&
		            agent_sample_choose(&agent_heap_threads[writer->number], pointer, size);
		if (!is_chosen) {
			heap_record_count_only(writer, (int64_t)usable, 1);
			return pointer;
		}
	}
	return heap_record_allocated(pointer, size, usable, caller, is_chosen);
}

/* ---- the interface ---- */

void *agent_heap_allocated(void *pointer, size_t size, size_t usable, const void *caller)
{
	if (likely(agent_heap.mode == FXT_HEAP_OBJECTS))
		return heap_record_allocated(pointer, size, usable, caller, false);
	if (agent_heap.mode != AGENT_HEAP_STOPPED)
		return heap_record_counted_or_allocated(pointer, size, usable, caller);
	heap_record_count_apart((int64_t)usable, 1);
	return pointer;
}

void agent_heap_freed(void *pointer, size_t usable, uint64_t ticks)
{
	struct fxt_thread_writer *writer = agent_self.writer;

	agent_locks_freed(pointer, usable);
	if (agent_heap.mode == FXT_HEAP_COUNTERS && heap_record_is_ready(writer))
		heap_record_count_only(writer, -(int64_t)usable, -1);
	else
		heap_record_freed(pointer, usable, ticks);
}

bool agent_heap_freed_while_stopped(size_t usable)
{
	if (load_relaxed(&agent_heap.mode) != AGENT_HEAP_STOPPED)
		return false;
	heap_record_count_apart(-(int64_t)usable, -1);
	return true;
}
