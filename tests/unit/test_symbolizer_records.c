/*
 * The records of an archive after symbolizing: which are rewritten and how, which stay, and
 * what happens if it cannot be read.
 */
#include "symbolizer.h"
#include "writer/shared/shared.h"

#define BASE UINT64_C(0x7f0000000000)

static uint64_t outer;

/* An archive of one provider with layout.so at BASE, as module 1. */
static struct raw *begin_layout(void)
{
	struct raw *raw = begin_raw();

	run("cc -shared -nostdlib -Wl,--build-id %s/layout.s -o %s/layout.so", SOURCES, directory);
	outer = BASE + address_of(in_directory("layout.so"), "outer");
	put_module(raw, 1, in_directory("layout.so"));
	put_mapping(raw, 1, BASE, 0x100000, 0);
	return raw;
}

static void assert_same_bytes(const struct finished *f, const struct raw *raw)
{
	assert_int_equal(f->count, raw->count);
	assert_memory_equal(f->words, raw->words, raw->count * 8);
}

/* Every kind of record, some of them malformed or of no known type, and a few megabytes of
 * calls. */
static struct raw *put_everything(struct raw *raw)
{
	static char data[40000];
	const struct fxt_thread here = fxt_thread_index(1);
	const struct fxt_string name = fxt_string_text("{{{not a placeholder}}}");
	const struct fxt_argument argument = fxt_argument_string(name, fxt_string_text("{{{pc:0x1:1}}}"));

	put_string(raw, 1, "name");
	put_string(raw, 2, "a {{{pc:0x1:1}}}");
	PUT(raw, event, FXT_EVENT_INSTANT, here, fxt_string_index(1), name, 5, &argument, 1, 0);
	PUT(raw, blob, fxt_string_index(1), FXT_BLOB_DATA, "{{{pc:0x1:1}}}", 14);
	PUT(raw, userspace_object, here, 5, name, &argument, 1);
	PUT(raw, kernel_object, FXT_OBJECT_PROCESS, 5, name, NULL, 0);
	PUT(raw, context_switch, 5, 0, FXT_THREAD_STATE_BLOCKED, 1, 2, NULL, 0);
	PUT(raw, log, 5, here, "{{{module:1:", 12);
	PUT(raw, large_blob, fxt_string_index(1), name, data, sizeof(data));
	PUT(raw, provider_event, PROVIDER, FXT_PROVIDER_EVENT_BUFFER_FULL);
	raw->words[raw->count++] = 0x1e;               /* no such type */
	raw->words[raw->count++] = 0x0000001000010012; /* a string of 16 bytes without room for them */
	raw->words[raw->count++] = 0x8010000001020024; /* an event with a name that does not fit */
	raw->words[raw->count++] = 5;
	for (int i = 0; i < 150000; i++)
		PUT(raw, event, FXT_EVENT_DURATION_COMPLETE, here, fxt_string_empty(), fxt_string_index(1),
		        10, NULL, 0, 20);
	return raw;
}

static void what_is_no_placeholder_stays_byte_for_byte(void **state)
{
	struct raw *raw = put_everything(begin_raw());
	const struct finished *f = finish(raw);

	(void)state;
	assert_same_bytes(f, raw);
	assert_int_equal(f->result.functions, 0);
	assert_null(f->result.fault.reason);
}

static void names_amid_much_else(void **state)
{
	(void)state;
	struct raw *raw = put_everything(begin_layout());
	const size_t at = raw->count;

	put_pc(raw, 3, outer, 1);
	const size_t behind = raw->count;

	put_everything(raw);
	const struct finished *f = finish(raw);

	assert_string_equal(string_of(f, 3), "outer");
	assert_memory_equal(f->words, raw->words, at * 8);
	assert_memory_equal(
	        f->words + f->count - (raw->count - behind), raw->words + behind, (raw->count - behind) * 8);
}

/* Before, between and behind names there are runs of calls. Their sizes are about 256 KB,
 * the size of the blocks that move them, and half of it. */
static void runs_of_every_size_keep_their_places(void **state)
{
	static struct raw expected;

	(void)state;
	for (size_t calls = 5000; calls < 12000; calls += 250) {
		struct raw *raw = begin_raw();

		expected.count = raw->count;
		memcpy(expected.words, raw->words, raw->count * 8);
		for (unsigned run = 1; run <= 3; run++) {
			put_pc(raw, FXT_STRING_LOCAL_FIRST + run, run, 0);
			put_string(&expected, FXT_STRING_LOCAL_FIRST + run,
			        (char[]){'0', 'x', (char)('0' + run), 0});
			for (size_t i = 0; i < calls * run; i++) {
				PUT(raw, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1),
				        fxt_string_empty(), fxt_string_empty(), i, NULL, 0, run);
				PUT(&expected, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1),
				        fxt_string_empty(), fxt_string_empty(), i, NULL, 0, run);
			}
		}
		assert_same_bytes(finish(raw), &expected);
	}
}

static void placeholders_stay_if_symbols_are_not_wanted(void **state)
{
	const struct fxt_rewrite_options nothing = {0};

	(void)state;
	struct raw *raw = begin_layout();

	put_pc(raw, 1, outer, 1);
	assert_same_bytes(finish_bytes(raw->words, raw->count * 8, &nothing), raw);
}

static void the_rate_is_patched_in_every_provider(void **state)
{
	const struct fxt_rewrite_options rate = {.ticks_per_second = 2700000000};
	struct raw *raw = begin_raw();
	unsigned patched = 0;

	(void)state;
	PUT(raw, provider_info, PROVIDER + 1, "second", 6);
	PUT(raw, initialization, 5);
	const struct finished *f = finish_bytes(raw->words, raw->count * 8, &rate);

	assert_int_equal(f->count, raw->count);
	for (EACH_RECORD(f, record))
		if (bits(*record, 0, 3) == 1) {
			assert_int_equal(record[1], 2700000000);
			patched++;
		}
	assert_int_equal(patched, 2);
}

/* The manager writes calls that were open at a crash with their address as an inline
 * name. */
static void open_calls_are_named(void **state)
{
	const struct fxt_string category = fxt_string_text("a category");
	const struct fxt_argument arguments[] = {
	        fxt_argument_uint64(fxt_string_text("number"), 5),
	        fxt_argument_string(fxt_string_index(1), fxt_string_text("{{{pc:0x1:1}}}")),
	};
	const enum fxt_event_type types[] = {FXT_EVENT_DURATION_BEGIN, FXT_EVENT_DURATION_COMPLETE};
	const struct fxt_thread threads[] = {fxt_thread_index(1), fxt_thread_inline(PROCESS, THREAD)};
	static struct raw expected;
	char placeholder[64];

	(void)state;
	struct raw *raw = begin_layout();

	expected = *raw;
	snprintf(placeholder, sizeof(placeholder), "{{{pc:0x%" PRIx64 ":0}}}", outer);
	for (int i = 0; i < 4; i++) {
		PUT(raw, event, types[i / 2], threads[i % 2], category, fxt_string_text(placeholder), 10,
		        arguments, 2, 99);
		PUT(&expected, event, types[i / 2], threads[i % 2], category, fxt_string_text("outer"), 10,
		        arguments, 2, 99);
	}
	assert_same_bytes(finish(raw), &expected);
}

/* 33,000 bytes, in letters of two. */
static void names_too_long_are_cut_between_letters(void **state)
{
	static char text[FXT_STRING_MAX_BYTES], name[33002] = "n";
	const uint64_t *last = NULL;
	char placeholder[64];

	(void)state;
	while (strlen(name) < 33001)
		strcat(name, "é");
	FILE *source = fopen(in_directory("long.s"), "w");

	fprintf(source, ".globl \"%s\"\n.type \"%s\", %%function\n\"%s\": .skip 16\n", name, name, name);
	fclose(source);
	run("cd %s && cc -shared -nostdlib long.s -o long.so", directory);
	struct raw *raw = begin_raw();

	put_module(raw, 1, in_directory("long.so"));
	put_mapping(raw, 1, BASE, 16, address_of(in_directory("long.so"), "né.*"));
	put_pc(raw, 1, BASE, 1);
	memset(text, 'x', 20000);
	snprintf(placeholder, sizeof(placeholder), "{{{pc:0x%" PRIx64 ":1}}}", BASE);
	const struct fxt_argument fillers[] = {
	        fxt_argument_string(fxt_string_text("a"), fxt_string_text(text))};

	PUT(raw, event, FXT_EVENT_DURATION_BEGIN, fxt_thread_index(1), fxt_string_empty(),
	        fxt_string_text(placeholder), 10, fillers, 1, 0);
	const struct finished *f = finish(raw);

	assert_int_equal(strlen(string_of(f, 1)), 31999);
	assert_memory_equal(string_of(f, 1), name, 31999);
	for (EACH_RECORD(f, record))
		last = record;
	/* The largest record there is: header, time, name, and 2,502 words of argument. */
	assert_int_equal(bits(*last, 4, 15), 4095);
	assert_int_equal(bits(*last, 48, 62), (4095 - 2 - 2502) * 8 - 1);
	assert_memory_equal(last + 2, name, bits(*last, 48, 62));
	assert_memory_equal(last + 4095 - 2502, raw->words + raw->count - 2502, 2502 * 8);
}

static void each_function_is_described_once(void **state)
{
	(void)state;
	struct raw *raw = begin_layout();

	put_pc(raw, 1, outer, 1);
	put_pc(raw, 2, outer, 1);
	put_pc(raw, 3, outer + 64, 1);
	put_pc(raw, 4, 0x1234, 1);
	put_pc(raw, 0x7c00, outer + 1, 1); /* holds for a chunk only */
	const struct finished *f = finish(raw);

	assert_int_equal(object_of(f, outer).count, 1);
	assert_int_equal(object_of(f, outer).name, 1);
	assert_int_equal(object_of(f, outer).identities, 1);
	assert_int_equal(object_of(f, outer).identity, 2);
	assert_int_equal(object_of(f, outer).process, PROCESS);
	assert_string_equal(object_of(f, outer).module, in_directory("layout.so"));
	assert_string_equal(object_of(f, outer).file, "");
	assert_int_equal(object_of(f, outer).line, 0);
	assert_string_equal(object_of(f, outer + 64).module, in_directory("layout.so"));
	assert_int_equal(object_of(f, 0x1234).count, 1);
	assert_string_equal(object_of(f, 0x1234).module, "");
	assert_int_equal(object_of(f, outer + 1).count, 1);
	assert_string_equal(object_of(f, outer + 1).build_id, "");
	assert_int_equal(object_of(f, outer + 1).name, 0x7c00);
	assert_string_equal(string_of(f, 0x7c00), "outer");
	/* Right behind its string. */
	for (EACH_RECORD(f, record))
		if (bits(*record, 0, 3) == 2 && bits(*record, 16, 30) != 4 && bits(*record, 16, 30) > 0)
			assert_int_equal(bits(*next_record(f, record), 0, 3), 6);
}

static void the_process_is_the_providers(void **state)
{
	(void)state;
	struct raw *raw = begin_layout();

	PUT(raw, thread, 2, 1, 2); /* the first thread tells the process, until something better does */
	put_pc(raw, 1, outer, 1);
	PUT(raw, kernel_object, FXT_OBJECT_THREAD, 5, fxt_string_empty(), NULL, 0);
	PUT(raw, kernel_object, FXT_OBJECT_PROCESS, 6, fxt_string_empty(), NULL, 0);
	put_pc(raw, 2, outer + 16, 1);
	PUT(raw, provider_info, PROVIDER + 1, "second", 6);
	put_pc(raw, 3, 0x1234, 0); /* its process is not known yet */
	PUT(raw, thread, 1, 8, 9);
	put_pc(raw, 4, 0x1234, 0);
	const struct finished *f = finish(raw);

	assert_int_equal(object_of(f, outer).process, PROCESS);
	assert_int_equal(object_of(f, outer + 16).process, 6);
	assert_int_equal(object_of(f, 0x1234).count, 1);
	assert_int_equal(object_of(f, 0x1234).process, 8);
	assert_int_equal(object_of(f, 0x1234).name, 4);
}

/* ---- broken input ---- */

static void a_truncated_tail_is_left_out(void **state)
{
	struct raw *raw = begin_raw();

	(void)state;
	put_string(raw, 1, "a name");
	PUT(raw, event, FXT_EVENT_INSTANT, fxt_thread_index(1), fxt_string_index(1), fxt_string_index(1), 5,
	        NULL, 0, 0);
	for (size_t bytes = 8; bytes <= raw->count * 8; bytes++) {
		const struct finished *f = finish_bytes(raw->words, bytes, &with_symbols);
		size_t whole = 0;

		while (whole < raw->count && (whole + bits(raw->words[whole], 4, 15)) * 8 <= bytes)
			whole += bits(raw->words[whole], 4, 15);
		assert_int_equal(f->status, 0);
		assert_int_equal(f->count, whole);
		assert_memory_equal(f->words, raw->words, whole * 8);
		assert_int_equal(f->result.fault.truncated, whole * 8 < bytes);
	}
}

static void behind_a_record_of_size_0_nothing_can_be_read(void **state)
{
	struct raw *raw = begin_raw();
	const size_t whole = raw->count;

	(void)state;
	raw->words[raw->count++] = 4;
	put_string(raw, 1, "a name");
	const struct finished *f = finish(raw);

	assert_int_equal(f->count, whole);
	assert_int_equal(f->result.fault.offset, whole * 8);
	assert_non_null(f->result.fault.reason);
	assert_false(f->result.fault.truncated);
}

static void what_is_no_archive_is_refused(void **state)
{
	static const char *const texts[] = {"", "short", "#!/bin/sh\necho no trace\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const struct finished *f = finish_bytes(texts[i], strlen(texts[i]), &with_symbols);

		assert_int_equal(f->status, -1);
		assert_true(strlen(f->error) > 0);
		assert_null(strchr(f->error, '\n'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(what_is_no_placeholder_stays_byte_for_byte),
	        TEST(names_amid_much_else),
	        TEST(runs_of_every_size_keep_their_places),
	        TEST(placeholders_stay_if_symbols_are_not_wanted),
	        TEST(the_rate_is_patched_in_every_provider),
	        TEST(open_calls_are_named),
	        TEST(names_too_long_are_cut_between_letters),
	        TEST(each_function_is_described_once),
	        TEST(the_process_is_the_providers),
	        TEST(a_truncated_tail_is_left_out),
	        TEST(behind_a_record_of_size_0_nothing_can_be_read),
	        TEST(what_is_no_archive_is_refused),
	};

	return cmocka_run_group_tests_name("rewriting archives", tests, NULL, NULL);
}
