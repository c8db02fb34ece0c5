/*
 * The allocator behind ours: the next malloc family in the program's search order, looked
 * up once, and the memory that serves until it is known. dlsym() may allocate itself, and a
 * program's first allocation may come before any constructor. Such calls get bootstrap
 * memory: a small static arena and then mapped regions, which are never given back to the
 * kernel. Every function that frees or resizes must ask agent_is_bootstrap() first.
 */
#ifndef FXT_AGENT_ALLOCATOR_H
#define FXT_AGENT_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "agent/base/attributes.h"
#include "writer/shared/atomics.h"

struct agent_allocator {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	size_t (*usable_size)(void *);
	void *(*reallocarray)(void *, size_t, size_t);      /* NULL = none */
	void (*cfree)(void *);                              /* the same */
	void (*free_sized)(void *, size_t);                 /* C23; NULL = none */
	void (*free_aligned_sized)(void *, size_t, size_t); /* C23; NULL = none */
};
extern HIDDEN struct agent_allocator agent_next;

/* True if agent_next is complete; tries to complete it. False while a thread, also the
 * calling one, is completing it, and before the agent is relocated. The agent begins here
 * if it has not yet. */
bool agent_allocator_look_up(void);

/* agent_next is complete, and the agent has begun. */
extern HIDDEN bool agent_allocator_known;

/* Something was allocated or freed before the agent began. */
extern HIDDEN bool agent_allocator_was_early;

static inline bool agent_allocator_is_known(void)
{
	/* Acquire: pairs with the release after the last entry of agent_next. */
	return likely(load_acquire(&agent_allocator_known)) || agent_allocator_look_up();
}

/*
 * Finds out whether the allocator is glibc's and has before each block what glibc has
 * always had there: the size of block and header, with three bits of flags. Then
 * agent_usable_size() need not call the allocator, which it would do twice for a block [4
 * of the 28 ns that malloc and free take longer]. In the constructor, for a program whose
 * heap is to be recorded.
 */
void agent_allocator_look_at_headers(void);

extern HIDDEN bool agent_has_glibc_headers;

#define AGENT_HEADER_FLAGS     ((size_t)7)
#define AGENT_HEADER_IS_MAPPED ((size_t)2) /* a region of its own, with less usable space */

static inline size_t agent_header(const void *block)
{
	return ((const size_t *)block)[-1];
}

static inline size_t agent_header_usable_size(size_t header)
{
	return (header & ~AGENT_HEADER_FLAGS) - sizeof(header);
}

/* Asks the allocator. An allocator whose constructor has not run may allocate inside this
 * call, as tcmalloc does: nothing asks for the size of such a block, else the calls would
 * never end. */
size_t agent_ask_usable_size(void *block);

/* The block's size as the allocator's malloc_usable_size() gives it. */
static inline size_t agent_usable_size(void *block)
{
	if (likely(load_foldable(&agent_has_glibc_headers)) &&
	        likely(!(agent_header(block) & AGENT_HEADER_IS_MAPPED)))
		return agent_header_usable_size(agent_header(block));
	return agent_ask_usable_size(block);
}

/* Returns NULL if this program's allocations can be recorded. Otherwise returns the reason:
 * they cannot be seen here, or are not its own. From the constructor. */
const char *agent_allocator_obstacle(void);

/* Allocates zeroed memory until the allocator is known. The alignment is a power of two.
 * NULL: no memory is left. */
void *agent_bootstrap_allocate(size_t bytes, size_t alignment);

/* Takes a block back, to be reused for blocks of its size. */
void agent_bootstrap_free(void *block);

/* The bytes that were requested for a block of bootstrap memory. */
size_t agent_bootstrap_size(const void *block);

extern HIDDEN uintptr_t agent_bootstrap_low, agent_bootstrap_high;
bool agent_bootstrap_owns(const void *block);

static inline bool agent_is_bootstrap(const void *block)
{
	uintptr_t low = load_relaxed(&agent_bootstrap_low);

	return unlikely((uintptr_t)block - low < load_relaxed(&agent_bootstrap_high) - low) &&
	       agent_bootstrap_owns(block);
}

#endif
