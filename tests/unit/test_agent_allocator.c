/*
 * The allocator behind the agent's: what the look-up finds, against what the loader says;
 * and the memory that serves until it is known, to its last byte.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdalign.h>
#include "agent_rig.h"

#include "agent/heap/allocator.h"

static void look_up(void **state)
{
	(void)state;
	assert_false(agent_allocator_known);
	assert_true(agent_allocator_is_known());
	assert_true(agent_allocator_is_known());
#define IS_NEXT(member, name) assert_ptr_equal((void *)agent_next.member, dlsym(RTLD_NEXT, name))
	IS_NEXT(malloc, "malloc");
	IS_NEXT(calloc, "calloc");
	IS_NEXT(realloc, "realloc");
	IS_NEXT(free, "free");
	IS_NEXT(posix_memalign, "posix_memalign");
	IS_NEXT(aligned_alloc, "aligned_alloc");
	IS_NEXT(memalign, "memalign");
	IS_NEXT(valloc, "valloc");
	IS_NEXT(pvalloc, "pvalloc");
	IS_NEXT(usable_size, "malloc_usable_size");
	IS_NEXT(free_sized, "free_sized"); /* NULL where libc is older than C23 */
	IS_NEXT(free_aligned_sized, "free_aligned_sized");
}

/* Small blocks, aligned ones, and those that are regions of their own. */
static void usable_sizes(void **state)
{
	(void)state;
	agent_allocator_look_at_headers();
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_true(agent_has_glibc_headers);
#endif
	for (size_t bytes = 0; bytes < 3000000; bytes += 1 + bytes / 50) {
		for (size_t alignment = 16; alignment <= 4096; alignment *= 16) {
			void *block = agent_next.memalign(alignment, bytes);

			assert_int_equal(agent_usable_size(block), agent_next.usable_size(block));
			agent_next.free(block);
		}
	}
}

#define BLOCKS 2000

static void bootstrap_blocks(void **state)
{
	struct {
		uint8_t *memory;
		size_t bytes;
	} blocks[BLOCKS];
	uint64_t random = 42;
	uint8_t *other = malloc(1);

	(void)state;
	for (int i = 0; i < BLOCKS; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		size_t alignment = (size_t)1 << (random >> 60), bytes = random >> 32 & 1023;

		blocks[i].bytes = bytes;
		blocks[i].memory = agent_bootstrap_allocate(bytes, alignment);
		assert_non_null(blocks[i].memory);
		assert_true((uintptr_t)blocks[i].memory % (alignment < 16 ? 16 : alignment) == 0);
		assert_true(agent_is_bootstrap(blocks[i].memory));
		assert_int_equal(agent_bootstrap_size(blocks[i].memory), bytes);
		for (size_t at = 0; at < bytes; at++)
			assert_int_equal(blocks[i].memory[at], 0);
		memset(blocks[i].memory, i, bytes);
	}
	for (int i = 0; i < BLOCKS; i++) { /* none lies in another */
		assert_int_equal(agent_bootstrap_size(blocks[i].memory), blocks[i].bytes);
		for (size_t at = 0; at < blocks[i].bytes; at++)
			assert_int_equal(blocks[i].memory[at], (uint8_t)i);
	}
	assert_false(agent_is_bootstrap(other));
	assert_false(agent_is_bootstrap(&other));
	assert_false(agent_is_bootstrap(NULL));
	free(other);
}

static void bootstrap_limits(void **state)
{
	unsigned count = 0;

	(void)state;
	assert_null(agent_bootstrap_allocate(SIZE_MAX, 1));
	assert_null(agent_bootstrap_allocate((size_t)PTRDIFF_MAX + 1, 16));
	assert_null(agent_bootstrap_allocate(PTRDIFF_MAX, 16));
	assert_null(agent_bootstrap_allocate(16, (size_t)1 << 63));
	/* Larger than a region: it gets one of its own. There are 32 of them. */
	while (agent_bootstrap_allocate(UINT64_C(3) << 20, 4096))
		assert_true(++count < 32);
	assert_true(count > 20);
	assert_null(agent_bootstrap_allocate(UINT64_C(3) << 20, 4096));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(look_up),
	        cmocka_unit_test(usable_sizes),
	        cmocka_unit_test(bootstrap_blocks),
	        cmocka_unit_test(bootstrap_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
