#include "heap.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "allocator.h"
#include "sample.h"
#include "shadow.h"
#include "stacks.h"
#include "writer/encode.h"
#include "writer/heap.h"

#define COLD __attribute__((noinline, cold))

#define OBJECT_WORDS  5 /* header, pointer, size, path's header and value; one more for a size of 4 GiB */
#define INSTANT_WORDS 4 /* header, time, pointer's header and value */

struct agent_heap agent_heap;
__thread uint8_t agent_heap_guard;

/* What the manager asked for and this program allows; begin() makes it so. */
static uint32_t wanted_mode;

/* ---- beginning and end ---- */

static uint16_t name_of(const char *text)
{
	return fxt_string_register(&agent_engine, text, strlen(text));
}

static uint64_t argument_header(enum fxt_argument_type type, uint64_t words, uint16_t name)
{
	return type | words << 4 | (uint64_t)name << 16;
}

static uint64_t instant_header(uint16_t category, uint16_t name)
{
	return fxt_record_header(FXT_RECORD_EVENT, INSTANT_WORDS) | FXT_EVENT_INSTANT << 16 | 1u << 20 |
	       (uint64_t)category << 32 | (uint64_t)name << 48;
}

static void make_headers(struct agent_heap *heap)
{
	heap->object_header = fxt_record_header(FXT_RECORD_USERSPACE_OBJECT, OBJECT_WORDS) | UINT64_C(2)
	                                                                                             << 40;
	heap->allocate_header = instant_header(heap->category, heap->allocate_name);
	heap->free_header = instant_header(heap->category, heap->free_name);
	heap->size_argument = argument_header(FXT_ARGUMENT_UINT32, 1, heap->size_name);
}

/* With the lock held: names, and a durable instant that tells how this heap is recorded. */
static bool announce(struct agent_heap *heap)
{
	struct fxt_engine *e = &agent_engine;
	static const char *const modes[] = {[FXT_HEAP_OBJECTS] = "objects",
	        [FXT_HEAP_SAMPLED] = "sampled",
	        [FXT_HEAP_COUNTERS] = "counters"};
	uint16_t path = name_of("path"), pointer = name_of("pointer"), parent = name_of("parent");
	uint64_t record[16];
	struct fxt_argument arguments[2];

	heap->category = name_of("heap");
	heap->allocate_name = name_of("allocate");
	heap->free_name = name_of("free");
	heap->size_name = name_of("size");
	if (!path || !pointer || !parent || !heap->category || !heap->allocate_name || !heap->free_name ||
	        !heap->size_name)
		return false;
	heap->path_argument = argument_header(FXT_ARGUMENT_POINTER, 2, path);
	heap->pointer_argument = argument_header(FXT_ARGUMENT_POINTER, 2, pointer);
	heap->parent_argument = argument_header(FXT_ARGUMENT_POINTER, 2, parent);
	make_headers(heap);
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
	uint64_t mask;

	if (wanted_mode == FXT_HEAP_OFF || !fxt_engine_category_enabled(&agent_engine, "heap"))
		return;
	mask = fxt_lock(&agent_engine.lock);
	if (announce(&agent_heap))
		store_release(&agent_heap.mode, wanted_mode);
	fxt_unlock(&agent_engine.lock, mask);
}

void agent_heap_end(void)
{
	store_relaxed(&agent_heap.mode, FXT_HEAP_OFF);
}

void agent_heap_forget(void)
{
	agent_heap_end();
	agent_heap_guard = AGENT_HEAP_OPEN; /* a fork in a handler that interrupted a walk */
	agent_paths_forget();
}

/* Why this program's allocations cannot be seen, or are not its own; NULL = they can. */
static const char *obstacle(void)
{
	static const char *const sanitizers[] = {
	        "__asan_init", "__tsan_init", "__msan_init", "__hwasan_init"};
	const char *preload = getenv("LD_PRELOAD");
	Dl_info first, ours;

	for (size_t i = 0; i < sizeof(sanitizers) / sizeof(*sanitizers); i++)
		if (dlsym(RTLD_DEFAULT, sanitizers[i]))
			return "it was built with a sanitizer, which has an allocator of its own";
	if (preload && strstr(preload, "vgpreload"))
		return "it runs under valgrind, which replaces the allocator";
	if (!dladdr(dlsym(RTLD_DEFAULT, "malloc"), &first) || !dladdr(&agent_heap, &ours) ||
	        first.dli_fbase != ours.dli_fbase)
		return "an allocator is linked into the executable, where it precedes any other";
	return NULL;
}

void agent_heap_prepare(void)
{
	const struct fxt_control *control = agent_engine.control;
	const char *why;

	if (control->heap_mode == FXT_HEAP_OFF || control->heap_mode > FXT_HEAP_COUNTERS)
		return;
	agent_heap.stacks =
	        control->heap_mode == FXT_HEAP_COUNTERS ? FXT_HEAP_STACKS_NONE : control->heap_stacks;
	agent_heap.sample_bytes = control->heap_sample_bytes;
	why = obstacle();
	if (!why && !agent_allocator_is_known())
		why = "its allocator cannot be found";
	if (!why && (!agent_paths_prepare(agent_heap.stacks == FXT_HEAP_STACKS_AUTO ||
	                                  agent_heap.stacks == FXT_HEAP_STACKS_UNWIND) ||
	                    (control->heap_mode == FXT_HEAP_SAMPLED && !agent_sample_prepare())))
		why = "there is no memory for it";
	if (why)
		agent_notice("the program's heap is not recorded: ", why, NULL);
	else
		wanted_mode = control->heap_mode;
}

/* ---- writing ---- */

static inline uint64_t instant_ticks(const struct fxt_block *block)
{
	uint64_t now = fxt_clock_ticks(agent_engine.clock);

	/* Later than any call's start, by which a collector knows a call's record. */
	return now > block->last ? now : block->last + 1;
}

/* Makes sure of room for a record. WRITING from before the limit is read until the record stands. */
static inline uint64_t *begin_write(
        struct fxt_block *block, const struct fxt_thread_slot *slot, uint64_t words)
{
	store_relaxed(&block->busy, FXT_WRITING);
	compiler_barrier();
	uint64_t *position = fxt_chunk_position(slot);

	return likely((uint64_t)(uintptr_t)(position + words) <= load_relaxed(&block->limit)) ? position
	                                                                                      : NULL;
}

static inline void end_write(
        struct fxt_block *block, struct fxt_thread_slot *slot, const uint64_t *position, uint64_t words)
{
	fxt_chunk_commit(slot, position, words);
	/* Behind it: who closes the chunk meanwhile counts what was committed. */
	block->other_bytes += words * 8;
}

static inline void put_instant(
        uint64_t *at, uint64_t header, const struct fxt_block *block, uint64_t ticks, const void *pointer)
{
	at[0] = header | (block->header & UINT64_C(0xff000000)); /* the thread's index */
	at[1] = ticks;
	at[2] = agent_heap.pointer_argument;
	at[3] = (uint64_t)(uintptr_t)pointer;
}

static inline bool write_allocation(struct fxt_block *block, struct fxt_thread_slot *slot,
        const void *pointer, size_t size, uint64_t path, uint64_t index)
{
	uint64_t *position = begin_write(block, slot, OBJECT_WORDS + INSTANT_WORDS), *at = position;

	if (unlikely(!position))
		return false;
	at[0] = agent_heap.object_header | (block->header & UINT64_C(0xff000000)) >> 8 | index << 24;
	at[1] = (uint64_t)(uintptr_t)pointer;
	at[2] = agent_heap.size_argument | (uint64_t)size << 32;
	at[3] = agent_heap.path_argument;
	at[4] = path;
	put_instant(at + OBJECT_WORDS, agent_heap.allocate_header, block, instant_ticks(block), pointer);
	end_write(block, slot, position, OBJECT_WORDS + INSTANT_WORDS);
	return true;
}

/* The same for a size that takes a word of its own. */
static COLD bool write_huge_allocation(struct fxt_block *block, struct fxt_thread_slot *slot,
        const void *pointer, size_t size, uint64_t path, uint64_t index)
{
	enum { WORDS = OBJECT_WORDS + 1 };
	uint64_t *position = begin_write(block, slot, WORDS + INSTANT_WORDS), *at = position;

	if (!position)
		return false;
	at[0] = (agent_heap.object_header + (1 << 4)) | (block->header & UINT64_C(0xff000000)) >> 8 |
	        index << 24;
	at[1] = (uint64_t)(uintptr_t)pointer;
	at[2] = argument_header(FXT_ARGUMENT_UINT64, 2, agent_heap.size_name);
	at[3] = size;
	at[4] = agent_heap.path_argument;
	at[5] = path;
	put_instant(at + WORDS, agent_heap.allocate_header, block, instant_ticks(block), pointer);
	end_write(block, slot, position, WORDS + INSTANT_WORDS);
	return true;
}

static inline bool write_free(
        struct fxt_block *block, struct fxt_thread_slot *slot, const void *pointer, uint64_t ticks)
{
	uint64_t *position = begin_write(block, slot, INSTANT_WORDS);

	if (unlikely(!position))
		return false;
	put_instant(position, agent_heap.free_header, block, ticks, pointer);
	end_write(block, slot, position, INSTANT_WORDS);
	return true;
}

/* Live sums have one writer, the thread, while it is busy. */
static inline void count(const struct fxt_block *block, int64_t bytes, int64_t objects)
{
	struct fxt_heap_sum *sum = fxt_heap_sum(agent_engine.control, block->number);

	store_relaxed(&sum->bytes, sum->bytes + bytes);
	store_relaxed(&sum->objects, sum->objects + objects);
}

static inline void leave(struct fxt_block *block)
{
	store_release(&block->busy, FXT_IDLE);
}

/* ---- out of line ---- */

/* The calling thread's block; in a forked child, that of its own engine. NULL: nothing is recorded. */
static struct fxt_block *find_block(void)
{
	if (fxt_engine_was_forked(&agent_engine))
		agent_reborn();
	if (agent_heap.mode == FXT_HEAP_OFF)
		return NULL;
	return agent_self.block ? agent_self.block : agent_attach();
}

static void lose(struct fxt_block *block, uint64_t ticks)
{
	fxt_chunk_lose(&agent_engine, block, 1, ticks);
	if (load_relaxed(&agent_engine.broken)) /* nobody reads us any more */
		agent_heap_end();
}

/* A name that is local to a chunk holds for the chunk that is open: where that has no room any more, it is
 * asked for again. 0 = no room. */
static uint64_t index_in_chunk(struct fxt_block *block, const struct agent_path *path, uint64_t words)
{
	uint64_t mask;
	uint32_t module;

	if (path->index != FXT_INDEX_LOCAL)
		return path->index;
	mask = fxt_lock(&agent_engine.lock);
	module = agent_module_of(path->address);
	fxt_unlock(&agent_engine.lock, mask);
	return fxt_local_index(&agent_engine, block, path->address, module, words);
}

/* Writes an allocation whatever it takes, or counts it as lost. OUT_OF_LINE. */
static void record_allocation(struct fxt_block *block, struct fxt_thread_slot *slot, const void *pointer,
        size_t size, const struct agent_path *path)
{
	const uint64_t words = OBJECT_WORDS + 1 + INSTANT_WORDS;

	for (;;) {
		uint64_t index = index_in_chunk(block, path, words);
		bool is_written =
		        (index || !path->index) && (size >> 32 ? write_huge_allocation : write_allocation)(
		                                           block, slot, pointer, size, path->id, index);

		store_release(&block->busy, FXT_OUT_OF_LINE);
		if (is_written)
			return;
		if ((path->index && !index) || !fxt_chunk_take(&agent_engine, block, words))
			break;
	}
	lose(block, instant_ticks(block));
}

/* The allocation and the nodes of its path, in one generation: a later one would drop the nodes first. */
static void record_with_path(struct fxt_block *block, struct fxt_thread_slot *slot, const void *pointer,
        size_t size, void *const *addresses, unsigned walked)
{
	bool is_recorded = false;
	uint64_t generation;

	do {
		struct agent_path path = {0};

		generation = agent_paths_generation();
		if (walked)
			path = agent_path_of_walk(block, addresses, walked);
		else if (agent_heap.stacks == FXT_HEAP_STACKS_AUTO ||
		         agent_heap.stacks == FXT_HEAP_STACKS_SHADOW)
			path = agent_path_of_calls(block);
		if (!is_recorded)
			record_allocation(block, slot, pointer, size, &path);
		is_recorded = true;
	} while (agent_paths_generation() != generation);
}

static void *finish(struct fxt_block *block, void *pointer, size_t size, size_t usable,
        void *const *addresses, unsigned walked)
{
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, block->number);

	store_relaxed(&block->busy, FXT_OUT_OF_LINE);
	compiler_barrier();
	if (agent_heap.mode != FXT_HEAP_COUNTERS)
		record_with_path(block, slot, pointer, size, addresses, walked);
	count(block, (int64_t)usable, 1);
	if (agent_helper_wanted())
		agent_helper_start();
	leave(block);
	return pointer;
}

/* In a frame of its own: the addresses take half a kilobyte of a stack that may be small. */
static __attribute__((noinline)) void *walk_and_finish(
        struct fxt_block *block, void *pointer, size_t size, size_t usable, const void *caller)
{
	void *addresses[AGENT_WALK_MAX], *const *walked;
	unsigned count;

	walked = agent_walk(caller, addresses, &count);
	return finish(block, pointer, size, usable, walked, count);
}

/* An event of a handler inside a hook that cannot be recorded. The next hook of the thread is led out of
 * line, to show it. */
static void lose_nested(struct fxt_block *block, int64_t bytes, int64_t objects)
{
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, block->number);
	struct fxt_heap_sum *sum = fxt_heap_sum(agent_engine.control, block->number);

	add_relaxed(&sum->nested_bytes, bytes);
	add_relaxed(&sum->nested_objects, objects);
	if (agent_heap.mode == FXT_HEAP_COUNTERS)
		return;
	store_relaxed(&slot->nested, slot->nested + 1);
	store_relaxed(&block->limit, 0);
	store_relaxed(&block->top_limit, 0);
}

static bool is_inside_hook(const struct fxt_block *block)
{
	return block && load_relaxed(&block->busy) != FXT_IDLE && !fxt_engine_was_forked(&agent_engine);
}

/* The block for an event of a handler inside a hook, its times behind those of the hook; NULL: it is lost. */
static struct fxt_block *find_nested(struct fxt_block *block, int64_t bytes, int64_t objects)
{
	struct fxt_block *nested = agent_nested();

	if (!nested || load_relaxed(&nested->busy) != FXT_IDLE) {
		lose_nested(block, bytes, objects);
		return NULL;
	}
	if (nested->last <= block->last)
		nested->last = block->last + agent_engine.step;
	return nested;
}

static __attribute__((noinline)) void *allocated_out_of_line(void *pointer, size_t size, const void *caller)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct fxt_block *block = agent_self.block, *coroutine = NULL;
	size_t usable = agent_next.usable_size(pointer);
	bool is_walked;

	if (agent_heap_guard == AGENT_HEAP_OURS)
		return pointer;
	if (is_inside_hook(block)) {
		block = find_nested(block, (int64_t)usable, 1);
		if (!block)
			return pointer;
		is_walked = false;
	} else {
		block = find_block();
		if (!block)
			return pointer;
		if (!agent_stack_is_own(here))
			coroutine = agent_coroutine_at(here, false);
		if (coroutine)
			block = coroutine;
		is_walked = agent_heap.stacks == FXT_HEAP_STACKS_UNWIND ||
		            (agent_heap.stacks == FXT_HEAP_STACKS_AUTO &&
		                    is_sentinel(slot_top(fxt_slot(&agent_engine, block->number)) - 1));
	}
	if (agent_heap.mode == FXT_HEAP_SAMPLED &&
	        !agent_sample_choose(&agent_heap_threads[block->number], pointer, size)) {
		store_relaxed(&block->busy, FXT_OUT_OF_LINE);
		compiler_barrier();
		count(block, (int64_t)usable, 1);
		leave(block);
		return pointer;
	}
	if (is_walked)
		return walk_and_finish(block, pointer, size, usable, caller);
	return finish(block, pointer, size, usable, NULL, 0);
}

static COLD void freed_out_of_line(void *pointer, size_t usable, uint64_t ticks)
{
	struct fxt_block *block = agent_self.block;

	if (agent_heap_guard == AGENT_HEAP_OURS)
		return;
	block = is_inside_hook(block) ? find_nested(block, -(int64_t)usable, -1) : find_block();
	if (!block)
		return;
	struct fxt_thread_slot *slot = fxt_slot(&agent_engine, block->number);
	bool is_recorded = agent_heap.mode == FXT_HEAP_OBJECTS ||
	                   (agent_heap.mode == FXT_HEAP_SAMPLED && agent_sample_forget(pointer));

	store_relaxed(&block->busy, FXT_OUT_OF_LINE);
	compiler_barrier();
	while (is_recorded && !write_free(block, slot, pointer, ticks)) {
		store_release(&block->busy, FXT_OUT_OF_LINE);
		if (!fxt_chunk_take(&agent_engine, block, INSTANT_WORDS)) {
			lose(block, instant_ticks(block));
			break;
		}
	}
	count(block, -(int64_t)usable, -1);
	leave(block);
}

/* ---- the interface ---- */

void *agent_heap_allocated(void *pointer, size_t size, const void *caller)
{
	struct fxt_block *block = agent_self.block;

	if (unlikely(!block || agent_heap.mode != FXT_HEAP_OBJECTS || size >> 32 ||
	             load_relaxed(&block->busy) != FXT_IDLE))
		goto out_of_line;
	struct fxt_thread_slot *slot = agent_self.slot;
	const struct agent_heap_thread *thread = &agent_heap_threads[block->number];
	const struct fxt_frame *newest = (const struct fxt_frame *)(uintptr_t)load_relaxed(&slot->top) - 1;
	uint64_t index = newest->function & FXT_INDEX_LOCAL;
	uint64_t path = agent_path_kept(thread, newest);

	if (unlikely(!path || index == FXT_INDEX_LOCAL || agent_heap.stacks == FXT_HEAP_STACKS_UNWIND))
		goto out_of_line;
	size_t usable = agent_next.usable_size(pointer);
	uint64_t generation = agent_paths_generation();

	if (unlikely(thread->generation != generation ||
	             !write_allocation(block, slot, pointer, size, path, index))) {
		store_release(&block->busy, FXT_IDLE);
		goto out_of_line;
	}
	count(block, (int64_t)usable, 1);
	leave(block);
	return pointer;
out_of_line:
	return allocated_out_of_line(pointer, size, caller);
}

void agent_heap_freed(void *pointer, size_t usable, uint64_t ticks)
{
	struct fxt_block *block = agent_self.block;

	if (likely(block && agent_heap.mode == FXT_HEAP_OBJECTS && !agent_heap_guard &&
	            load_relaxed(&block->busy) == FXT_IDLE)) {
		struct fxt_thread_slot *slot = agent_self.slot;

		if (likely(write_free(block, slot, pointer, ticks))) {
			count(block, -(int64_t)usable, -1);
			leave(block);
			return;
		}
		store_release(&block->busy, FXT_IDLE);
	}
	freed_out_of_line(pointer, usable, ticks);
}
