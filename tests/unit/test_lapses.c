/*
 * Sums of stretches between two moments, beside a plain array that has each unit of time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "random.h"
#include "reader/lapses.h"

/* More stretches than a spill has in memory. */
enum { STRETCHES = 100000, TIME = 3 * STRETCHES, OWNERS = 2 };

static uint32_t sums[OWNERS][TIME + 1]; /* up to a moment */

static void add(struct fxt_lapses *lapses, uint64_t owner, uint64_t start, uint64_t end)
{
	fxt_lapses_add(lapses, 40 + owner, start, end);
	for (; start < end; start++)
		sums[owner][start + 1] = 1;
}

static void is_sum(struct fxt_lapse_reader *reader, uint64_t owner, uint64_t start, uint64_t end)
{
	assert_int_equal(fxt_lapses_between(reader, start, end), sums[owner][end] - sums[owner][start]);
}

static void backwards_and_anywhere(void **state)
{
	static const uint64_t owners[] = {40, 41, 42};
	struct fxt_lapse_reader reader;
	struct fxt_lapses lapses;

	(void)state;
	fxt_lapses_init(&lapses);
	for (uint64_t i = 0; i < STRETCHES; i++) {
		uint64_t start = 3 * (i * 7919 % STRETCHES);

		add(&lapses, random_below(OWNERS), start, start + 1 + random_below(3));
	}
	add(&lapses, 1, TIME / 2, TIME / 2 + 100); /* over others of its own */
	for (size_t owner = 0; owner < OWNERS; owner++)
		for (size_t t = 0; t < TIME; t++)
			sums[owner][t + 1] += sums[owner][t];
	fxt_lapses_finish(&lapses, owners, OWNERS + 1);
	assert_false(fxt_spill_is_in_memory(&lapses.items));
	for (uint32_t owner = 0; owner < OWNERS; owner++) {
		fxt_lapses_read(&reader, &lapses, owner);
		/* As calls come: the last first, and what is around before what is inside. */
		for (uint64_t end = TIME; end > 5000; end -= 1 + random_below(40)) {
			is_sum(&reader, owner, end - random_below(5000), end);
			is_sum(&reader, owner, end - random_below(10), end);
		}
		is_sum(&reader, owner, 0, TIME);
		for (unsigned i = 0; i < 20000; i++) {
			uint64_t start = random_below(TIME);

			is_sum(&reader, owner, start, start + random_below(TIME - start));
		}
	}
	fxt_lapses_read(&reader, &lapses, OWNERS);
	assert_int_equal(fxt_lapses_between(&reader, 0, TIME), 0);
	fxt_lapses_free(&lapses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(backwards_and_anywhere)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
