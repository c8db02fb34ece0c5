/*
 * Which functions a selection leaves out, by names, source files and modules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "symbolizer/record_filter.h"

/* Whether the pattern alone includes a function of that name. */
static bool matches_function(const char *pattern, const struct fxt_location *function)
{
	struct fxt_record_filter filter = {0};
	bool is_excluded;

	assert_null(fxt_record_filter_add(&filter, FXT_RECORD_FILTER_INCLUDE, pattern));
	is_excluded = fxt_record_filter_excludes(&filter, function);
	fxt_record_filter_free(&filter);
	return !is_excluded;
}

static bool matches(const char *pattern, const char *name)
{
	struct fxt_location function = {.name = name, .name_bytes = strlen(name)};

	return matches_function(pattern, &function);
}

static void names(void **state)
{
	(void)state;
	assert_true(matches("parse", "shop::parse(int)"));
	assert_true(matches("/^int tw/", "int twice<int>(int)"));
	assert_true(matches("file::*", "file::open(char const*)"));
	assert_true(matches("module::open", "module::open(char const*)"));
	assert_false(matches("pars", "shop::parse(int)"));
	assert_false(matches("file:open", "file::open(char const*)"));
}

static void places(void **state)
{
	struct fxt_location function = {.name = "f",
	        .name_bytes = 1,
	        .file = "/home/me/src/hash/table.c",
	        .module = "/usr/lib/libhash.so.1.2"};
	static const char *const matching[] = {"file:table.c", "file:hash/*", "file:/home/*", "file:/hash/",
	        "module:libhash*", "module:/usr/lib/*", "module:/hash[.]so/"};
	static const char *const other[] = {
	        "file:able.c", "file:hash", "module:libhash", "module:table.c", "table.c"};

	(void)state;
	for (size_t i = 0; i < sizeof(matching) / sizeof(*matching); i++)
		assert_true(matches_function(matching[i], &function));
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		assert_false(matches_function(other[i], &function));
	function.file = function.module = NULL; /* nobody knows */
	assert_false(matches_function("file:*", &function));
	assert_false(matches_function("module:*", &function));
}

static void together(void **state)
{
	const struct fxt_location one = {.name = "one", .name_bytes = 3},
	                          two = {.name = "two", .name_bytes = 3},
	                          empty = {.name = "", .name_bytes = 0};
	struct fxt_record_filter filter = {0};
	enum fxt_record_filter_kind kind;
	size_t at = 0;

	(void)state;
	assert_false(fxt_record_filter_excludes(&filter, &one));
	assert_null(fxt_record_filter_add(&filter, FXT_RECORD_FILTER_EXCLUDE, "t*"));
	assert_false(filter.needs_source);
	assert_false(fxt_record_filter_excludes(&filter, &one));
	assert_true(fxt_record_filter_excludes(&filter, &two));
	assert_null(fxt_record_filter_add(&filter, FXT_RECORD_FILTER_INCLUDE, "*o*"));
	assert_null(fxt_record_filter_add(&filter, FXT_RECORD_FILTER_EXCLUDE, "file:x"));
	assert_true(filter.needs_source);
	assert_false(fxt_record_filter_excludes(&filter, &one));
	assert_true(fxt_record_filter_excludes(&filter, &two));
	assert_true(fxt_record_filter_excludes(&filter, &empty));
	assert_string_equal(fxt_record_filter_unmatched(&filter, &at, &kind), "file:x");
	assert_int_equal(kind, FXT_RECORD_FILTER_EXCLUDE);
	at++;
	assert_null(fxt_record_filter_unmatched(&filter, &at, &kind));
	assert_non_null(fxt_record_filter_add(&filter, FXT_RECORD_FILTER_EXCLUDE, ""));
	assert_non_null(fxt_record_filter_add(&filter, FXT_RECORD_FILTER_EXCLUDE, "module:"));
	assert_non_null(fxt_record_filter_add(&filter, FXT_RECORD_FILTER_EXCLUDE, "/(/"));
	fxt_record_filter_free(&filter);
}

static void limits(void **state)
{
	const struct fxt_location one = {.name = "one", .name_bytes = 3},
	                          two = {.name = "two", .name_bytes = 3};
	struct fxt_record_filter filter = {0};
	enum fxt_record_filter_kind kind;
	size_t at = 0;

	(void)state;
	assert_null(fxt_record_filter_add(&filter, FXT_RECORD_FILTER_EXCLUDE, "one"));
	assert_false(filter.has_limits);
	assert_null(fxt_record_filter_add_limit(&filter, FXT_RECORD_FILTER_MIN_DURATION, "*o*:9ns", 3, 9));
	assert_null(fxt_record_filter_add_limit(&filter, FXT_RECORD_FILTER_MIN_DURATION, "two:0ns", 3, 0));
	assert_true(filter.has_limits);
	assert_false(fxt_record_filter_excludes(&filter, &two));
	assert_int_equal(fxt_record_filter_limit(&filter, FXT_RECORD_FILTER_MIN_DURATION, &one, 5), 9);
	assert_string_equal(fxt_record_filter_unmatched(&filter, &at, &kind), "one");
	at++;
	assert_string_equal(fxt_record_filter_unmatched(&filter, &at, &kind), "two:0ns");
	assert_int_equal(kind, FXT_RECORD_FILTER_MIN_DURATION);
	assert_int_equal(fxt_record_filter_limit(&filter, FXT_RECORD_FILTER_MIN_DURATION, &two, 5), 0);
	fxt_record_filter_free(&filter);
	assert_int_equal(fxt_record_filter_limit(&filter, FXT_RECORD_FILTER_MIN_DURATION, &one, 5), 5);
}

/* Mutes functions by their whole names, and nothing that looks like them, whatever else the
 * filter has. */
static void muted(void **state)
{
	static const char *const names[] = {"row::operator[](int)", "file:x", "/a/", "open(char const*)"};
	struct fxt_record_filter filter = {0}, copy = {0};
	enum fxt_record_filter_kind kind;
	size_t at = 0;
	char text[64];

	(void)state;
	assert_null(fxt_record_filter_add(&filter, FXT_RECORD_FILTER_INCLUDE, "*"));
	assert_true(fxt_record_filter_chooses(&filter));
	fxt_record_filter_free(&filter);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_null(fxt_record_filter_add_muted(&filter, names[i]));
	assert_false(fxt_record_filter_chooses(&filter));
	assert_null(fxt_record_filter_add_all(&copy, &filter, 15));
	fxt_record_filter_free(&filter);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_true(fxt_record_filter_excludes(
		        &copy, &(struct fxt_location){.name = names[i], .name_bytes = strlen(names[i])}));
	assert_false(fxt_record_filter_excludes(&copy, &(struct fxt_location){.name = "a", .name_bytes = 1}));
	assert_false(
	        fxt_record_filter_excludes(&copy, &(struct fxt_location){.name = "open", .name_bytes = 4}));
	assert_int_equal(fxt_record_filter_describe(&copy, text, sizeof(text)), 0);
	/* No user wrote these names, so none of them can be a mistake. */
	assert_null(fxt_record_filter_unmatched(&copy, &at, &kind));
	fxt_record_filter_free(&copy);
}

static void changed(void **state)
{
	const struct fxt_location one = {.name = "one", .name_bytes = 3},
	                          two = {.name = "two", .name_bytes = 3};
	struct fxt_record_filter was = {0}, now = {0};
	char text[64];

	(void)state;
	assert_int_equal(fxt_record_filter_describe(&was, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	assert_null(fxt_record_filter_add(&was, FXT_RECORD_FILTER_INCLUDE, "t*"));
	assert_null(fxt_record_filter_add(&was, FXT_RECORD_FILTER_EXCLUDE, "two"));
	assert_null(fxt_record_filter_add_limit(&was, FXT_RECORD_FILTER_MAX_CALLS, "*o:7", 2, 7));
	assert_int_equal(
	        fxt_record_filter_describe(&was, text, sizeof(text)), strlen(" --include=t* --exclude=two"));
	assert_string_equal(text, " --include=t* --exclude=two");
	assert_int_equal(fxt_record_filter_describe(&was, text, 6), strlen(" --include=t* --exclude=two"));
	assert_string_equal(text, " --in");
	assert_null(fxt_record_filter_add_all(&now, &was, 1u << FXT_RECORD_FILTER_EXCLUDE));
	fxt_record_filter_free(&was);
	assert_false(fxt_record_filter_excludes(&now, &two));
	assert_true(fxt_record_filter_excludes(&now, &one));
	assert_int_equal(fxt_record_filter_limit(&now, FXT_RECORD_FILTER_MAX_CALLS, &two, 5), 7);
	assert_int_equal(fxt_record_filter_limit(&now, FXT_RECORD_FILTER_MAX_CALLS, &one, 5), 5);
	fxt_record_filter_free(&now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(names),
	        cmocka_unit_test(places),
	        cmocka_unit_test(together),
	        cmocka_unit_test(limits),
	        cmocka_unit_test(changed),
	        cmocka_unit_test(muted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
