/*
 * Numbers of several traces: each trace's stay apart from those of the others, however many
 * there are of one kind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "fxt/merge/koids.h"

enum { TRACES = 3, MANY = 150000 };

#define REUSED (UINT64_C(1) << 22)

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* In the square of their number it would take most of an hour. */
static void koids_of_one_number_of_the_kernel(void **state)
{
	struct fxt_merge_koids traces[TRACES] = {0};
	struct fxt_merge_used used = {0};
	uint64_t *all = calloc(TRACES * MANY, sizeof(*all));
	size_t count = 0;

	(void)state;
	for (unsigned t = 0; t < TRACES; t++) {
		for (uint64_t i = 0; i < MANY; i++)
			fxt_merge_koids_add(&traces[t], 1000 + i * REUSED, true);
		fxt_merge_koids_settle(&traces[t], &used, true);
		for (uint64_t i = 0; i < MANY; i++)
			all[count++] = fxt_merge_koid(&traces[t], 1000 + i * REUSED);
	}
	qsort(all, count, sizeof(*all), compare);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(all[i] % REUSED, 1000);
		if (i > 0)
			assert_int_not_equal(all[i], all[i - 1]);
	}
	free(all);
	for (unsigned t = 0; t < TRACES; t++)
		fxt_merge_koids_free(&traces[t]);
	fxt_merge_used_free(&used);
}

/* One trace is a merged one: it has what became of the others' ids. */
static void ids_of_other_producers_stay_apart(void **state)
{
	const uint64_t ids[] = {1, 2, UINT32_MAX};
	uint64_t seen[4][3];
	struct fxt_merge_used used = {0};

	(void)state;
	for (unsigned t = 0; t < 4; t++) {
		struct fxt_merge_koids trace = {0};

		if (t == 2)
			fxt_merge_koids_add_flow(&trace, seen[1][0]);
		for (unsigned i = 0; i < 3; i++)
			fxt_merge_koids_add_flow(&trace, ids[i]);
		fxt_merge_koids_add_flow(&trace, UINT64_C(77) << 32 | 1);
		fxt_merge_koids_settle(&trace, &used, true);
		for (unsigned i = 0; i < 3; i++) {
			seen[t][i] = fxt_merge_flow(&trace, ids[i]);
			assert_int_equal(seen[t][i] & UINT32_MAX, ids[i]);
			for (unsigned other = 0; other < t; other++)
				assert_int_not_equal(seen[t][i], seen[other][i]);
		}
		if (t == 2)
			assert_int_not_equal(fxt_merge_flow(&trace, seen[1][0]), seen[1][0]);
		/* The parent of this one is not in the trace: it is another trace's. */
		assert_int_equal(fxt_merge_flow(&trace, UINT64_C(77) << 32 | 1), UINT64_C(77) << 32 | 1);
		fxt_merge_koids_free(&trace);
	}
	fxt_merge_used_free(&used);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(koids_of_one_number_of_the_kernel),
	        cmocka_unit_test(ids_of_other_producers_stay_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
