/*
 * The floor of recording a heap's objects: what any tracer of exact times has to do for a
 * pair of malloc and free, and nothing else. The clock is read once in each, and as many
 * bytes are stored as the agent stores (agent/heap/heap_record.h). There is no call path,
 * no sum of what lives, no reader; each thread goes round a populated region of its own, as
 * large as a rolling buffer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "writer/shared/clock.h"

#define REGION_BYTES     (UINT64_C(24) << 20)
#define ALLOCATION_WORDS 9
#define FREE_WORDS       4

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

static __thread uint64_t *at, *end;

static __attribute__((noinline)) void next_region(void)
{
	if (!end) {
		at = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE,
		        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (at == MAP_FAILED)
			_exit(125);
		end = at + REGION_BYTES / 8;
	} else {
		at = end - REGION_BYTES / 8;
	}
}

static inline __attribute__((always_inline)) void store(
        uint64_t ticks, uint64_t pointer, uint64_t size, unsigned words)
{
	if (__builtin_expect(end - at < (long)words, 0))
		next_region();
	at[0] = words;
	at[1] = ticks;
	for (unsigned i = 2; i < words - 1; i++)
		at[i] = pointer;
	at[words - 1] = size;
	at += words;
}

void *malloc(size_t size)
{
	void *block = __libc_malloc(size);

	store(arch_counter(), (uint64_t)(uintptr_t)block, size, ALLOCATION_WORDS);
	return block;
}

void free(void *block)
{
	store(arch_counter(), (uint64_t)(uintptr_t)block, 0, FREE_WORDS);
	__libc_free(block);
}
