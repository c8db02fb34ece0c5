/*
 * Clocks of two machines, from messages between them: clocks that are simulated, with an
 * offset, a drift and the delays of messages known, are never further from what is found
 * than is said of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include "fxt/merge/links.h"
#include "random.h"

#define DAY   (INT64_C(86400) * 1000000000)
#define START (5 * DAY)

/* The first clock at a time of the second one. */
struct clocks {
	int64_t offset;
	double drift;
};

static int64_t first_at(const struct clocks *c, int64_t second)
{
	return second + c->offset + (int64_t)llround(c->drift * (double)(second - START));
}

/* Messages in both directions, `count` of each, over `ns`; their delays are at least 20 us. */
static void talk(struct fxt_merge_links *links, const struct clocks *c, int count, int64_t ns)
{
	uint64_t seed = 7;

	for (int i = 0; i < count; i++) {
		int64_t at = START + ns / count * i, there = 20000 + (int64_t)(xorshift(&seed) % 300000),
		        back = 20000 + (int64_t)(xorshift(&seed) % 300000);

		fxt_merge_links_add(links, 0, 1, first_at(c, at), at + there);
		fxt_merge_links_add(links, 1, 0, at, first_at(c, at + back));
	}
}

static void check(const struct fxt_merge_offset *found, const struct clocks *c, int64_t ns, double most)
{
	for (int i = 0; i <= 10; i++) {
		int64_t at = START + ns / 10 * i;
		double line = (double)found->offset + found->drift * (double)(at - found->at);

		assert_true(fabs(line - (double)(first_at(c, at) - at)) <= (double)found->error_ns + 1);
	}
	assert_true((double)found->error_ns <= most);
}

static void a_clock_that_is_off_and_drifts(void **state)
{
	static const struct clocks all[] = {{0, 0}, {DAY, 0}, {-4 * DAY, 50e-6}, {DAY / 7, -300e-6}};

	(void)state;
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const struct clocks *c = &all[i];
		struct fxt_merge_links links = {0};

		talk(&links, c, 20000, INT64_C(60) * 1000000000);
		fxt_merge_links_fit(&links);
		assert_int_equal(links.count, 1);
		assert_true(links.items[0].is_fit);
		/* About the shortest delay; the other one of the two machines has the same. */
		check(&links.items[0].offset, c, INT64_C(60) * 1000000000, 60000);
		struct fxt_merge_offset inverse = fxt_merge_offset_inverse(&links.items[0].offset),
		                        none = fxt_merge_offset_chain(&links.items[0].offset, &inverse);

		assert_true(fabs(none.drift) < 1e-12 && none.offset >= -1 && none.offset <= 1);
		fxt_merge_links_free(&links);
	}
}

static void few_messages(void **state)
{
	const struct clocks c = {DAY, 20e-6};
	struct fxt_merge_links links = {0};

	(void)state;
	talk(&links, &c, 1, 1);
	fxt_merge_links_fit(&links);
	assert_true(links.items[0].is_fit && links.items[0].offset.drift == 0);
	check(&links.items[0].offset, &c, 1, 400000);
	fxt_merge_links_free(&links);
}

static void bounds_of_one_side_and_bounds_that_contradict(void **state)
{
	const struct clocks c = {DAY, 0}, other = {DAY + 1000000, 0};
	struct fxt_merge_links links = {0};

	(void)state;
	fxt_merge_links_add(&links, 0, 1, START, START + 1000);
	fxt_merge_links_fit(&links);
	assert_false(links.items[0].is_fit);
	fxt_merge_links_free(&links);
	links = (struct fxt_merge_links){0};
	talk(&links, &c, 1000, 1000000000);
	talk(&links, &other, 1000, 1000000000);
	fxt_merge_links_fit(&links);
	assert_false(links.items[0].is_fit);
	fxt_merge_links_free(&links);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_clock_that_is_off_and_drifts),
	        cmocka_unit_test(few_messages),
	        cmocka_unit_test(bounds_of_one_side_and_bounds_that_contradict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
