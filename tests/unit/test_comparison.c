/*
 * Verdicts on differences: of equal traces, dealt out to two sides in every way, and of
 * traces with one changed function. All traces have one call of each function.
 */
#include "trace.h"

#include <math.h>
#include "reader/stats/comparison.h"

enum { TRACES = 10, MOST = 64 };

static struct fxt_span names[MOST];
static struct fxt_scan scan = {.tables = {.strings = names}, .rate = {.ticks_per_second = 1000000000}};
static uint64_t times[TRACES][MOST];
static struct fxt_comparison comparison;

/* Times of 1 to 1.1 us that have nothing to do with the sides. */
static void make_times(unsigned functions)
{
	static char texts[MOST][8];
	uint32_t random = 1;

	for (unsigned i = 0; i < TRACES; i++) {
		for (unsigned j = 0; j < functions; j++) {
			random = random * 1664525 + 1013904223;
			times[i][j] = 1000 + (random >> 16) % 100;
			snprintf(texts[j], sizeof(texts[j]), "f%u", j);
			names[j] = fxt_span(texts[j]);
		}
	}
}

/* The same, where each five traces have times between those of the other five. */
static void make_even_times(unsigned functions)
{
	make_times(functions);
	for (unsigned i = 0; i < TRACES; i++)
		for (unsigned j = 0; j < functions; j++)
			times[i][j] = 1000 + 10 * ((7 * i + 3 * j) % TRACES);
}

static void add(enum fxt_side side, const uint64_t *of, unsigned functions)
{
	struct fxt_function items[MOST] = {0};

	for (unsigned i = 0; i < functions; i++)
		if (of[i] > 0)
			items[i] = (struct fxt_function){.name = i,
			        .calls = 1,
			        .total = of[i],
			        .self = of[i],
			        .sum = of[i],
			        .min = of[i],
			        .max = of[i]};
	fxt_comparison_add(
	        &comparison, side, &scan, &(struct fxt_functions){.items = items, .count = functions});
}

/* Traces with set bits are the later ones. */
static void compare(unsigned after, unsigned functions)
{
	fxt_comparison_init(&comparison, TRACES);
	for (unsigned i = 0; i < TRACES; i++)
		add(after >> i & 1 ? FXT_AFTER : FXT_BEFORE, times[i], functions);
	fxt_comparison_judge(&comparison, FXT_SELF);
}

static unsigned differences(void)
{
	unsigned count = 0;

	for (size_t i = 0; i < comparison.count; i++)
		count += comparison.items[i].difference >= FXT_LESS;
	return count;
}

/* At most one in twenty of all ways to deal ten traces out, five a side, may seem to
 * differ, however many functions there are. */
static void nothing_differs(void **state)
{
	(void)state;
	for (unsigned functions = 1; functions <= MOST; functions *= 2) {
		unsigned ways = 0, differ = 0;

		make_times(functions);
		for (unsigned after = 0; after < 1U << TRACES; after++) {
			if (__builtin_popcount(after) != TRACES / 2)
				continue;
			compare(after, functions);
			ways++;
			differ += differences() > 0;
			fxt_comparison_free(&comparison);
		}
		assert_int_equal(ways, 252);
		if (differ * 20 > ways)
			fail_msg("%u functions: %u of %u ways differ", functions, differ, ways);
	}
}

static const struct fxt_compared *item(const char *name)
{
	for (size_t i = 0; i < comparison.count; i++)
		if (strcmp(comparison.items[i].name.data, name) == 0)
			return &comparison.items[i];
	fail_msg("no function %s", name);
	return NULL;
}

/* Five a side tell one change among six functions, and two among twelve; what else there is
 * stays noise. */
static void change_is_found(void **state)
{
	(void)state;
	make_even_times(6);
	for (unsigned i = 5; i < TRACES; i++)
		times[i][3] += 200;
	compare(0x3e0, 6);
	assert_int_equal(differences(), 1);
	assert_int_equal(item("f3")->difference, FXT_MORE);
	assert_int_equal(comparison.tested, 6);
	assert_int_equal(comparison.needed, 0);
	fxt_comparison_free(&comparison);
	compare(0x01f, 6);
	assert_int_equal(item("f3")->difference, FXT_LESS);
	fxt_comparison_free(&comparison);

	make_even_times(12);
	for (unsigned i = 5; i < TRACES; i++) {
		times[i][3] += 200;
		times[i][5] -= 200;
	}
	compare(0x3e0, 12);
	assert_int_equal(item("f3")->difference, FXT_MORE);
	assert_int_equal(item("f5")->difference, FXT_LESS);
	fxt_comparison_free(&comparison);
}

/* 2 in 252 ways is too often for one of twelve, 2 in 924 not. */
static void too_few_traces(void **state)
{
	(void)state;
	make_even_times(12);
	for (unsigned i = 5; i < TRACES; i++)
		times[i][3] += 200;
	compare(0x3e0, 12);
	assert_int_equal(differences(), 0);
	assert_int_equal(item("f3")->difference, FXT_UNSURE);
	assert_int_equal(comparison.needed, 6);
	fxt_comparison_free(&comparison);
}

/* With one trace a side no difference is a change; less than a tenth is small. */
static void one_trace(void **state)
{
	(void)state;
	make_times(5);
	fxt_comparison_init(&comparison, 2);
	add(FXT_BEFORE, (uint64_t[]){1000, 50, 1000, 1000, 700}, 5);
	add(FXT_AFTER, (uint64_t[]){5000, 0, 1099, 1100, 700}, 5);
	fxt_comparison_judge(&comparison, FXT_SELF);
	assert_int_equal(item("f0")->difference, FXT_UNSURE);
	assert_int_equal(item("f2")->difference, FXT_SMALL);
	assert_int_equal(item("f3")->difference, FXT_UNSURE);
	assert_int_equal(item("f4")->difference, FXT_SAME);
	assert_int_equal(item("f0")->medians[FXT_AFTER][FXT_SELF], 5000);
	assert_true(item("f1")->is_on[FXT_BEFORE] && !item("f1")->is_on[FXT_AFTER]);
	assert_int_equal(item("f1")->medians[FXT_AFTER][FXT_CALLS], 0);
	assert_true(isnan(item("f1")->medians[FXT_AFTER][FXT_P99]));
	/* 2 in 70 ways, with four a side, are too often for one of three functions. */
	assert_int_equal(comparison.needed, 5);
	fxt_comparison_free(&comparison);
}

/* Functions with less than a hundredth are not tested; functions on one side are, if no
 * calls count as a value. */
static void small_and_absent(void **state)
{
	(void)state;
	make_times(3);
	for (unsigned i = 0; i < TRACES; i++) {
		times[i][1] = i < 5 ? 8 : 11;
		times[i][2] = i < 5 ? 0 : 300;
	}
	compare(0x3e0, 3);
	assert_int_equal(item("f1")->difference, FXT_UNTESTED);
	assert_int_equal(item("f2")->difference, FXT_MORE);
	fxt_comparison_judge(&comparison, FXT_AVERAGE);
	assert_int_equal(item("f2")->difference, FXT_UNTESTED);
	fxt_comparison_judge(&comparison, FXT_CALLS);
	assert_int_equal(item("f0")->difference, FXT_SAME);
	assert_int_equal(item("f2")->difference, FXT_MORE);
	fxt_comparison_free(&comparison);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(nothing_differs),
	        cmocka_unit_test(change_is_found),
	        cmocka_unit_test(too_few_traces),
	        cmocka_unit_test(one_trace),
	        cmocka_unit_test(small_and_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
