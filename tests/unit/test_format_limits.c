/*
 * Every limit of the format: a record exactly at it is written whole, one past it is
 * refused and leaves the room as it was.
 */
#include <string.h>
#include "record.h"

#define TICKS  0x0123456789abcdef
#define ONE    fxt_thread_index(1)
#define INLINE fxt_thread_inline(2, 3)
#define NONE   fxt_string_empty()
#define XS(n)  fxt_string_inline(xs, n)
#define ARGS(a)                       \
	(const struct fxt_argument[]) \
	{                             \
		a                     \
	}

/* Every accepted stream ends in one of these: full, or with one byte of filling. */
#define XS_8 0x7878787878787878
#define XS_7 0x0078787878787878

static char xs[40000];
static struct fxt_argument many[FXT_ARGUMENTS_MAX + 1];

static int fill(void **state)
{
	(void)state;
	memset(xs, 'x', sizeof(xs));
	for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++)
		many[i] = fxt_argument_null(fxt_string_index(5));
	return 0;
}

/* The call writes a record of so many words, with these first and last words. */
#define ACCEPTED(call, words, first, last)          \
	do {                                        \
		SIZED(call, words);                 \
		check_word(#call, 0, first);        \
		check_word(#call, (words)-1, last); \
	} while (0)

static void string_indices(void **state)
{
	(void)state;
	ACCEPTED(fxt_put_string(dst, capacity, 1, xs, 8), 2, 0x0000000800010022, XS_8);
	ACCEPTED(fxt_put_string(dst, capacity, 0x7fff, xs, 8), 2, 0x000000087fff0022, XS_8);
	REFUSED(fxt_put_string(dst, capacity, 0, xs, 8));
	REFUSED(fxt_put_string(dst, capacity, 0x8000, xs, 8));
	REFUSED(fxt_put_string(dst, capacity, 0x10001, xs, 8));

#define NAMED(index) fxt_put_kernel_object(dst, capacity, 1, 9, fxt_string_index(index), NULL, 0)
	ACCEPTED(NAMED(1), 2, 0x0000000001010027, 9);
	ACCEPTED(NAMED(0x7fff), 2, 0x0000007fff010027, 9);
	REFUSED(NAMED(0));
	REFUSED(NAMED(0x8000));
	REFUSED(NAMED(0x8001));
	REFUSED(NAMED(0x10001));
#undef NAMED
}

static void string_bytes(void **state)
{
	(void)state;
	ACCEPTED(fxt_put_string(dst, capacity, 1, xs, 32000), 4001, 0x00007d000001fa12, XS_8);
	ACCEPTED(fxt_put_string(dst, capacity, 1, xs, 31999), 4001, 0x00007cff0001fa12, XS_7);
	REFUSED(fxt_put_string(dst, capacity, 1, xs, 32001));
	REFUSED(fxt_put_string(dst, capacity, 1, xs, SIZE_MAX));

#define NAMED(bytes) fxt_put_kernel_object(dst, capacity, 1, 9, XS(bytes), NULL, 0)
	ACCEPTED(NAMED(32000), 4002, 0x000000fd0001fa27, XS_8);
	REFUSED(NAMED(32001));
	REFUSED(NAMED(32767));
	REFUSED(NAMED(32769)); /* would be 1 in 15 bits */
	REFUSED(NAMED(SIZE_MAX));
#undef NAMED
}

static void thread_indices(void **state)
{
	(void)state;
	ACCEPTED(fxt_put_thread(dst, capacity, 1, 2, 3), 3, 0x0000000000010033, 3);
	ACCEPTED(fxt_put_thread(dst, capacity, 255, 2, 3), 3, 0x0000000000ff0033, 3);
	REFUSED(fxt_put_thread(dst, capacity, 0, 2, 3));
	REFUSED(fxt_put_thread(dst, capacity, 256, 2, 3));

#define LOGGED(index) fxt_put_log(dst, capacity, TICKS, fxt_thread_index(index), NULL, 0)
	ACCEPTED(LOGGED(1), 2, 0x0000000100000029, TICKS);
	ACCEPTED(LOGGED(255), 2, 0x000000ff00000029, TICKS);
	REFUSED(LOGGED(0));
	REFUSED(LOGGED(256));
	REFUSED(LOGGED(257)); /* would be 1 in 8 bits */
#undef LOGGED
}

static void widths_of_fields(void **state)
{
	(void)state;
	ACCEPTED(fxt_put_provider_info(dst, capacity, 1, xs, 255), 33, 0x0ff0000000110210, XS_7);
	REFUSED(fxt_put_provider_info(dst, capacity, 1, xs, 256));
	REFUSED(fxt_put_provider_info(dst, capacity, 1, xs, SIZE_MAX));

	ACCEPTED(fxt_put_provider_event(dst, capacity, 1, 15), 1, 0x00f0000000130010, 0x00f0000000130010);
	REFUSED(fxt_put_provider_event(dst, capacity, 1, 16));

	ACCEPTED(fxt_put_blob(dst, capacity, NONE, 255, xs, 8), 2, 0x00ff000800000025, XS_8);
	REFUSED(fxt_put_blob(dst, capacity, NONE, 256, xs, 8));

	ACCEPTED(fxt_put_kernel_object(dst, capacity, 255, 9, NONE, NULL, 0), 2, 0x0000000000ff0027, 9);
	REFUSED(fxt_put_kernel_object(dst, capacity, 256, 9, NONE, NULL, 0));

	REFUSED(fxt_put_event(dst, capacity, FXT_EVENT_FLOW_END + 1, ONE, NONE, NONE, TICKS, NULL, 0, 0));
	REFUSED(fxt_put_event(dst, capacity, 16, ONE, NONE, NONE, TICKS, NULL, 0, 0));
}

static void widths_of_scheduling_fields(void **state)
{
	(void)state;
#define SWITCH(cpu, state) fxt_put_context_switch(dst, capacity, TICKS, cpu, state, 8, 9, NULL, 0)
	ACCEPTED(SWITCH(0xffff, 15), 4, 0x100000fffff00048, 9);
	REFUSED(SWITCH(0x10000, 0));
	REFUSED(SWITCH(0, 16));
#undef SWITCH

	ACCEPTED(fxt_put_thread_wakeup(dst, capacity, TICKS, 0xffff, 9, NULL, 0), 3, 0x2000000ffff00038, 9);
	REFUSED(fxt_put_thread_wakeup(dst, capacity, TICKS, 0x10000, 9, NULL, 0));

#define LEGACY(cpu, state, out, in) \
	fxt_put_legacy_context_switch(dst, capacity, TICKS, cpu, state, ONE, ONE, out, in)
	ACCEPTED(LEGACY(0xff, 15, 0xff, 0xff), 2, 0x0ffff0101fff0028, TICKS);
	REFUSED(LEGACY(0x100, 0, 0, 0));
	REFUSED(LEGACY(0, 16, 0, 0));
	REFUSED(LEGACY(0, 0, 0x100, 0));
	REFUSED(LEGACY(0, 0, 0, 0x100));
	REFUSED(LEGACY(0, FXT_THREAD_STATE_RUNNING, 0, 0));
#undef LEGACY
}

/* The six records that take arguments, with `arguments` of `count`. */
#define EVENT(arguments, count) \
	fxt_put_event(dst, capacity, FXT_EVENT_INSTANT, ONE, NONE, NONE, TICKS, arguments, count, 0)
#define USERSPACE(arguments, count) fxt_put_userspace_object(dst, capacity, INLINE, 9, NONE, arguments, count)
#define KERNEL(arguments, count)    fxt_put_kernel_object(dst, capacity, 1, 9, NONE, arguments, count)
#define SWITCH(arguments, count)    fxt_put_context_switch(dst, capacity, TICKS, 0, 0, 8, 9, arguments, count)
#define WAKEUP(arguments, count)    fxt_put_thread_wakeup(dst, capacity, TICKS, 0, 9, arguments, count)
#define LARGE(arguments, count) \
	fxt_put_large_blob_with_metadata(dst, capacity, ONE, NONE, NONE, TICKS, arguments, count, NULL, 0)

static void argument_count(void **state)
{
	const uint64_t null = 0x0000000000050010;

	(void)state;
	ACCEPTED(EVENT(many, 15), 17, 0x0000000001f00114, null);
	ACCEPTED(USERSPACE(many, 15), 18, 0x00000f0000000126, null);
	ACCEPTED(KERNEL(many, 15), 17, 0x00000f0000010117, null);
	ACCEPTED(SWITCH(many, 15), 19, 0x10000000000f0138, null);
	ACCEPTED(WAKEUP(many, 15), 18, 0x20000000000f0128, null);
	ACCEPTED(LARGE(many, 15), 19, 0x000000000000013f, 0);
	check_word("its arguments", 1, 0x0000001f00000000);
	REFUSED(EVENT(many, 16));
	REFUSED(USERSPACE(many, 16));
	REFUSED(KERNEL(many, 16));
	REFUSED(SWITCH(many, 16));
	REFUSED(WAKEUP(many, 16));
	REFUSED(LARGE(many, 16));
	REFUSED(EVENT(many, SIZE_MAX));
}

/* Only a large record has room for an argument of 4095 words. */
static void argument_words(void **state)
{
	(void)state;
#define BLOB(bytes)               LARGE(ARGS(fxt_argument_blob(NONE, xs, bytes)), 1)
#define STRING(name_bytes, bytes) LARGE(ARGS(fxt_argument_string(XS(name_bytes), XS(bytes))), 1)
	ACCEPTED(BLOB(32752), 4099, 0x000000000001003f, 0);
	check_word("blob argument", 3, 0x00007ff00000fffa);
	check_word("blob argument", 4097, XS_8);
	REFUSED(BLOB(32753));
	REFUSED(BLOB(SIZE_MAX));
	ACCEPTED(STRING(32000, 752), 4099, 0x000000000001003f, 0);
	check_word("string argument", 3, 0x000082f0fd00fff6);
	REFUSED(STRING(32000, 753));
	REFUSED(STRING(32001, 1));
	REFUSED(STRING(1, 32001));
#undef BLOB
#undef STRING
}

static void record_words(void **state)
{
	(void)state;
#define BLOB(bytes) ARGS(fxt_argument_blob(NONE, xs, bytes))
	ACCEPTED(EVENT(BLOB(32736), 1), 4095, 0x000000000110fff4, XS_8);
	REFUSED(EVENT(BLOB(32737), 1));
	ACCEPTED(USERSPACE(BLOB(32728), 1), 4095, 0x000001000000fff6, XS_8);
	REFUSED(USERSPACE(BLOB(32729), 1));
	ACCEPTED(KERNEL(BLOB(32736), 1), 4095, 0x000001000001fff7, XS_8);
	REFUSED(KERNEL(BLOB(32737), 1));
	ACCEPTED(SWITCH(BLOB(32720), 1), 4095, 0x100000000001fff8, XS_8);
	REFUSED(SWITCH(BLOB(32721), 1));
	ACCEPTED(WAKEUP(BLOB(32728), 1), 4095, 0x200000000001fff8, XS_8);
	REFUSED(WAKEUP(BLOB(32729), 1));
#undef BLOB

#define LOG(thread, bytes) fxt_put_log(dst, capacity, TICKS, thread, xs, bytes)
	ACCEPTED(LOG(ONE, FXT_LOG_MAX_BYTES), 4095, 0x000000017fe8fff9, XS_8);
	REFUSED(LOG(ONE, 32745));
	ACCEPTED(LOG(INLINE, 32728), 4095, 0x000000007fd8fff9, XS_8);
	REFUSED(LOG(INLINE, 32729));
	REFUSED(LOG(ONE, 32767)); /* the field would hold it, the record does not */
	REFUSED(LOG(ONE, SIZE_MAX));
#undef LOG

#define BLOB(name, bytes) fxt_put_blob(dst, capacity, name, FXT_BLOB_DATA, xs, bytes)
	ACCEPTED(BLOB(NONE, FXT_BLOB_MAX_BYTES), 4095, 0x00017ff00000fff5, XS_8);
	REFUSED(BLOB(NONE, 32753));
	ACCEPTED(BLOB(XS(1), 32744), 4095, 0x00017fe88001fff5, XS_8);
	REFUSED(BLOB(XS(1), 32745));
	REFUSED(BLOB(NONE, SIZE_MAX));
#undef BLOB

	/* 2 words, category, name. */
#define STRINGS(category, name) \
	fxt_put_event(dst, capacity, FXT_EVENT_INSTANT, ONE, XS(category), XS(name), TICKS, NULL, 0, 0)
	ACCEPTED(STRINGS(32000, 744), 4095, 0x82e8fd000100fff4, XS_8);
	REFUSED(STRINGS(32000, 745));
	REFUSED(STRINGS(32000, 32000));
#undef STRINGS
}

/* Sizes of large records have 32 bits; the words are checked before a byte of the data is
 * read. */
static void large_record_words(void **state)
{
	const size_t too_many = (UINT64_C(0x100000000) - 3) * 8;

	(void)state;
	ACCEPTED(fxt_put_large_blob(dst, capacity, NONE, NONE, xs, 4092 * 8), 4095, 0x000001000000ffff, XS_8);
	ACCEPTED(fxt_put_large_blob(dst, capacity, NONE, NONE, xs, 4093 * 8), 4096, 0x000001000001000f, XS_8);
	ACCEPTED(fxt_put_large_blob(dst, capacity, NONE, NONE, xs, 39999), 5003, 0x00000100000138bf, XS_7);
	/* A record exactly at this limit has 32 GiB, so only the rule itself is tried
	 * there. */
	assert_true(fxt_large_record_fits(0xffffffff, SIZE_MAX));
	REFUSED(fxt_put_large_blob(dst, capacity = SIZE_MAX, NONE, NONE, xs, too_many));
	REFUSED(fxt_put_large_blob(dst, capacity = SIZE_MAX, NONE, NONE, xs, SIZE_MAX));
	REFUSED(fxt_put_large_blob_with_metadata(
	        dst, capacity = SIZE_MAX, ONE, NONE, NONE, TICKS, NULL, 0, xs, too_many - 8));
	REFUSED(fxt_put_large_blob_with_metadata(
	        dst, capacity = SIZE_MAX, ONE, NONE, NONE, TICKS, NULL, 0, xs, SIZE_MAX));
}

/* A part that cannot be encoded is refused wherever it stands. */
static void broken_parts(void **state)
{
	const struct fxt_string string = fxt_string_index(0);
	const struct fxt_thread thread = fxt_thread_index(0);
	const struct fxt_argument arguments[] = {
	        fxt_argument_null(string),
	        fxt_argument_int64(string, 1),
	        fxt_argument_blob(string, xs, 1),
	        fxt_argument_string(NONE, string),
	        {.type = FXT_ARGUMENT_BLOB + 1},
	        {.type = 255},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++) {
		REFUSED(EVENT(&arguments[i], 1));
		REFUSED(USERSPACE(&arguments[i], 1));
		REFUSED(KERNEL(&arguments[i], 1));
		REFUSED(SWITCH(&arguments[i], 1));
		REFUSED(WAKEUP(&arguments[i], 1));
		REFUSED(LARGE(&arguments[i], 1));
	}
	REFUSED(fxt_put_event(dst, capacity, FXT_EVENT_INSTANT, thread, NONE, NONE, TICKS, NULL, 0, 0));
	REFUSED(fxt_put_event(dst, capacity, FXT_EVENT_INSTANT, ONE, string, NONE, TICKS, NULL, 0, 0));
	REFUSED(fxt_put_event(dst, capacity, FXT_EVENT_INSTANT, ONE, NONE, string, TICKS, NULL, 0, 0));
	REFUSED(fxt_put_blob(dst, capacity, string, FXT_BLOB_DATA, xs, 1));
	REFUSED(fxt_put_userspace_object(dst, capacity, thread, 9, NONE, NULL, 0));
	REFUSED(fxt_put_userspace_object(dst, capacity, ONE, 9, string, NULL, 0));
	REFUSED(fxt_put_legacy_context_switch(dst, capacity, TICKS, 0, 0, thread, ONE, 0, 0));
	REFUSED(fxt_put_legacy_context_switch(dst, capacity, TICKS, 0, 0, ONE, thread, 0, 0));
	REFUSED(fxt_put_large_blob(dst, capacity, string, NONE, xs, 1));
	REFUSED(fxt_put_large_blob(dst, capacity, NONE, string, xs, 1));
#define LARGE_BLOB(thread, category, name) \
	fxt_put_large_blob_with_metadata(dst, capacity, thread, category, name, TICKS, NULL, 0, xs, 1)
	REFUSED(LARGE_BLOB(thread, NONE, NONE));
	REFUSED(LARGE_BLOB(ONE, string, NONE));
	REFUSED(LARGE_BLOB(ONE, NONE, string));
#undef LARGE_BLOB
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(string_indices),
	        cmocka_unit_test(string_bytes),
	        cmocka_unit_test(thread_indices),
	        cmocka_unit_test(widths_of_fields),
	        cmocka_unit_test(widths_of_scheduling_fields),
	        cmocka_unit_test(argument_count),
	        cmocka_unit_test(argument_words),
	        cmocka_unit_test(record_words),
	        cmocka_unit_test(large_record_words),
	        cmocka_unit_test(broken_parts),
	};

	return cmocka_run_group_tests(tests, fill, NULL);
}
