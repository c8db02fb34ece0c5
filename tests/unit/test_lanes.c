/*
 * Lanes beside the slices that were put into them: whatever was merged, nothing is missing
 * in the sums, what is long stays as it is, and there are no more items than were allowed.
 */
#include "random.h"
#include "trace.h"

#include "fxt/lanes.h"

enum { THREADS = 3, ROWS = 4, SLICES = 20000, LIMIT = 500 };

/* Short slices, and now and then a long one, with gaps of any length. */
static void plant(struct fxt_lane_item *slices, uint64_t seed)
{
	uint64_t time = 1000;

	random_state = seed;
	for (uint32_t i = 0; i < SLICES; i++) {
		uint64_t length = random_below(random_below(50) == 0 ? 100000 : 100);

		time += random_below(30);
		slices[i] = (struct fxt_lane_item){.start = time,
		        .end = time + length,
		        .sum = length,
		        .longest = length,
		        .count = 1,
		        .name = i};
		time += length;
	}
}

/* The items of a lane, in either direction, are the slices: some as they are, others as the
 * sums of neighbours. */
static void lane_has(
        const struct fxt_lane *lane, const struct fxt_lane_item *slices, uint64_t width, bool is_backward)
{
	size_t slice = 0;

	for (size_t i = 0; i < lane->count; i++) {
		const struct fxt_lane_item *item = &lane->items[is_backward ? lane->count - 1 - i : i];
		uint64_t sum = 0, longest = 0;

		assert_int_equal(item->start, slices[slice].start);
		if (item->count > 1)
			assert_true(item->end - item->start < width);
		for (uint64_t n = 0; n < item->count; n++) {
			uint64_t length = slices[slice].end - slices[slice].start;

			sum += length;
			longest = length > longest ? length : longest;
			slice++;
		}
		assert_int_equal(item->end, slices[slice - 1].end);
		assert_int_equal(item->sum, sum);
		assert_int_equal(item->longest, longest);
		assert_int_equal(slices[item->name].end - slices[item->name].start, longest);
	}
	assert_int_equal(slice, SLICES);
}

static void many(bool is_backward)
{
	static struct fxt_lane_item slices[SLICES];
	struct fxt_lanes lanes;
	size_t items = 0;

	plant(slices, 7);
	fxt_lanes_init(&lanes, LIMIT);
	for (uint32_t i = 0; i < SLICES; i++)
		for (uint32_t thread = 0; thread < THREADS; thread++)
			for (uint32_t row = 0; row < ROWS; row++)
				fxt_lanes_add(&lanes, thread, row, &slices[is_backward ? SLICES - 1 - i : i]);
	assert_int_equal(lanes.count, THREADS * ROWS);
	assert_true(lanes.width > 0);
	for (size_t i = 0; i < lanes.count; i++) {
		lane_has(&lanes.items[i], slices, lanes.width, is_backward);
		items += lanes.items[i].count;
	}
	assert_int_equal(items, lanes.item_count);
	assert_true(items < LIMIT);
	fxt_lanes_free(&lanes);
}

static void forward(void **state)
{
	(void)state;
	many(false);
}

static void backward(void **state)
{
	(void)state;
	many(true);
}

static void few(void **state)
{
	static struct fxt_lane_item slices[SLICES];
	struct fxt_lanes lanes;

	(void)state;
	plant(slices, 9);
	fxt_lanes_init(&lanes, LIMIT);
	for (uint32_t i = 0; i + 1 < LIMIT; i++)
		fxt_lanes_add(&lanes, 5, 0, &slices[i]);
	assert_int_equal(lanes.width, 0);
	assert_int_equal(lanes.items[0].count, LIMIT - 1);
	assert_memory_equal(lanes.items[0].items, slices, (LIMIT - 1) * sizeof(*slices));
	fxt_lanes_free(&lanes);
}

/* Slices beyond the limits of rows or lanes are counted; each lane has an item of its own,
 * whatever the limit. */
static void too_many_lanes(void **state)
{
	struct fxt_lane_item slice = {.start = 10, .end = 20, .count = 3};
	struct fxt_lanes lanes;

	(void)state;
	fxt_lanes_init(&lanes, 10);
	fxt_lanes_add(&lanes, 0, FXT_LANE_ROWS, &slice);
	assert_int_equal(lanes.omitted, 3);
	for (uint32_t i = 0; i < FXT_LANES_MAX + 2; i++)
		fxt_lanes_add(&lanes, i, 0, &slice);
	assert_int_equal(lanes.count, FXT_LANES_MAX);
	assert_int_equal(lanes.omitted, 9);
	fxt_lanes_free(&lanes);
}

/* Slices of a foreign trace, as long as time and all over each other: they end up in a few
 * items. */
static void overlapping(void **state)
{
	struct fxt_lanes lanes;

	(void)state;
	fxt_lanes_init(&lanes, 4);
	for (uint64_t i = 0; i < 1000; i++) {
		struct fxt_lane_item slice = {.start = i, .end = UINT64_MAX - 1000 + i, .count = 1};

		fxt_lanes_add(&lanes, 0, 0, &slice);
	}
	uint64_t count = 0;

	for (size_t i = 0; i < lanes.items[0].count; i++)
		count += lanes.items[0].items[i].count;
	assert_int_equal(count, 1000);
	fxt_lanes_free(&lanes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(forward),
	        cmocka_unit_test(backward),
	        cmocka_unit_test(few),
	        cmocka_unit_test(too_many_lanes),
	        cmocka_unit_test(overlapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
