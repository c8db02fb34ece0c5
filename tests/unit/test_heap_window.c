/* Events leave the window in the order of their times, and events of one time in the order
 * in which they came. The test looks through all events of the window one by one. */
#include "trace.h"

#include "reader/heap/heap_window.h"

enum { THREADS = 5, EVENTS = 9000, WAITING = 2500 };

static const struct fxt_heap_event *earliest_of(
        const struct fxt_heap_event *events, const bool *is_in, size_t count)
{
	const struct fxt_heap_event *earliest = NULL;

	for (size_t i = 0; i < count; i++)
		if (is_in[i] && (!earliest || events[i].ns < earliest->ns))
			earliest = &events[i];
	return earliest;
}

/* `disorder`: of so many events one is earlier than its thread's last. */
static void plays(unsigned disorder, unsigned threads)
{
	static struct fxt_heap_event events[EVENTS];
	static bool is_in[EVENTS];
	struct fxt_heap_queue rows[THREADS] = {0};
	struct fxt_heap_window window = {0};
	struct fxt_heap_event taken;
	uint32_t random = 1;

	memset(is_in, 0, sizeof(is_in));
	for (size_t i = 0, left = EVENTS; left > 0;) {
		for (; i < EVENTS && window.count < WAITING; i++) {
			random = random * 1664525 + 1013904223;
			events[i] = (struct fxt_heap_event){.ns = 100000 + i / 2 + (random >> 16) % 3,
			        .pointer = i,
			        .thread = (random >> 24) % threads};
			if (disorder && i % disorder == 0)
				events[i].ns -= (random >> 8) % 5000;
			is_in[i] = true;
			fxt_heap_window_put(&window, rows, &events[i]);
		}
		const struct fxt_heap_event *expected = earliest_of(events, is_in, i);

		assert_true(fxt_heap_window_take(&window, rows, &taken));
		assert_int_equal(taken.pointer, expected->pointer);
		is_in[taken.pointer] = false;
		left--;
	}
	assert_false(fxt_heap_window_take(&window, rows, &taken));
	fxt_heap_window_end(&window, rows);
}

static void order(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= THREADS; threads += 2) {
		plays(0, threads);
		plays(7, threads);
		plays(1, threads);
	}
}

/* The waiting events are so many that rows continue in files, for two threads in turn. Half
 * of them leave in each round. */
static void long_rows(void **state)
{
	struct fxt_heap_queue rows[2] = {0};
	struct fxt_heap_window window = {0};
	struct fxt_heap_event taken;
	uint64_t next = 0, put = 0;

	(void)state;
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned i = 0; i < 50000; i++, put++) {
			struct fxt_heap_event event = {.ns = put, .pointer = put, .thread = put % 2};

			fxt_heap_window_put(&window, rows, &event);
		}
		for (unsigned i = 0; i < 25000; i++, next++) {
			assert_true(fxt_heap_window_take(&window, rows, &taken));
			assert_int_equal(taken.pointer, next);
		}
	}
	assert_false(fxt_spill_is_in_memory(&rows[0].later));
	for (; next < put; next++) {
		assert_true(fxt_heap_window_take(&window, rows, &taken));
		assert_int_equal(taken.pointer, next);
	}
	assert_false(fxt_heap_window_take(&window, rows, &taken));
	fxt_heap_window_end(&window, rows);
}

/* Two images of a process have a thread of the same number. */
static void one_thread_in_two_windows(void **state)
{
	struct fxt_heap_window windows[2] = {0};
	struct fxt_heap_queue row = {0};
	struct fxt_heap_event taken;

	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		struct fxt_heap_event event = {.ns = i, .pointer = i};

		fxt_heap_window_put(&windows[i % 2], &row, &event);
	}
	for (uint64_t i = 0; i < 2000; i++) {
		assert_true(fxt_heap_window_take(&windows[i % 2], &row, &taken));
		assert_int_equal(taken.pointer, i);
	}
	fxt_heap_window_end(&windows[0], &row);
	fxt_heap_window_end(&windows[1], &row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(order), cmocka_unit_test(long_rows),
	        cmocka_unit_test(one_thread_in_two_windows)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
