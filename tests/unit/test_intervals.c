/*
 * Sums of stretches between two moments, beside a plain array that has each unit of time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "random.h"
#include "reader/time/intervals.h"

/* More stretches than a spill has in memory. */
enum { STRETCHES = 100000, TIME = 3 * STRETCHES, OWNERS = 2 };

static uint32_t sums[OWNERS][TIME + 1]; /* up to a moment */

static void add(struct fxt_intervals *intervals, uint64_t owner, uint64_t start, uint64_t end)
{
	fxt_intervals_add(intervals, 40 + owner, start, end);
	for (; start < end; start++)
		sums[owner][start + 1] = 1;
}

static void is_sum(struct fxt_interval_reader *reader, uint64_t owner, uint64_t start, uint64_t end)
{
	assert_int_equal(fxt_intervals_between(reader, start, end), sums[owner][end] - sums[owner][start]);
}

static void backwards_and_anywhere(void **state)
{
	static const uint64_t owners[] = {40, 41, 42};
	struct fxt_interval_reader reader;
	struct fxt_intervals intervals;

	(void)state;
	fxt_intervals_init(&intervals);
	for (uint64_t i = 0; i < STRETCHES; i++) {
		uint64_t start = 3 * (i * 7919 % STRETCHES);

		add(&intervals, random_below(OWNERS), start, start + 1 + random_below(3));
	}
	add(&intervals, 1, TIME / 2, TIME / 2 + 100); /* over others of its own */
	for (size_t owner = 0; owner < OWNERS; owner++)
		for (size_t t = 0; t < TIME; t++)
			sums[owner][t + 1] += sums[owner][t];
	fxt_intervals_finish(&intervals, owners, OWNERS + 1);
	assert_false(fxt_spill_is_in_memory(&intervals.items));
	for (uint32_t owner = 0; owner < OWNERS; owner++) {
		fxt_intervals_read(&reader, &intervals, owner);
		/* As calls come: the last first, and what is around before what is
		 * inside. */
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
	fxt_intervals_read(&reader, &intervals, OWNERS);
	assert_int_equal(fxt_intervals_between(&reader, 0, TIME), 0);
	fxt_intervals_free(&intervals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(backwards_and_anywhere)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
