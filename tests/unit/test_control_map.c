/*
 * The control memory as it is mapped part by part: what is reached is the file's at the
 * same offset, or of its own; nothing that others have mapped is touched.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>
#include "writer/shared/control_map.h"

#define SMALL(slot)   (FXT_STACKS_OFFSET + (slot)*FXT_SMALL_STACK_BYTES)
#define LARGE(number) (FXT_LARGE_STACKS_OFFSET + (number)*FXT_LARGE_STACK_BYTES)
#define SUMS(slot)    (FXT_ELIDED_OFFSET + ((slot) + 1) * FXT_ELIDED_BYTES)

static uint64_t *word_at(const struct fxt_control_map *map, uint64_t offset)
{
	return (uint64_t *)((uint8_t *)map->control + offset);
}

static uint64_t address_space(void)
{
	unsigned long pages;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int memory_file(void)
{
	int fd = memfd_create("control", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, FXT_ELIDED_END), 0);
	return fd;
}

static void reach_and_write(struct fxt_control_map *map)
{
	for (uint32_t slot = 0; slot < 300; slot++) {
		assert_true(fxt_control_reach_slot(map, slot));
		*word_at(map, SMALL(slot)) = *word_at(map, SMALL(slot + 1) - 8) = slot + 1;
		*word_at(map, SUMS(slot)) = *word_at(map, SUMS(slot + 1) - 8) = slot + 1;
	}
	for (uint64_t i = 0; i < 3; i++) {
		assert_true(fxt_control_reach(map, LARGE(i + 1)));
		*word_at(map, LARGE(i)) = *word_at(map, LARGE(i + 1) - 8) = i + 1;
	}
}

static void compare(const struct fxt_control_map *map)
{
	for (uint32_t slot = 0; slot < 300; slot++) {
		assert_int_equal(*word_at(map, SMALL(slot)), slot + 1);
		assert_int_equal(*word_at(map, SUMS(slot + 1) - 8), slot + 1);
	}
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(*word_at(map, LARGE(i + 1) - 8), i + 1);
}

/* The file's descriptor is closed before anything is reached. */
static void of_a_file(void **state)
{
	struct fxt_control_map map, whole;
	uint64_t before = address_space();
	int fd = memory_file(), other = dup(fd);

	(void)state;
	assert_int_equal(fxt_control_map(&map, fd, MAP_SHARED, true, stdout), 0);
	close(fd);
	assert_true(address_space() - before < 28 << 20);
	reach_and_write(&map);
	assert_true(address_space() - before < 700 << 20);
	assert_int_equal(fxt_control_map_whole(&whole, other, MAP_SHARED, true, stdout), 0);
	close(other);
	compare(&whole);
	assert_true(fxt_control_reach(&whole, FXT_ELIDED_END));
	fxt_control_unmap(&whole);
	fxt_control_unmap(&map);
	assert_int_equal(address_space(), before);
}

static void of_its_own(void **state)
{
	struct fxt_control_map map;
	uint64_t before = address_space();

	(void)state;
	assert_int_equal(fxt_control_map(&map, -1, MAP_SHARED, true, stdout), 0);
	reach_and_write(&map);
	compare(&map);
	fxt_control_unmap(&map);
	assert_int_equal(address_space(), before);
}

/* As a forked child has what its parent had reached; what is in the place of it is
 * another's, and grows. */
static void replaced(void **state)
{
	(void)state;
	for (int is_file = 0; is_file < 2; is_file++) {
		int fds[2] = {is_file ? memory_file() : -1, is_file ? memory_file() : -1};
		struct fxt_control_map parent, child;
		uint64_t mapped;

		assert_int_equal(fxt_control_map(&parent, fds[0], MAP_SHARED, true, stdout), 0);
		reach_and_write(&parent);
		*word_at(&parent, 8) = 1;
		mapped = address_space();
		child = parent;
		assert_int_equal(fxt_control_replace(&child, fds[1]), 0);
		assert_int_equal(address_space(), mapped);
		assert_ptr_equal(child.control, parent.control);
		assert_int_equal(*word_at(&child, 8), 0);
		assert_int_equal(*word_at(&child, SMALL(299)), 0);
		assert_int_equal(*word_at(&child, SUMS(299)), 0);
		assert_int_equal(*word_at(&child, LARGE(2)), 0);
		assert_true(fxt_control_reach_slot(&child, 400));
		assert_true(fxt_control_reach(&child, LARGE(9)));
		*word_at(&child, SMALL(400)) = *word_at(&child, LARGE(8)) = 7;
		reach_and_write(&child);
		compare(&child);
		if (is_file) {
			assert_int_equal(fxt_control_map_whole(&parent, fds[0], MAP_SHARED, true, stdout), 0);
			compare(&parent);
			assert_int_equal(*word_at(&parent, SMALL(400)), 0);
			fxt_control_unmap(&parent);
			close(fds[0]);
			close(fds[1]);
		}
		fxt_control_unmap(&child);
	}
}

static void not_beyond_its_end(void **state)
{
	struct fxt_control_map map;

	(void)state;
	assert_int_equal(fxt_control_map(&map, -1, MAP_PRIVATE, false, stdout), 0);
	assert_true(fxt_control_reach(&map, FXT_LARGE_STACKS_OFFSET));
	assert_true(fxt_control_reach(&map, FXT_CONTROL_BYTES));
	assert_false(fxt_control_reach(&map, FXT_CONTROL_BYTES + 1));
	assert_false(fxt_control_reach(&map, UINT64_MAX));
	fxt_control_unmap(&map);
}

/* Somebody else's page where the area would grow to. */
static void not_over_others(void **state)
{
	for (int is_file = 0; is_file < 2; is_file++) {
		int fd = is_file ? memory_file() : -1;
		struct fxt_control_map map;
		char *page;

		(void)state;
		assert_int_equal(fxt_control_map(&map, fd, MAP_SHARED, false, stdout), 0);
		page = mmap(word_at(&map, SMALL(100) & ~UINT64_C(65535)), 65536, PROT_READ | PROT_WRITE,
		        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_ptr_equal(page, word_at(&map, SMALL(100) & ~UINT64_C(65535)));
		memset(page, 7, 65536);
		assert_true(fxt_control_reach_slot(&map, 63));
		assert_false(fxt_control_reach_slot(&map, 100));
		assert_false(fxt_control_reach_slot(&map, 64));
		for (int i = 0; i < 65536; i++)
			assert_int_equal(page[i], 7);
		assert_true(fxt_control_reach(&map, LARGE(1)));
		fxt_control_unmap(&map);
		assert_int_equal(page[0], 7);
		munmap(page, 65536);
		close(fd);
	}
}

/* The place that is next is known by the one before, which is 4 GiB above it. */
static void elsewhere(void **state)
{
	struct fxt_control_map map;
	uint8_t *next, *page;

	(void)state;
	assert_int_equal(fxt_control_map(&map, -1, MAP_SHARED, true, stdout), 0);
	next = (uint8_t *)map.control - (UINT64_C(4) << 30);
	fxt_control_unmap(&map);
	page = mmap(
	        next + FXT_ELIDED_OFFSET, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_equal(page, next + FXT_ELIDED_OFFSET);
	memset(page, 7, 65536);
	assert_int_equal(fxt_control_map(&map, -1, MAP_SHARED, true, stdout), 0);
	assert_ptr_not_equal(map.control, next);
	reach_and_write(&map);
	compare(&map);
	fxt_control_unmap(&map);
	assert_int_equal(page[65535], 7);
	munmap(page, 65536);
}

static void many(void **state)
{
	struct fxt_control_map maps[70];

	(void)state;
	for (int i = 0; i < 70; i++) {
		assert_int_equal(fxt_control_map(&maps[i], -1, MAP_PRIVATE, true, stdout), 0);
		*word_at(&maps[i], 0) = (uint64_t)i;
		assert_true(fxt_control_reach_slot(&maps[i], 511));
		assert_true(fxt_control_reach(&maps[i], LARGE(64)));
	}
	for (int i = 0; i < 70; i++) {
		assert_int_equal(*word_at(&maps[i], 0), i);
		fxt_control_unmap(&maps[i]);
	}
}

/* Memory that does not fit as a whole is mapped in parts; a part that does not fit at all
 * is reported. */
static void within_a_limit(void **state)
{
	struct fxt_control_map map;
	struct rlimit before, limit;
	uint64_t used;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	limit = (struct rlimit){address_space() + (100 << 20), before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	assert_int_equal(fxt_control_map_whole(&map, -1, MAP_PRIVATE, true, stdout), 0);
	assert_true(fxt_control_reach_slot(&map, 10));
	assert_false(fxt_control_reach_slot(&map, 500));
	used = address_space();
	fxt_control_reach_all(&map);
	assert_int_equal(address_space(), used);
	fxt_control_unmap(&map);
	limit.rlim_cur = address_space() + (4 << 20);
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	assert_int_equal(fxt_control_map(&map, -1, MAP_PRIVATE, true, stdout), ENOMEM);
	assert_null(map.control);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
}

/* A program that has limited its address space, to however much, has it for itself. */
static void all_of_it_where_nothing_is_limited(void **state)
{
	struct fxt_control_map map;
	struct rlimit before, limit;
	uint64_t used;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	assert_true(before.rlim_cur == RLIM_INFINITY);
	assert_int_equal(fxt_control_map(&map, -1, MAP_PRIVATE, true, stdout), 0);
	used = address_space();
	limit = (struct rlimit){used + (UINT64_C(16) << 30), before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	fxt_control_reach_all(&map);
	assert_int_equal(address_space(), used);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	fxt_control_reach_all(&map);
	assert_true(address_space() - used > UINT64_C(1) << 30);
	*word_at(&map, FXT_ELIDED_END - 8) = *word_at(&map, FXT_CONTROL_BYTES - 8) = 1;
	fxt_control_unmap(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(of_a_file),
	        cmocka_unit_test(of_its_own),
	        cmocka_unit_test(replaced),
	        cmocka_unit_test(not_beyond_its_end),
	        cmocka_unit_test(not_over_others),
	        cmocka_unit_test(elsewhere),
	        cmocka_unit_test(many),
	        cmocka_unit_test(within_a_limit),
	        cmocka_unit_test(all_of_it_where_nothing_is_limited),
	};

	return cmocka_run_group_tests_name("the control memory, part by part", tests, NULL, NULL);
}
