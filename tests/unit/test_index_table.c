/*
 * The meaning of indices: the same as in an array with room for all of them, in memory
 * bounded by the registrations.
 */
#include "reader/trace/index_table.h"
#include "random.h"
#include "trace.h"

enum { INDICES = 0x8000 };

static void assert_means(const struct fxt_index_table *m, const uint32_t *expected)
{
	struct fxt_index_entry entry;
	uint32_t at = 0;

	for (uint32_t i = 0; i < INDICES; i++)
		assert_int_equal(fxt_index_entry(m, i), expected[i]);
	for (uint32_t i = 0; i < INDICES; i++) {
		if (expected[i] == 0)
			continue;
		assert_true(fxt_index_table_next(m, &at, &entry));
		assert_int_equal(entry.index, i);
		assert_int_equal(entry.id, expected[i]);
	}
	assert_false(fxt_index_table_next(m, &at, &entry));
}

/* Dense beginnings, lone high indices, and all between; some lose their entry again. */
static void any_indices(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		uint32_t *expected = calloc(INDICES, sizeof(*expected));
		uint32_t limit = 1 + random_below(INDICES), count = random_below(3000);
		struct fxt_index_table m = {0}, copy;

		for (uint32_t i = 0; i < count; i++) {
			uint32_t index = round % 3 == 0 ? i : limit - 1 - random_below(limit);
			uint32_t id = random_below(10);

			fxt_index_table_set(&m, index, id);
			expected[index] = id;
		}
		assert_means(&m, expected);
		copy = fxt_index_table_copy(&m);
		fxt_index_table_set(&copy, INDICES - 1, expected[INDICES - 1] + 1);
		fxt_index_table_set(&copy, 0, expected[0] + 1);
		assert_means(&m, expected);
		expected[INDICES - 1]++;
		expected[0]++;
		assert_means(&copy, expected);
		fxt_index_table_free(&copy);
		fxt_index_table_free(&m);
		assert_int_equal(fxt_index_entry(&m, limit - 1), 0);
		free(expected);
	}
}

static void memory_is_bounded_by_what_is_registered(void **state)
{
	(void)state;
	for (uint32_t step = 1; step < INDICES; step += 1 + step / 3) {
		struct fxt_index_table m = {0};
		uint32_t count = 0;

		for (uint32_t index = INDICES - 1; index >= step; index -= step) {
			fxt_index_table_set(&m, index, 1);
			count++;
			assert_true(
			        m.near_count * sizeof(*m.near) + m.far_room * sizeof(*m.far) <= 128 * count);
		}
		fxt_index_table_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(any_indices),
	        cmocka_unit_test(memory_is_bounded_by_what_is_registered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
