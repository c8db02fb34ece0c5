/* The entry points of the allocator, interposed, on the thread that calls them. They call
 * the functions behind ours (allocator.h) and report to the heap (heap.h). If the heap is
 * not to be recorded they only pass calls on. They must work before any constructor. */
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include "allocator.h"
#include "agent/base/attributes.h"
#include "heap_record.h"

#define APART  __attribute__((noinline))
#define CALLER __builtin_return_address(0)

/* Also true while the session is stopped and blocks are only counted. */
static inline bool malloc_is_recorded(void)
{
	return load_relaxed(&agent_heap.mode) != FXT_HEAP_OFF;
}

/* True if calls are only passed on. */
static inline bool malloc_is_passing(void)
{
	return likely(load_acquire(&agent_allocator_known) && !malloc_is_recorded());
}

static inline bool malloc_is_fast(void)
{
	return likely(load_foldable(&agent_heap.is_fast));
}

/* Hands out a block that was allocated while malloc_is_fast(), to the caller of the
 * function that this is part of. Every variable that is still needed after a call costs a
 * saved register, so there are few. */
static inline __attribute__((always_inline)) void *malloc_record_fast(void *block, size_t size)
{
	size_t usable;

	if (unlikely(!block))
		return NULL;
	usable = agent_usable_size(block);
	if (likely(!agent_heap_is_library((uintptr_t)CALLER)) &&
	        likely(agent_try_allocated(block, size, usable)))
		return block;
	return agent_heap_allocated(block, size, usable, CALLER);
}

/* Hands out an allocated block. */
static APART void *malloc_record(void *block, size_t size, const void *caller)
{
	size_t usable;

	if (!block || !malloc_is_recorded())
		return block;
	usable = agent_usable_size(block);
	if (malloc_is_fast() && likely(!agent_heap_is_library((uintptr_t)caller)) &&
	        likely(agent_try_allocated(block, size, usable)))
		return block;
	return agent_heap_allocated(block, size, usable, caller);
}

static void *malloc_bootstrap(size_t bytes, size_t alignment)
{
	void *block = agent_bootstrap_allocate(bytes, alignment);

	if (!block)
		errno = ENOMEM;
	return block;
}

static APART void *malloc_unhurried(size_t size, const void *caller)
{
	if (!agent_allocator_is_known())
		return malloc_bootstrap(size, 1);
	return malloc_record(agent_next.malloc(size), size, caller);
}

EXPORT void *malloc(size_t size)
{
	if (malloc_is_fast())
		return malloc_record_fast(agent_next.malloc(size), size);
	if (malloc_is_passing())
		return agent_next.malloc(size);
	return malloc_unhurried(size, CALLER);
}

static APART void *calloc_unhurried(size_t count, size_t size, const void *caller)
{
	size_t bytes;

	if (!agent_allocator_is_known()) {
		if (__builtin_mul_overflow(count, size, &bytes))
			bytes = SIZE_MAX;
		return malloc_bootstrap(bytes, 1);
	}
	return malloc_record(agent_next.calloc(count, size), count * size, caller);
}

EXPORT void *calloc(size_t count, size_t size)
{
	if (malloc_is_fast())
		return malloc_record_fast(agent_next.calloc(count, size), count * size);
	if (malloc_is_passing())
		return agent_next.calloc(count, size);
	return calloc_unhurried(count, size, CALLER);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	if (!agent_allocator_is_known())
		return malloc_bootstrap(size, alignment);
	return malloc_record(agent_next.memalign(alignment, size), size, CALLER);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	if (!agent_allocator_is_known())
		return malloc_bootstrap(size, alignment);
	return malloc_record(agent_next.aligned_alloc(alignment, size), size, CALLER);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
	int error = 0;

	if (!agent_allocator_is_known()) {
		void *found = agent_bootstrap_allocate(size, alignment);

		if (!found)
			return ENOMEM;
		*block = found;
		return 0;
	}
	error = agent_next.posix_memalign(block, alignment, size);
	if (!error)
		malloc_record(*block, size, CALLER);
	return error;
}

#define PAGE_BYTES ((size_t)4096)

EXPORT void *valloc(size_t size)
{
	if (!agent_allocator_is_known())
		return malloc_bootstrap(size, PAGE_BYTES);
	return malloc_record(agent_next.valloc(size), size, CALLER);
}

EXPORT void *pvalloc(size_t size)
{
	if (!agent_allocator_is_known())
		return malloc_bootstrap((size + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1), PAGE_BYTES);
	return malloc_record(agent_next.pvalloc(size), size, CALLER);
}

/* ---- blocks that exist ---- */

EXPORT size_t malloc_usable_size(void *block)
{
	if (agent_is_bootstrap(block))
		return agent_bootstrap_size(block);
	return agent_allocator_is_known() ? agent_next.usable_size(block) : 0;
}

/* A block of bootstrap memory moves to the allocator as soon as there is one. */
static void *malloc_leave_bootstrap(void *block, size_t size, const void *caller)
{
	size_t bytes = agent_bootstrap_size(block);
	void *larger = agent_allocator_is_known() ? malloc_record(agent_next.malloc(size), size, caller)
	                                          : malloc_bootstrap(size, 1);

	if (larger) {
		memcpy(larger, block, bytes < size ? bytes : size);
		agent_bootstrap_free(block);
	}
	return larger;
}

/* Frees of a thread that may not read the clock are not recorded. */
static inline uint64_t malloc_ticks(void)
{
	return unlikely(agent_self.withheld) ? 0 : fxt_clock_ticks(agent_engine.clock);
}

/* Number of blocks that the thread has resized. */
static __thread uint32_t resized;

/* The next realloc() or, with a count, reallocarray(). */
static void *malloc_resize_by_next(void *block, size_t count, size_t size)
{
	return count ? agent_next.reallocarray(block, count, size) : agent_next.realloc(block, size);
}

/* `count`: 0, or reallocarray() is called for this many times `size`. */
static void *malloc_resize(void *block, size_t count, size_t size, const void *caller)
{
	size_t usable, bytes = count ? count * size : size;
	uint32_t before = ++resized;
	uint64_t ticks;
	void *moved;

	if (!agent_allocator_is_known())
		return block ? malloc_leave_bootstrap(block, bytes, caller) : malloc_bootstrap(bytes, 1);
	if (agent_is_bootstrap(block))
		return malloc_leave_bootstrap(block, bytes, caller);
	if (!malloc_is_recorded())
		return malloc_resize_by_next(block, count, size);
	usable = block ? agent_usable_size(block) : 0;
	ticks = malloc_ticks();
	moved = malloc_resize_by_next(block, count, size);
	if (resized != before) /* the next function called realloc(), which recorded it */
		return moved;
	/* A resize to no bytes frees the block, whether the allocator returns a block of no
	 * bytes or NULL. */
	if (block && (moved || bytes == 0))
		agent_heap_freed(block, usable, ticks);
	return malloc_record(moved, bytes, caller);
}

EXPORT void *realloc(void *block, size_t size)
{
	return malloc_resize(block, 0, size, CALLER);
}

EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	if (agent_allocator_is_known() && agent_next.reallocarray && count)
		return malloc_resize(block, count, size, CALLER);
	return malloc_resize(block, 0, bytes, CALLER);
}

/* True if the allocator is to free the block: not NULL, and not bootstrap memory. Records
 * the free. */
static inline bool malloc_is_to_free(void *block)
{
	if (unlikely(!block))
		return false;
	if (unlikely(agent_is_bootstrap(block))) {
		agent_bootstrap_free(block);
		return false;
	}
	if (unlikely(!agent_allocator_is_known()))
		return false;
	if (malloc_is_recorded()) {
		size_t usable = agent_usable_size(block);

		if (!agent_heap_freed_while_stopped(usable))
			agent_heap_freed(block, usable, malloc_ticks());
	}
	return true;
}

static APART void free_unhurried(void *block)
{
	if (malloc_is_to_free(block))
		agent_next.free(block);
}

EXPORT void free(void *block)
{
	if (!malloc_is_fast() || unlikely(!block || agent_is_bootstrap(block))) {
		if (malloc_is_passing() && !agent_is_bootstrap(block))
			agent_next.free(block);
		else
			free_unhurried(block);
		return;
	}
	uint64_t ticks = arch_counter();
	size_t usable = agent_usable_size(block);

	if (unlikely(!agent_try_freed(block, usable, ticks)))
		agent_heap_freed(block, usable, ticks);
	agent_next.free(block);
}

EXPORT void cfree(void *block)
{
	if (malloc_is_to_free(block))
		(agent_next.cfree ?: agent_next.free)(block);
}

EXPORT void free_sized(void *block, size_t size)
{
	if (!malloc_is_to_free(block))
		return;
	if (agent_next.free_sized)
		agent_next.free_sized(block, size);
	else
		agent_next.free(block);
}

EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	if (!malloc_is_to_free(block))
		return;
	if (agent_next.free_aligned_sized)
		agent_next.free_aligned_sized(block, alignment, size);
	else
		agent_next.free(block);
}
