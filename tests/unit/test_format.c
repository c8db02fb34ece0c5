/*
 * Every record and argument type against words worked out by hand from the text of the
 * format. A comment lists the fields of the literal below it, from the most significant
 * down.
 */
#include "record.h"

/* Longer than what is taken of them: a stream must be filled up with zeros, not with what
 * follows. */
static const char letters[] = "abcdefghijklmnop";
static const unsigned char bytes[] = {
        0xff, 0x00, 0xfe, 0x01, 0xfd, 0x02, 0xfc, 0x03, 0xfb, 0x04, 0xfa, 0x05, 0xf9, 0x06, 0xf8, 0x07};

/* The streams of their first 1, 7, 8 and 9. */
#define LETTERS_1 0x0000000000000061
#define LETTERS_7 0x0067666564636261
#define LETTERS_8 0x6867666564636261
#define LETTERS_9 0x6867666564636261, 0x0000000000000069
#define BYTES_1   0x00000000000000ff
#define BYTES_7   0x00fc02fd01fe00ff
#define BYTES_8   0x03fc02fd01fe00ff
#define BYTES_9   0x03fc02fd01fe00ff, 0x00000000000000fb

#define TICKS   0x0123456789abcdef
#define PROCESS 0x1000000000000001
#define THREAD  0x2000000000000002
#define EXTRA   0xfedcba9876543210

#define NONE       fxt_string_empty()
#define INDEX(n)   fxt_string_index(n)
#define LETTERS(n) fxt_string_inline(letters, n)
#define INLINE     fxt_thread_inline(PROCESS, THREAD)
#define ARGS(...)                     \
	(const struct fxt_argument[]) \
	{                             \
		__VA_ARGS__           \
	}

static void metadata(void **state)
{
	(void)state;
	RECORD(fxt_put_magic(dst, capacity), 0x0016547846040010);

	/* name bytes 8 bits | provider 32 bits | metadata 1 | words | record 0 */
	RECORD(fxt_put_provider_info(dst, capacity, 0x12345678, NULL, 0), 0x0001234567810010);
	RECORD(fxt_put_provider_info(dst, capacity, 0x12345678, letters, 1), 0x0011234567810020, LETTERS_1);
	RECORD(fxt_put_provider_info(dst, capacity, 0x12345678, letters, 7), 0x0071234567810020, LETTERS_7);
	RECORD(fxt_put_provider_info(dst, capacity, 0x12345678, letters, 8), 0x0081234567810020, LETTERS_8);
	RECORD(fxt_put_provider_info(dst, capacity, 0x12345678, letters, 9), 0x0091234567810030, LETTERS_9);

	/* provider 32 bits | metadata 2 | words | record 0 */
	RECORD(fxt_put_provider_section(dst, capacity, 0xffffffff), 0x000ffffffff20010);

	/* event 0 | provider 7 | metadata 3 | words | record 0 */
	RECORD(fxt_put_provider_event(dst, capacity, 7, FXT_PROVIDER_EVENT_BUFFER_FULL), 0x0000000000730010);
}

static void string_records(void **state)
{
	(void)state;
	/* bytes | index 0x1234 | words | record 2 */
	RECORD(fxt_put_string(dst, capacity, 0x1234, NULL, 0), 0x0000000012340012);
	RECORD(fxt_put_string(dst, capacity, 0x1234, letters, 1), 0x0000000112340022, LETTERS_1);
	RECORD(fxt_put_string(dst, capacity, 0x1234, letters, 7), 0x0000000712340022, LETTERS_7);
	RECORD(fxt_put_string(dst, capacity, 0x1234, letters, 8), 0x0000000812340022, LETTERS_8);
	RECORD(fxt_put_string(dst, capacity, 0x1234, letters, 9), 0x0000000912340032, LETTERS_9);
	/* Bytes count, not characters; and bytes above 0x7f are not sign-extended. */
	RECORD(fxt_put_string(dst, capacity, 1, "\xc3\xa9", 2), 0x0000000200010022, 0x000000000000a9c3);
}

static void initialization_and_threads(void **state)
{
	(void)state;
	RECORD(fxt_put_initialization(dst, capacity, 2400000000), 0x0000000000000021, 0x000000008f0d1800);
	/* index 0x7f | words 3 | record 3 */
	RECORD(fxt_put_thread(dst, capacity, 0x7f, PROCESS, THREAD), 0x00000000007f0033, PROCESS, THREAD);
}

static void event_types(void **state)
{
	(void)state;
#define EVENT(type, ...)                                                                                \
	RECORD(fxt_put_event(dst, capacity, type, fxt_thread_index(0x11), INDEX(0x2222), INDEX(0x3333), \
	               TICKS, NULL, 0, EXTRA),                                                          \
	        __VA_ARGS__)
	/* name | category | thread | no arguments, event type | words | record 4 */
	EVENT(FXT_EVENT_INSTANT, 0x3333222211000024, TICKS);
	EVENT(FXT_EVENT_COUNTER, 0x3333222211010034, TICKS, EXTRA);
	EVENT(FXT_EVENT_DURATION_BEGIN, 0x3333222211020024, TICKS);
	EVENT(FXT_EVENT_DURATION_END, 0x3333222211030024, TICKS);
	EVENT(FXT_EVENT_DURATION_COMPLETE, 0x3333222211040034, TICKS, EXTRA);
	EVENT(FXT_EVENT_ASYNC_BEGIN, 0x3333222211050034, TICKS, EXTRA);
	EVENT(FXT_EVENT_ASYNC_INSTANT, 0x3333222211060034, TICKS, EXTRA);
	EVENT(FXT_EVENT_ASYNC_END, 0x3333222211070034, TICKS, EXTRA);
	EVENT(FXT_EVENT_FLOW_BEGIN, 0x3333222211080034, TICKS, EXTRA);
	EVENT(FXT_EVENT_FLOW_STEP, 0x3333222211090034, TICKS, EXTRA);
	EVENT(FXT_EVENT_FLOW_END, 0x33332222110a0034, TICKS, EXTRA);
#undef EVENT
}

static void event_parts(void **state)
{
	(void)state;
	/* Name and category empty: 0, not an inline string of no bytes. */
	RECORD(fxt_put_event(dst, capacity, FXT_EVENT_INSTANT, fxt_thread_index(1), NONE, LETTERS(0), TICKS,
	               NULL, 0, 0),
	        0x0000000001000024, TICKS);
	/* name 7 inline | category 8 inline | thread 1 */
	RECORD(fxt_put_event(dst, capacity, FXT_EVENT_INSTANT, fxt_thread_index(1), LETTERS(8), LETTERS(7),
	               TICKS, NULL, 0, 0),
	        0x8007800801000044, TICKS, LETTERS_8, LETTERS_7);
	/* name 9 inline | category 1 inline | thread inline: time, process, thread,
	 * category, name, end */
	RECORD(fxt_put_event(dst, capacity, FXT_EVENT_DURATION_COMPLETE, INLINE, LETTERS(1), LETTERS(9),
	               TICKS, NULL, 0, EXTRA),
	        0x8009800100040084, TICKS, PROCESS, THREAD, LETTERS_1, LETTERS_9, EXTRA);
	/* name 1 inline | category 2 | thread 3 | 2 arguments: the counter's id follows the
	 * arguments. Arguments: 42 | name 5 | 1 word | int32; 0 | name 7 inline | 3 words |
	 * uint64. */
	RECORD(fxt_put_event(dst, capacity, FXT_EVENT_COUNTER, fxt_thread_index(3), INDEX(2), LETTERS(1),
	               TICKS, ARGS(fxt_argument_int32(INDEX(5), 42), fxt_argument_uint64(LETTERS(7), 0x99)),
	               2, EXTRA),
	        0x8001000203210084, TICKS, LETTERS_1, 0x0000002a00050011, 0x0000000080070034, LETTERS_7, 0x99,
	        EXTRA);
}

static void hot_path_header(void **state)
{
	(void)state;
	assert_int_equal(fxt_duration_complete_header(0x11, 0x2222), 0x0000222211040034);
	assert_int_equal(fxt_duration_complete_header(0xff, 0x7fff), 0x00007fffff040034);
	assert_int_equal(fxt_duration_complete_header(1, 0), 0x0000000001040034);
}

static void arguments(void **state)
{
	(void)state;
#define ARGUMENT(argument, header, ...)                                                               \
	RECORD(fxt_put_event(dst, capacity, FXT_EVENT_INSTANT, fxt_thread_index(0x11), INDEX(0x2222), \
	               INDEX(0x3333), TICKS, ARGS(argument), 1, 0),                                   \
	        header, TICKS, __VA_ARGS__)
/* name | category | thread | 1 argument, type 0 | words | record 4 */
#define WORDS_3 0x3333222211100034
#define WORDS_4 0x3333222211100044
#define WORDS_5 0x3333222211100054
#define WORDS_6 0x3333222211100064
	/* value 32 bits | name 5 | words | type */
	ARGUMENT(fxt_argument_null(INDEX(5)), WORDS_3, 0x0000000000050010);
	ARGUMENT(fxt_argument_int32(INDEX(5), -2), WORDS_3, 0xfffffffe00050011);
	ARGUMENT(fxt_argument_int32(INDEX(5), INT32_MIN), WORDS_3, 0x8000000000050011);
	ARGUMENT(fxt_argument_uint32(INDEX(5), UINT32_MAX), WORDS_3, 0xffffffff00050012);
	ARGUMENT(fxt_argument_int64(INDEX(5), -2), WORDS_4, 0x0000000000050023, 0xfffffffffffffffe);
	ARGUMENT(fxt_argument_int64(INDEX(5), INT64_MIN), WORDS_4, 0x0000000000050023, 0x8000000000000000);
	ARGUMENT(fxt_argument_uint64(INDEX(5), UINT64_MAX), WORDS_4, 0x0000000000050024, 0xffffffffffffffff);
	ARGUMENT(fxt_argument_double(INDEX(5), 1.5), WORDS_4, 0x0000000000050025, 0x3ff8000000000000);
	ARGUMENT(fxt_argument_double(INDEX(5), -0.0), WORDS_4, 0x0000000000050025, 0x8000000000000000);
	ARGUMENT(fxt_argument_pointer(INDEX(5), EXTRA), WORDS_4, 0x0000000000050027, EXTRA);
	ARGUMENT(fxt_argument_koid(INDEX(5), EXTRA), WORDS_4, 0x0000000000050028, EXTRA);
	/* A boolean stands in bit 32. */
	ARGUMENT(fxt_argument_bool(INDEX(5), true), WORDS_3, 0x0000000100050019);
	ARGUMENT(fxt_argument_bool(INDEX(5), false), WORDS_3, 0x0000000000050019);
	/* 0 | value 16 bits | name 5 | words | type 6 */
	ARGUMENT(fxt_argument_string(INDEX(5), NONE), WORDS_3, 0x0000000000050016);
	ARGUMENT(fxt_argument_string(INDEX(5), INDEX(0x7fff)), WORDS_3, 0x00007fff00050016);
	ARGUMENT(fxt_argument_string(INDEX(5), LETTERS(1)), WORDS_4, 0x0000800100050026, LETTERS_1);
	ARGUMENT(fxt_argument_string(INDEX(5), LETTERS(7)), WORDS_4, 0x0000800700050026, LETTERS_7);
	ARGUMENT(fxt_argument_string(INDEX(5), LETTERS(8)), WORDS_4, 0x0000800800050026, LETTERS_8);
	ARGUMENT(fxt_argument_string(INDEX(5), LETTERS(9)), WORDS_5, 0x0000800900050036, LETTERS_9);
	/* A blob's size in bytes has bits 32-63. */
	ARGUMENT(fxt_argument_blob(INDEX(5), NULL, 0), WORDS_3, 0x000000000005001a);
	ARGUMENT(fxt_argument_blob(INDEX(5), bytes, 1), WORDS_4, 0x000000010005002a, BYTES_1);
	ARGUMENT(fxt_argument_blob(INDEX(5), bytes, 7), WORDS_4, 0x000000070005002a, BYTES_7);
	ARGUMENT(fxt_argument_blob(INDEX(5), bytes, 8), WORDS_4, 0x000000080005002a, BYTES_8);
	ARGUMENT(fxt_argument_blob(INDEX(5), bytes, 9), WORDS_5, 0x000000090005003a, BYTES_9);

	/* Inline names come before the value. */
	ARGUMENT(fxt_argument_null(NONE), WORDS_3, 0x0000000000000010);
	ARGUMENT(fxt_argument_null(LETTERS(1)), WORDS_4, 0x0000000080010020, LETTERS_1);
	ARGUMENT(fxt_argument_int32(LETTERS(7), 3), WORDS_4, 0x0000000380070021, LETTERS_7);
	ARGUMENT(fxt_argument_uint32(LETTERS(8), 3), WORDS_4, 0x0000000380080022, LETTERS_8);
	ARGUMENT(fxt_argument_int64(LETTERS(9), 3), WORDS_6, 0x0000000080090043, LETTERS_9, 3);
	ARGUMENT(fxt_argument_uint64(LETTERS(1), 3), WORDS_5, 0x0000000080010034, LETTERS_1, 3);
	ARGUMENT(fxt_argument_double(LETTERS(7), 1.5), WORDS_5, 0x0000000080070035, LETTERS_7,
	        0x3ff8000000000000);
	ARGUMENT(fxt_argument_string(LETTERS(9), LETTERS(7)), WORDS_6, 0x0000800780090046, LETTERS_9,
	        LETTERS_7);
	ARGUMENT(fxt_argument_string(LETTERS(8), INDEX(4)), WORDS_4, 0x0000000480080026, LETTERS_8);
	ARGUMENT(fxt_argument_pointer(LETTERS(8), EXTRA), WORDS_5, 0x0000000080080037, LETTERS_8, EXTRA);
	ARGUMENT(fxt_argument_koid(LETTERS(9), EXTRA), WORDS_6, 0x0000000080090048, LETTERS_9, EXTRA);
	ARGUMENT(fxt_argument_bool(LETTERS(1), true), WORDS_4, 0x0000000180010029, LETTERS_1);
	ARGUMENT(fxt_argument_blob(LETTERS(9), bytes, 7), WORDS_6, 0x000000078009004a, LETTERS_9, BYTES_7);
#undef ARGUMENT
}

static void blob_records(void **state)
{
	(void)state;
	/* blob type | bytes | name | words | record 5 */
	RECORD(fxt_put_blob(dst, capacity, INDEX(0x1234), FXT_BLOB_DATA, NULL, 0), 0x0001000012340015);
	RECORD(fxt_put_blob(dst, capacity, INDEX(0x1234), FXT_BLOB_LAST_BRANCH, bytes, 8), 0x0002000812340025,
	        BYTES_8);
	RECORD(fxt_put_blob(dst, capacity, LETTERS(9), FXT_BLOB_PERFETTO, bytes, 9), 0x0003000980090055,
	        LETTERS_9, BYTES_9);
}

static void userspace_objects(void **state)
{
	(void)state;
	/* arguments | name | process | words | record 6 */
	RECORD(fxt_put_userspace_object(dst, capacity, fxt_thread_index(0x11), EXTRA, INDEX(0x2222), NULL, 0),
	        0x0000002222110026, EXTRA);
	/* Inline: the process alone, behind the pointer. */
	RECORD(fxt_put_userspace_object(dst, capacity, INLINE, EXTRA, INDEX(0x2222), NULL, 0),
	        0x0000002222000036, EXTRA, PROCESS);
	RECORD(fxt_put_userspace_object(dst, capacity, INLINE, EXTRA, LETTERS(9),
	               ARGS(fxt_argument_uint32(INDEX(5), 9), fxt_argument_null(INDEX(6))), 2),
	        0x0000028009000076, EXTRA, PROCESS, LETTERS_9, 0x0000000900050012, 0x0000000000060010);
}

static void kernel_objects(void **state)
{
	(void)state;
	/* arguments | name | object type | words | record 7 */
	RECORD(fxt_put_kernel_object(dst, capacity, FXT_OBJECT_PROCESS, PROCESS, INDEX(0x2222), NULL, 0),
	        0x0000002222010027, PROCESS);
	/* "main" | "process" */
	RECORD(fxt_put_kernel_object(dst, capacity, FXT_OBJECT_THREAD, THREAD, fxt_string_inline("main", 4),
	               ARGS(fxt_argument_koid(fxt_string_inline("process", 7), PROCESS)), 1),
	        0x0000018004020067, THREAD, 0x000000006e69616d, 0x0000000080070038, 0x00737365636f7270,
	        PROCESS);
}

static void scheduling(void **state)
{
	(void)state;
#define SWITCH(state, header)                                                                         \
	RECORD(fxt_put_context_switch(dst, capacity, TICKS, 0xabcd, state, PROCESS, THREAD, NULL, 0), \
	        header, TICKS, PROCESS, THREAD)
	/* type 1 | outgoing state | cpu 16 bits | arguments | words | record 8 */
	SWITCH(FXT_THREAD_STATE_NEW, 0x1000000abcd00048);
	SWITCH(FXT_THREAD_STATE_RUNNING, 0x1000001abcd00048);
	SWITCH(FXT_THREAD_STATE_SUSPENDED, 0x1000002abcd00048);
	SWITCH(FXT_THREAD_STATE_BLOCKED, 0x1000003abcd00048);
	SWITCH(FXT_THREAD_STATE_DYING, 0x1000004abcd00048);
	SWITCH(FXT_THREAD_STATE_DEAD, 0x1000005abcd00048);
#undef SWITCH
	RECORD(fxt_put_context_switch(dst, capacity, TICKS, 0xabcd, FXT_THREAD_STATE_RUNNING, PROCESS, THREAD,
	               ARGS(fxt_argument_int32(INDEX(5), -1), fxt_argument_int32(INDEX(6), 2)), 2),
	        0x1000001abcd20068, TICKS, PROCESS, THREAD, 0xffffffff00050011, 0x0000000200060011);
	/* type 2 | cpu 16 bits | arguments | words | record 8 */
	RECORD(fxt_put_thread_wakeup(dst, capacity, TICKS, 0xabcd, THREAD, NULL, 0), 0x2000000abcd00038,
	        TICKS, THREAD);
	RECORD(fxt_put_thread_wakeup(
	               dst, capacity, TICKS, 0xabcd, THREAD, ARGS(fxt_argument_int32(INDEX(5), 7)), 1),
	        0x2000000abcd10048, TICKS, THREAD, 0x0000000700050011);
}

static void legacy_context_switch(void **state)
{
	(void)state;
#define SWITCH(outgoing, incoming, ...)                                                                    \
	RECORD(fxt_put_legacy_context_switch(                                                              \
	               dst, capacity, TICKS, 0xab, FXT_THREAD_STATE_DEAD, outgoing, incoming, 0x33, 0x44), \
	        __VA_ARGS__)
	/* type 0 | priorities in, out | threads in, out | state | cpu | words | record 8 */
	SWITCH(fxt_thread_index(0x11), fxt_thread_index(0x22), 0x0443322115ab0028, TICKS);
	SWITCH(INLINE, fxt_thread_index(0x22), 0x0443322005ab0048, TICKS, PROCESS, THREAD);
	SWITCH(fxt_thread_index(0x11), INLINE, 0x0443300115ab0048, TICKS, PROCESS, THREAD);
	SWITCH(INLINE, fxt_thread_inline(3, 4), 0x0443300005ab0068, TICKS, PROCESS, THREAD, 3, 4);
#undef SWITCH
}

static void log_records(void **state)
{
	(void)state;
	/* thread | bytes | words | record 9 */
	RECORD(fxt_put_log(dst, capacity, TICKS, fxt_thread_index(0x11), NULL, 0), 0x0000001100000029, TICKS);
	RECORD(fxt_put_log(dst, capacity, TICKS, fxt_thread_index(0x11), letters, 7), 0x0000001100070039,
	        TICKS, LETTERS_7);
	RECORD(fxt_put_log(dst, capacity, TICKS, fxt_thread_index(0x11), letters, 8), 0x0000001100080039,
	        TICKS, LETTERS_8);
	RECORD(fxt_put_log(dst, capacity, TICKS, fxt_thread_index(0x11), letters, 9), 0x0000001100090049,
	        TICKS, LETTERS_9);
	RECORD(fxt_put_log(dst, capacity, TICKS, INLINE, letters, 1), 0x0000000000010059, TICKS, PROCESS,
	        THREAD, LETTERS_1);
}

static void large_blobs(void **state)
{
	(void)state;
	/* blob format 1 | large type 0 | words 32 bits | record 15; then name | category */
	RECORD(fxt_put_large_blob(dst, capacity, INDEX(0x1111), INDEX(0x2222), bytes, 9), 0x000001000000005f,
	        0x0000000022221111, 9, BYTES_9);
	RECORD(fxt_put_large_blob(dst, capacity, LETTERS(1), LETTERS(8), bytes, 7), 0x000001000000006f,
	        0x0000000080088001, LETTERS_1, LETTERS_8, 7, BYTES_7);
	RECORD(fxt_put_large_blob(dst, capacity, NONE, INDEX(1), NULL, 0), 0x000001000000003f,
	        0x0000000000010000, 0);
}

static void large_blobs_with_metadata(void **state)
{
	(void)state;
	/* blob format 0 | large type 0 | words 32 bits | record 15;
	 * then thread | arguments | name | category */
	RECORD(fxt_put_large_blob_with_metadata(dst, capacity, fxt_thread_index(0x33), INDEX(0x1111),
	               INDEX(0x2222), TICKS, NULL, 0, bytes, 9),
	        0x000000000000006f, 0x0000033022221111, TICKS, 9, BYTES_9);
	/* Category, name, time, process, thread, arguments, size, data. */
	RECORD(fxt_put_large_blob_with_metadata(dst, capacity, INLINE, LETTERS(1), LETTERS(9), TICKS,
	               ARGS(fxt_argument_bool(INDEX(5), true), fxt_argument_koid(INDEX(6), EXTRA)), 2, bytes,
	               8),
	        0x00000000000000df, 0x0000000280098001, LETTERS_1, LETTERS_9, TICKS, PROCESS, THREAD,
	        0x0000000100050019, 0x0000000000060028, EXTRA, 8, BYTES_8);
}

static void fields(void **state)
{
	static const struct {
		size_t bytes, words;
	} streams[] = {{0, 0}, {1, 1}, {7, 1}, {8, 1}, {9, 2}, {32000, 4000}, {SIZE_MAX, 0x2000000000000000}};

	(void)state;
	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++)
		assert_int_equal(fxt_words(streams[i].bytes), streams[i].words);
	assert_int_equal(fxt_field(0x123456789abcdef0, 4, 12), 0xdef);
	assert_int_equal(fxt_field(0x123456789abcdef0, 60, 4), 0x1);
	assert_int_equal(fxt_field(0x8000000000000000, 63, 1), 1);
	assert_int_equal(fxt_field(0xfedcba9876543210, 0, 64), 0xfedcba9876543210);
	assert_int_equal(fxt_record_type(0xfffffffffffffff7), FXT_RECORD_KERNEL_OBJECT);
	assert_int_equal(fxt_field(FXT_MAGIC_RECORD, 16, 4), FXT_METADATA_TRACE_INFO);
	assert_int_equal(fxt_record_words(0xfffffffffffffff0), 4095);
	assert_int_equal(fxt_record_words(0xffffffffffff000e), 0);
	assert_int_equal(fxt_record_words(0xffffffffffffffff), 0xffffffff);
	assert_int_equal(fxt_record_words(0xfffffff00000001f), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(metadata),
	        cmocka_unit_test(string_records),
	        cmocka_unit_test(initialization_and_threads),
	        cmocka_unit_test(event_types),
	        cmocka_unit_test(event_parts),
	        cmocka_unit_test(hot_path_header),
	        cmocka_unit_test(arguments),
	        cmocka_unit_test(blob_records),
	        cmocka_unit_test(userspace_objects),
	        cmocka_unit_test(kernel_objects),
	        cmocka_unit_test(scheduling),
	        cmocka_unit_test(legacy_context_switch),
	        cmocka_unit_test(log_records),
	        cmocka_unit_test(large_blobs),
	        cmocka_unit_test(large_blobs_with_metadata),
	        cmocka_unit_test(fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
