/*
 * The counts of fxtrun --auto, and the functions it chooses: counts are made by hand, and
 * records by the encoder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "launcher/manager/muting.h"
#include "writer/format/encode.h"
#include "writer/engine/strings.h"

enum { FUNCTIONS = 6 };

static struct fxt_counted_function functions[FUNCTIONS];
static struct fxt_counted_function *by_id[FUNCTIONS];
static struct fxt_call_counts counts;

static void set(uint32_t id, uint64_t calls, uint64_t brief)
{
	functions[id].id = id;
	functions[id].calls = calls;
	functions[id].brief = brief;
	functions[id].muted_ticks = 0;
	by_id[id] = &functions[id];
}

/* A call costs 20 ns, and the processes have run for 100 ms: a fifth of that is a million
 * calls. Returns how many are chosen; their ids are in `chosen`. */
static size_t choose(size_t count, double share, uint32_t chosen[FUNCTIONS])
{
	struct fxt_counted_function **found = NULL;
	size_t n;

	counts.functions = by_id;
	counts.count = count;
	counts.cpu_ns = 100000000;
	n = fxt_muting_choose(&counts, share, 20, &found);
	for (size_t i = 0; i < n; i++)
		chosen[i] = found[i]->id;
	free(found);
	return n;
}

static void as_many_as_it_takes(void **state)
{
	uint32_t chosen[FUNCTIONS];

	(void)state;
	set(0, 300000, 300000);
	set(1, 1000000, 1000000);
	set(2, 600000, 600000);
	set(3, 100000, 100000);
	/* 40 ms of 100: without the first 20 of 80, without the second too 8 of 68, which
	 * is half of 24 %. */
	assert_int_equal(choose(4, 0.24, chosen), 2);
	assert_int_equal(chosen[0], 1);
	assert_int_equal(chosen[1], 2);
	assert_int_equal(choose(4, 0.2, chosen), 3);
	assert_int_equal(chosen[2], 0);
	assert_int_equal(choose(4, 0.39, chosen), 2);
	assert_int_equal(choose(4, 0.4, chosen), 0);
	assert_int_equal(choose(4, 0.01, chosen), 4);
	assert_int_equal(choose(0, 0.01, chosen), 0);
}

static void few_and_long_ones_stay(void **state)
{
	uint32_t chosen[FUNCTIONS];

	(void)state;
	set(0, 2000000, 1799999); /* more than a tenth are long */
	set(1, 2000000, 1800000);
	set(2, 10000, 10000); /* a hundredth of the fifth */
	set(3, 10001, 10001);
	assert_int_equal(choose(4, 0.2, chosen), 2);
	assert_int_equal(chosen[0], 1);
	assert_int_equal(chosen[1], 3);
	/* Without any that is worth it nothing is muted, however much it takes. */
	assert_int_equal(choose(1, 0.2, chosen), 0);
}

/* Records that the buffers still held of them do not count. */
static void muted_ones_count_no_more(void **state)
{
	uint32_t chosen[FUNCTIONS];

	(void)state;
	set(0, 2000000, 2000000);
	set(1, 900000, 900000);
	functions[0].muted_ticks = 1;
	assert_int_equal(choose(2, 0.2, chosen), 0);
	set(1, 1100000, 1100000);
	assert_int_equal(choose(2, 0.2, chosen), 1);
	assert_int_equal(chosen[0], 1);
}

/* ---- counting ---- */

static size_t put(uint64_t *to, enum fxt_event_type type, uint32_t category, uint32_t name, uint64_t start,
        uint64_t end, size_t arguments)
{
	const struct fxt_argument argument = fxt_argument_uint64(fxt_string_inline("n", 1), 1);

	return fxt_put_event(to, 100, type, fxt_thread_index(1), fxt_string_index(category),
	        fxt_string_index(name), start, &argument, arguments, end);
}

/* Complete or begun calls, of functions with lasting indices, whatever else their records
 * have. */
static void calls_of_every_form(void **state)
{
	struct fxt_call_counts session;
	struct fxt_call_counter counter;
	uint64_t records[800];
	size_t words = 0;

	(void)state;
	fxt_call_counts_open(&session);
	fxt_call_counter_begin(&counter, &session, getpid(), 1000000000);
	words += put(records + words, FXT_EVENT_DURATION_COMPLETE, FXT_KNOWN_FUNCTION, 50, 1000, 1999, 0);
	words += put(records + words, FXT_EVENT_DURATION_COMPLETE, FXT_KNOWN_FUNCTION, 50, 1000, 2000, 0);
	words += put(records + words, FXT_EVENT_DURATION_COMPLETE, FXT_KNOWN_FUNCTION, 50, 1000, 1001, 1);
	words += put(records + words, FXT_EVENT_DURATION_BEGIN, FXT_KNOWN_FUNCTION, 50, 1000, 0, 0);
	words += put(records + words, FXT_EVENT_DURATION_END, FXT_KNOWN_FUNCTION, 50, 1000, 0, 0);
	words += put(records + words, FXT_EVENT_INSTANT, FXT_KNOWN_FUNCTION, 50, 1000, 0, 0);
	words += put(records + words, FXT_EVENT_DURATION_COMPLETE, FXT_KNOWN_INHERITED, 50, 1000, 1001, 0);
	words += put(records + words, FXT_EVENT_DURATION_COMPLETE, FXT_KNOWN_FUNCTION, FXT_STRING_LOCAL_FIRST,
	        1000, 1001, 0);
	words += put(records + words, FXT_EVENT_DURATION_COMPLETE, FXT_KNOWN_FUNCTION, 49, 1000, 1001, 0);
	fxt_call_counter_take(&counter, records, words * 8);
	assert_int_equal(counter.string_count, 51);
	assert_int_equal(counter.strings[50].calls, 4);
	assert_int_equal(counter.strings[50].brief, 2);
	assert_int_equal(counter.strings[49].calls, 1);
	assert_int_equal(counter.strings[49].brief, 1);
	assert_int_equal(counter.strings[0].calls, 0);
	fxt_call_counter_end(&counter);
	fxt_call_counts_close(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(as_many_as_it_takes),
	        cmocka_unit_test(few_and_long_ones_stay),
	        cmocka_unit_test(muted_ones_count_no_more),
	        cmocka_unit_test(calls_of_every_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
