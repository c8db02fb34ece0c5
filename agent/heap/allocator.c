/* Looks up the allocator behind ours and provides memory until it is known (allocator.h).
 * Runs on any thread that allocates, also before any constructor. Allocations that dlsym()
 * makes in the meantime come back here and get bootstrap memory. */
#include "allocator.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "operators.h"
#include "agent/base/libc.h"
#include "agent/base/self.h"
#include "agent/base/symbols.h"
#include "writer/shared/sys.h"

struct agent_allocator agent_next;
bool agent_allocator_known, agent_allocator_was_early;
bool agent_has_glibc_headers;

static const struct {
	const char *name;
	size_t offset; /* in struct agent_allocator */
} entries[] = {
        {"malloc", offsetof(struct agent_allocator, malloc)},
        {"calloc", offsetof(struct agent_allocator, calloc)},
        {"realloc", offsetof(struct agent_allocator, realloc)},
        {"free", offsetof(struct agent_allocator, free)},
        {"posix_memalign", offsetof(struct agent_allocator, posix_memalign)},
        {"aligned_alloc", offsetof(struct agent_allocator, aligned_alloc)},
        {"memalign", offsetof(struct agent_allocator, memalign)},
        {"valloc", offsetof(struct agent_allocator, valloc)},
        {"pvalloc", offsetof(struct agent_allocator, pvalloc)},
        {"malloc_usable_size", offsetof(struct agent_allocator, usable_size)},
        {"reallocarray", offsetof(struct agent_allocator, reallocarray)},
        {"cfree", offsetof(struct agent_allocator, cfree)},
        {"free_sized", offsetof(struct agent_allocator, free_sized)},
        {"free_aligned_sized", offsetof(struct agent_allocator, free_aligned_sized)},
};

static void allocator_find_entries(void)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		void *function = agent_next_symbol(entries[i].name);

		memcpy((uint8_t *)&agent_next + entries[i].offset, &function, sizeof(function));
	}
	agent_operators_look_up();
}

bool agent_allocator_look_up(void)
{
	static uint32_t is_looked_up;
	static bool is_complete;

	if (!agent_is_relocated()) {
		agent_allocator_was_early = true;
		return false;
	}
	if (!load_relaxed(&is_looked_up) && !exchange_acquire(&is_looked_up, 1)) {
		allocator_find_entries();
		store_release(&is_complete, true);
	}
	if (!load_acquire(&is_complete))
		return false;
	if (agent_begin(false))
		store_release(&agent_allocator_known, true);
	else if (!agent_objects_are_ready())
		agent_allocator_was_early = true;
	return true;
}

/* MALLOC_CHECK_ and memory tags change the size that a block is reported to have. */
static bool allocator_has_header_at(size_t bytes)
{
	void *block = agent_next.malloc(bytes);
	bool is_known = block && !(agent_header(block) & AGENT_HEADER_IS_MAPPED) &&
	                agent_header_usable_size(agent_header(block)) == agent_next.usable_size(block);

	agent_next.free(block);
	return is_known;
}

void agent_allocator_look_at_headers(void)
{
	static const char *const own[] = {"malloc", "free", "malloc_usable_size"};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (agent_next_symbol(own[i]) != agent_libc_symbol(own[i]))
			return;
	agent_has_glibc_headers = allocator_has_header_at(1) && allocator_has_header_at(1000);
}

size_t agent_ask_usable_size(void *block)
{
	static __thread bool is_asking;
	size_t bytes;

	if (is_asking)
		return 0;
	is_asking = true;
	bytes = agent_next.usable_size(block);
	is_asking = false;
	return bytes;
}

const char *agent_allocator_obstacle(void)
{
	static const char *const sanitizers[] = {
	        "__asan_init", "__tsan_init", "__msan_init", "__hwasan_init", "__lsan_init"};
	const char *preload = agent_getenv("LD_PRELOAD");

	for (size_t i = 0; i < sizeof(sanitizers) / sizeof(*sanitizers); i++)
		if (agent_symbol_exists(sanitizers[i]))
			return "it was built with a sanitizer, which has an allocator of its own";
	/* Valgrind preloads its core for every tool; tools that replace the allocator have
	 * a library of their own. */
	while (preload && (preload = strstr(preload, "vgpreload_")))
		if (strncmp(preload++, "vgpreload_core", strlen("vgpreload_core")) != 0)
			return "it runs under valgrind, which replaces the allocator";
	if (agent_symbol_is_preceded("malloc"))
		return "an allocator is linked into the executable, where it precedes any other";
	return NULL;
}

/* ---- bootstrap memory ---- */

#define ARENA_BYTES  (UINT64_C(64) << 10)
#define REGION_BYTES (UINT64_C(1) << 20)
#define REGIONS      32
/* A block's size stands before it, in as much room as keeps malloc's alignment. */
#define SIZE_BYTES 16

static uint8_t arena[ARENA_BYTES] __attribute__((aligned(16)));

/* Filled from the front; the first region is the arena. None has an address before it is
 * used: the loader would relocate the address, perhaps later. */
static struct region {
	uintptr_t start, end;
	uintptr_t used; /* up to here; advanced by the thread that allocates */
} regions[REGIONS];
static uint32_t region_count;
static struct bootstrap_free {
	struct bootstrap_free *next;
} * freed; /* blocks to be reused */
static struct fxt_lock lock;

uintptr_t agent_bootstrap_low = UINTPTR_MAX, agent_bootstrap_high;

static void *bootstrap_take(struct region *region, size_t bytes, size_t alignment)
{
	uintptr_t block = (region->used + SIZE_BYTES + alignment - 1) & ~(uintptr_t)(alignment - 1);

	/* A block of no bytes needs an address of its own too: at the region's end it would
	 * belong to no region. */
	if (block < region->used || block >= region->end || bytes > region->end - block)
		return NULL;
	region->used = block + bytes;
	*(size_t *)(block - sizeof(size_t)) = bytes;
	return (void *)block;
}

/* Takes a freed block of about this size, zeroed; NULL: there is none. Threads that come
 * and go allocate blocks of one size. */
static void *bootstrap_take_freed(size_t bytes, size_t alignment)
{
	for (struct bootstrap_free **at = &freed; *at; at = &(*at)->next) {
		struct bootstrap_free *block = *at;
		size_t room = agent_bootstrap_size(block);

		if (room < bytes || room > 2 * bytes || ((uintptr_t)block & (alignment - 1)))
			continue;
		*at = block->next;
		return memset(block, 0, room);
	}
	return NULL;
}

static bool bootstrap_add_region(void *memory, size_t bytes)
{
	struct region *region = &regions[region_count];

	if (!memory)
		return false;
	region->start = region->used = (uintptr_t)memory;
	region->end = region->start + bytes;
	if (region->start < agent_bootstrap_low)
		store_relaxed(&agent_bootstrap_low, region->start);
	if (region->end > agent_bootstrap_high)
		store_relaxed(&agent_bootstrap_high, region->end);
	/* Release: a reader that sees the region counted sees its bounds. */
	store_release(&region_count, region_count + 1);
	return true;
}

static bool bootstrap_map_region(size_t bytes)
{
	if (region_count == REGIONS)
		return false;
	bytes = bytes < REGION_BYTES ? REGION_BYTES : (bytes + 4095) & ~(size_t)4095;
	return bootstrap_add_region(
	        sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1), bytes);
}

void *agent_bootstrap_allocate(size_t bytes, size_t alignment)
{
	void *block = NULL;

	if (alignment < 16)
		alignment = 16;
	if (bytes > PTRDIFF_MAX || alignment > PTRDIFF_MAX / 4)
		return NULL;
	uint64_t mask = fxt_lock(&lock);

	if (region_count == 0)
		bootstrap_add_region(arena, ARENA_BYTES);
	block = bootstrap_take_freed(bytes, alignment);
	for (uint32_t i = 0; i < region_count && !block; i++)
		block = bootstrap_take(&regions[i], bytes, alignment);
	if (!block && bootstrap_map_region(bytes + alignment + SIZE_BYTES))
		block = bootstrap_take(&regions[region_count - 1], bytes, alignment);
	fxt_unlock(&lock, mask);
	return block;
}

void agent_bootstrap_free(void *block)
{
	struct bootstrap_free *first = block;

	if (agent_bootstrap_size(block) < sizeof(*first))
		return;
	uint64_t mask = fxt_lock(&lock);

	first->next = freed;
	freed = first;
	fxt_unlock(&lock, mask);
}

size_t agent_bootstrap_size(const void *block)
{
	return ((const size_t *)block)[-1];
}

bool agent_bootstrap_owns(const void *block)
{
	uintptr_t address = (uintptr_t)block;

	for (uint32_t i = 0; i < load_acquire(&region_count); i++)
		if (address >= regions[i].start && address < regions[i].end)
			return true;
	return false;
}
