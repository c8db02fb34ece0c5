/*
 * The configuration that a controller gives a session: what each field means, what is kept
 * where it says nothing, and what is refused, by the field's name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "launcher/control/trace_config.h"

static struct fxt_options options;
static json_t *config;
static char wrong[256];

/* Reads a configuration into options that hold something in every field. */
static const char *read_config(const char *text)
{
	json_decref(config);
	config = json_loads(text, 0, NULL);
	assert_non_null(config);
	fxt_options_default(&options);
	options.buffering_mode = FXT_CIRCULAR;
	options.categories = (struct fxt_categories){"kept", 5};
	options.provider_specs[0] = (struct fxt_provider_spec){"kept", 4, 4096};
	options.provider_spec_count = 1;
	return fxt_trace_config_read(config, &options, wrong, sizeof(wrong));
}

static int release(void **state)
{
	(void)state;
	json_decref(config);
	config = NULL;
	return 0;
}

static void nothing_is_said(void **state)
{
	(void)state;
	assert_null(read_config("{}"));
	assert_string_equal(options.output_file, "trace.fxt");
	assert_int_equal(options.buffering_mode, FXT_CIRCULAR);
	assert_int_equal(options.buffer_bytes, 64 << 20);
	assert_int_equal(options.descendant_buffer_bytes, 16 << 20);
	assert_int_equal(options.categories.bytes, 5);
	assert_int_equal(options.provider_spec_count, 1);
	assert_int_equal(options.start_timeout_ns, 5000000000);
	assert_false(options.defer_transfer);
}

static void every_field(void **state)
{
	(void)state;
	assert_null(read_config(
	        "{\"output\":\"/o.fxt\",\"categories\":[\"a\",\"bc\"],\"buffer_size_megabytes_hint\":8,"
	        "\"total_size_megabytes\":100,"
	        "\"start_timeout_milliseconds\":7,\"buffering_mode\":\"ONESHOT\",\"provider_specs\":"
	        "[{\"name\":\"p\",\"buffer_size_megabytes_hint\":2},"
	        "{\"name\":\"q\",\"buffer_size_megabytes_hint\":0}],"
	        "\"version\":{\"major\":0,\"minor\":1},\"defer_transfer\":true}"));
	assert_string_equal(options.output_file, "/o.fxt");
	assert_int_equal(options.categories.bytes, 5);
	assert_memory_equal(options.categories.names, "a\0bc", 5);
	assert_int_equal(options.buffer_bytes, 8 << 20);
	assert_int_equal(fxt_options_total_bytes(&options), 100 << 20);
	assert_int_equal(options.start_timeout_ns, 7000000);
	assert_int_equal(options.buffering_mode, FXT_ONESHOT);
	assert_int_equal(options.provider_spec_count, 2);
	assert_int_equal(fxt_options_buffer_bytes(&options, "p", 1, true), 2 << 20);
	assert_int_equal(fxt_options_buffer_bytes(&options, "q", 1, false), 1 << 20);
	/* The size is that of all processes. */
	assert_int_equal(fxt_options_buffer_bytes(&options, "other", 5, true), 8 << 20);
	assert_int_equal(fxt_options_buffer_bytes(&options, "other", 5, false), 8 << 20);
	assert_true(options.defer_transfer);
}

/* A configuration is refused if no session has room for it: it would not be recorded. */
static void too_many_categories(void **state)
{
	char text[64 * 50] = "{\"categories\":[\"0\"";
	char *end = text + strlen(text);

	(void)state;
	for (int i = 0; i < 40; i++)
		end = stpcpy(end, ",\"123456789012345678901234567890123456789012345678901234567890123\"");
	strcpy(end, "]}");
	assert_non_null(strstr(read_config(text), "2048 bytes"));
}

static void versions(void **state)
{
	static const struct {
		const char *text;
		bool is_read;
	} table[] = {
	        {"{\"version\":{}}", true},
	        {"{\"version\":{\"major\":0}}", true},
	        {"{\"version\":{\"minor\":1}}", true},
	        {"{\"version\":{\"major\":0,\"minor\":2}}", true},
	        {"{\"version\":{\"major\":1,\"minor\":0}}", true},
	        {"{\"version\":{\"major\":0,\"minor\":0}}", false},
	        {"{\"version\":{\"major\":-1,\"minor\":5}}", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		assert_int_equal(read_config(table[i].text) == NULL, table[i].is_read);
}

static void wrong_values(void **state)
{
	static const char *const wrong[][2] = {
	        {"{\"output\":\"relative\"}", "output"},
	        {"{\"output\":\"\"}", "output"},
	        {"{\"output\":1}", "output"},
	        {"{\"categories\":\"a\"}", "categories"},
	        {"{\"categories\":[1]}", "categories"},
	        {"{\"categories\":[\"\"]}", "categories"},
	        {"{\"buffer_size_megabytes_hint\":\"4\"}", "buffer_size_megabytes_hint"},
	        {"{\"buffer_size_megabytes_hint\":-1}", "buffer_size_megabytes_hint"},
	        {"{\"buffer_size_megabytes_hint\":4097}", "buffer_size_megabytes_hint"},
	        {"{\"start_timeout_milliseconds\":-1}", "start_timeout_milliseconds"},
	        {"{\"start_timeout_milliseconds\":4294967296}", "start_timeout_milliseconds"},
	        {"{\"buffering_mode\":\"oneshot\"}", "buffering_mode"},
	        {"{\"buffering_mode\":1}", "buffering_mode"},
	        {"{\"provider_specs\":{}}", "provider_specs"},
	        {"{\"provider_specs\":[{\"name\":\"\",\"buffer_size_megabytes_hint\":1}]}", "provider_specs"},
	        {"{\"provider_specs\":[{\"buffer_size_megabytes_hint\":1}]}",
	                "provider_specs must each have both"},
	        {"{\"provider_specs\":[{\"name\":\"x\"}]}", "provider_specs must each have both"},
	        {"{\"provider_specs\":[{\"name\":\"x\",\"buffer_size_megabytes_hint\":1,\"colour\":1}]}",
	                "provider_specs"},
	        {"{\"version\":1}", "version"},
	        {"{\"version\":{\"major\":\"0\"}}", "version"},
	        {"{\"defer_transfer\":1}", "defer_transfer"},
	        {"{\"colour\":1}", "there is a field that a TraceConfig does not have"},
	        {"{\"output\":\"/x\",\"colour\":1}", "there is a field that a TraceConfig does not have"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const char *said = read_config(wrong[i][0]);

		assert_non_null(said);
		assert_memory_equal(said, wrong[i][1], strlen(wrong[i][1]));
	}
}

#define TEST(name) cmocka_unit_test_teardown(name, release)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(nothing_is_said),
	        TEST(every_field),
	        TEST(too_many_categories),
	        TEST(versions),
	        TEST(wrong_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
