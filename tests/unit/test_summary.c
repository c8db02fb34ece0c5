/*
 * The line that ends every run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "launcher/manager/summary.h"

static void check(struct fxt_totals totals, uint64_t bytes, const char *expected)
{
	char line[512];

	fxt_summary(line, sizeof(line), &totals, "./prog", "trace.fxt", bytes);
	assert_string_equal(line, expected);
}

static void numbers(void **state)
{
	(void)state;
	check((struct fxt_totals){.events = 12345678, .has_calls = true, .threads = 8, .processes = 1},
	        296296272, "12,345,678 events, 8 threads, 1 process, 0 lost, 296 MB: trace.fxt");
	check(
	        (struct fxt_totals){
	                .events = 1, .has_calls = true, .threads = 1, .processes = 2, .losses = {1000, 0}},
	        999, "1 event, 1 thread, 2 processes, 1,000 lost, 999 bytes: trace.fxt");
	check(
	        (struct fxt_totals){
	                .events = 9, .has_calls = true, .threads = 1, .processes = 1, .losses = {2, 3000}},
	        1000, "9 events, 1 thread, 1 process, 2 lost, 3,000 overwritten, 1.0 kB: trace.fxt");
	check(
	        (struct fxt_totals){
	                .events = 9, .has_calls = true, .threads = 1, .processes = 1, .has_kept_old = true},
	        1000,
	        "9 events, 1 thread, 1 process, 0 lost, 1.0 kB: trace.fxt (the previous one is "
	        "trace.fxt.old)");
	check((struct fxt_totals){.events = 1000000,
	              .has_calls = true,
	              .threads = 1234,
	              .processes = 2,
	              .losses = {7, 0}},
	        1000, "1,000,000 events, 1,234 threads, 2 processes, 7 lost, 1.0 kB: trace.fxt");
}

static void sizes(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {{0, "0 bytes"}, {9949, "9.9 kB"}, {9950, "10 kB"}, {999499, "999 kB"},
	        {999500, "1.0 MB"}, {1500000000, "1.5 GB"}, {UINT64_C(123456789012345), "123 TB"}};
	char expected[128];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(expected, sizeof(expected), "2 events, 1 thread, 1 process, 0 lost, %s: trace.fxt",
		        cases[i].text);
		check((struct fxt_totals){.events = 2, .has_calls = true, .threads = 1, .processes = 1},
		        cases[i].bytes, expected);
	}
}

static void hints(void **state)
{
	(void)state;
	check((struct fxt_totals){0}, 8,
	        "./prog did not load the tracing library (does it clear its environment, or end before "
	        "main?), no events: trace.fxt");
	check((struct fxt_totals){.was_not_started = true}, 8,
	        "the recording was never started (fxtctl start does that), no events: trace.fxt");
	check((struct fxt_totals){.threads = 1, .processes = 1}, 1016,
	        "0 events, 1 thread, 1 process, 0 lost, 1.0 kB: trace.fxt "
	        "(no calls: is ./prog compiled with -finstrument-functions or "
	        "-fpatchable-function-entry=5?)");
	/* A program that was not compiled for it may wait, end children and use the
	 * heap. */
	check((struct fxt_totals){.events = 2, .threads = 1, .processes = 1}, 1016,
	        "2 events, 1 thread, 1 process, 0 lost, 1.0 kB: trace.fxt "
	        "(no calls: is ./prog compiled with -finstrument-functions or "
	        "-fpatchable-function-entry=5?)");
	/* Its heap is what was asked for. */
	check((struct fxt_totals){.events = 2, .threads = 1, .processes = 1, .wants_heap = true}, 1016,
	        "2 events, 1 thread, 1 process, 0 lost, 1.0 kB: trace.fxt");
	check((struct fxt_totals){.events = 2, .threads = 1, .processes = 1, .is_instrumented = true}, 1016,
	        "2 events, 1 thread, 1 process, 0 lost, 1.0 kB: trace.fxt "
	        "(no calls: ./prog made none while it was recorded, or all are excluded)");
	check((struct fxt_totals){.threads = 1, .processes = 1, .has_own_hooks = true}, 1016,
	        "0 events, 1 thread, 1 process, 0 lost, 1.0 kB: trace.fxt "
	        "(./prog has hooks of its own: __cyg_profile_func_enter is defined in it and is called "
	        "instead "
	        "of fxtrun's; build it without that definition)");
	check((struct fxt_totals){.threads = 1, .processes = 1, .without_calls = true, .has_own_hooks = true},
	        1016, "0 events, 1 thread, 1 process, 0 lost, 1.0 kB: trace.fxt");
	check((struct fxt_totals){.events = 5,
	              .has_calls = true,
	              .threads = 3,
	              .processes = 3,
	              .still_running = 2,
	              .refused = 1},
	        2000,
	        "5 events, 3 threads, 3 processes, 0 lost, 2.0 kB: trace.fxt (2 still running) (1 ran "
	        "untraced)");
	check((struct fxt_totals){.events = 90,
	              .has_calls = true,
	              .threads = 1,
	              .processes = 1,
	              .bytes_unwritten = 1500},
	        900,
	        "90 events, 1 thread, 1 process, 1.5 kB lost, 900 bytes: trace.fxt (1.5 kB could not be "
	        "written)");
	check((struct fxt_totals){.events = 90,
	              .has_calls = true,
	              .threads = 1,
	              .processes = 1,
	              .losses.lost = 7,
	              .bytes_unwritten = 1500},
	        900,
	        "90 events, 1 thread, 1 process, 7 and 1.5 kB lost, 900 bytes: trace.fxt (1.5 kB could not "
	        "be "
	        "written)");
	check((struct fxt_totals){.events = 90,
	              .has_calls = true,
	              .threads = 4,
	              .processes = 4,
	              .losses.overwritten = 1000,
	              .processes_dropped = 1},
	        900,
	        "90 events, 4 threads, 4 processes, 0 lost, 1,000 overwritten, 900 bytes: trace.fxt (1 "
	        "process "
	        "that had ended was dropped; --total-size)");
	/* Refused altogether is not the program's fault. */
	check((struct fxt_totals){.refused = 1}, 8,
	        "0 events, no thread did anything that is recorded, 0 processes, 0 lost, 8 bytes: trace.fxt "
	        "(1 ran "
	        "untraced)");
}

static void short_room(void **state)
{
	struct fxt_totals totals = {.events = 12345678, .has_calls = true, .threads = 8, .processes = 1};
	char line[512], room[512];

	(void)state;
	fxt_summary(line, sizeof(line), &totals, "./prog", "trace.fxt", 1);
	for (size_t bytes = 1; bytes <= strlen(line) + 1; bytes++) {
		memset(room, '#', sizeof(room));
		fxt_summary(room, bytes, &totals, "./prog", "trace.fxt", 1);
		assert_int_equal(strlen(room), bytes - 1);
		assert_memory_equal(room, line, bytes - 1);
		assert_int_equal(room[bytes], '#');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(numbers),
	        cmocka_unit_test(sizes),
	        cmocka_unit_test(hints),
	        cmocka_unit_test(short_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
