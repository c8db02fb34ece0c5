/*
 * Texts and times as people see them.
 */
#include "trace.h"

#include "reader/trace/fold_names.h"
#include "reader/trace/text.h"
#include "reader/trace/utf8.h"

/* Spans are compared as strings are, and without bytes of their own they need none. */
static void spans(void **state)
{
	static const char *const sorted[] = {"", "a", "ab", "abc", "b", "\xc3\xa4"};
	struct fxt_span none = {NULL, 0};

	(void)state;
	for (size_t i = 0; i < COUNT(sorted); i++) {
		for (size_t j = 0; j < COUNT(sorted); j++) {
			struct fxt_span a = fxt_span(sorted[i]), b = fxt_span(sorted[j]);
			int order = fxt_spans_compare(a, b);

			assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
			assert_int_equal(fxt_spans_equal(a, b), i == j);
			assert_int_equal(
			        fxt_begins_with(a, sorted[j]), strstr(sorted[i], sorted[j]) == sorted[i]);
		}
	}
	assert_true(fxt_spans_equal(none, fxt_span("")));
	assert_int_equal(fxt_spans_compare(none, fxt_span("")), 0);
	assert_true(fxt_begins_with(none, "") && fxt_ends_with(none, ""));
	assert_false(fxt_begins_with(none, "a") || fxt_ends_with(none, "a"));
	assert_true(fxt_ends_with(fxt_span("abc"), "bc"));
	assert_false(fxt_ends_with(fxt_span("abc"), "ab") || fxt_ends_with(fxt_span("bc"), "abc"));
}

static void utf8(void **state)
{
	static const struct {
		const char *text;
		bool valid;
	} texts[] = {
	        {"", true},
	        {"abc", true},
	        {"\x7f\xc2\x80\xdf\xbf", true},
	        {"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf", true},
	        {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", true},
	        {"\x80", false},
	        {"\xc1\xbf", false},         /* overlong */
	        {"\xe0\x9f\xbf", false},     /* overlong */
	        {"\xf0\x8f\xbf\xbf", false}, /* overlong */
	        {"\xed\xa0\x80", false},     /* half of a surrogate pair */
	        {"\xf4\x90\x80\x80", false}, /* beyond U+10FFFF */
	        {"\xf5\x80\x80\x80", false},
	        {"\xc3", false}, /* ends too early */
	        {"a\xe2\x82", false},
	        {"\xf0\x90\x80", false},
	        {"\xe2\x28\xa1", false}, /* not continued */
	        {"\xe2\x82\x28", false},
	        {"\xf0\x90\x28\x80", false},
	        {"\xf0\x90\x80\xc0", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		if (fxt_is_utf8(fxt_span(texts[i].text)) != texts[i].valid)
			fail_msg("line %zu is %s", i, texts[i].valid ? "valid" : "not valid");
}

static void times(void **state)
{
	static const struct {
		double ns;
		const char *text;
	} times[] = {
	        {0, "0 ns"},
	        {1, "1 ns"},
	        {12.34, "12.3 ns"},
	        {999, "999 ns"},
	        {999.9996, "1.000 us"},
	        {1000, "1.000 us"},
	        {1234.5, "1.234 us"},
	        {999999, "999.999 us"},
	        {999999.6, "1.000 ms"},
	        {12345678, "12.346 ms"},
	        {1e9, "1.000 s"},
	        {123456789012.0, "123.457 s"},
	        {1e13, "10000.000 s"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(times); i++)
		assert_string_equal(fxt_time_text(times[i].ns).text, times[i].text);
}

/* Characters that could move a terminal's cursor, colour the text after them, or reverse
 * its direction, in names of one character each. */
static void controls(void **state)
{
	static const struct {
		const char *text, *shown;
	} texts[] = {
	        {"\n", "\\n"},
	        {"\t", "\\t"},
	        {"\x1b", "\\x1b"},
	        {"\x7f", "\\x7f"},
	        {"\xff", "\\xff"},
	        {"\xc2\x80", "\\u0080"},
	        {"\xc2\x9b", "\\u009b"}, /* begins a control sequence, as ESC [ does */
	        {"\xc2\x9f", "\\u009f"},
	        {"\xe2\x80\x8e", "\\u200e"},
	        {"\xe2\x80\xa8", "\\u2028"},
	        {"\xe2\x80\xae", "\\u202e"},
	        {"\xe2\x81\xa6", "\\u2066"},
	        {"a", ""},
	        {"\xc2\xa0", ""},
	        {"\xc3\xa4", ""},
	        {"\xe2\x80\x94", ""},
	        {"\xe2\x80\xaf", ""},
	        {"\xf0\x9f\x98\x80", ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		char escape[8];

		assert_int_equal(fxt_escape(fxt_span(texts[i].text), escape), strlen(texts[i].text));
		assert_string_equal(escape, texts[i].shown);
	}
}

/* Names as demanglers write them, and what else tables have in their cells. */
static void escapes(void **state)
{
	static const struct {
		const char *text, *unescaped;
	} texts[] = {
	        {"/caf\\xe9/\\x80\\xff", "/caf\xe9/\x80\xff"},
	        {"\\xe9", "\xe9"},
	        {"\\xe", "\\xe"},
	        {"\\x", "\\x"},
	        {"\\", "\\"},
	        {"\\x7f\\x00", "\\x7f\\x00"}, /* valid characters are not escaped */
	        {"\\xE9\\xg9\\xeg", "\\xE9\\xg9\\xeg"},
	        {"\\\\xe9", "\\\xe9"},
	        {"", ""},
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		strcpy(text, texts[i].text);
		text[fxt_unescape(text, text, strlen(text))] = '\0';
		assert_string_equal(text, texts[i].unescaped);
	}
}

static void folded_names(void **state)
{
	static const struct {
		const char *text, *shown;
	} texts[] = {
	        {"", ""},
	        {"main", "main"},
	        {"f()", "f()"},
	        {"f(int)", "f(int)"}, /* is not shorter */
	        {"f(long)", "f(…)"},
	        {"a::b::f(std::map<int, long> const&) const", "a::b::f(…) const"},
	        {"std::vector<int, std::allocator<int> >::push_back(int const&)",
	                "std::vector<…>::push_back(…)"},
	        {"void f<void (*)(int)>(void (*)(int))", "void f<…>(…)"},
	        {"(anonymous namespace)::f(long)", "(anonymous namespace)::f(…)"},
	        {"a::operator()(long) const", "a::operator()(…) const"},
	        {"a::operator<(a const&)", "a::operator<(…)"},
	        {"a& operator<< <char>(a&, char)", "a& operator<< <char>(…)"},
	        {"a::operator->(long)", "a::operator->(…)"},
	        {"a::operator bool() const", "a::operator bool() const"},
	        {"operators<long>::f()", "operators<…>::f()"},
	        {"f<&(a::operator>(a const&))>(long)", "f<…>(…)"},
	        {"main > a::f(long) > b::g<long>()", "main > a::f(…) > b::g<…>()"},
	        {"f(long)::{lambda(long)#1}::operator()(long) const",
	                "f(…)::{lambda(…)#1}::operator()(…) const"},
	        {"<T as core::Trait>::f", "<T as core::Trait>::f"},
	        {"died of a signal (SIGSEGV)", "died of a signal (SIGSEGV)"},
	        {"f(long", "f(long"},
	        {"f)long>(", "f)long>("},
	        {"f(g<long)", "f(g<long)"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		char name[128];
		size_t bytes = fxt_fold_names(fxt_span(texts[i].text), name);

		assert_true(bytes <= strlen(texts[i].text));
		name[bytes] = '\0';
		assert_string_equal(name, texts[i].shown);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(spans),
	        cmocka_unit_test(utf8),
	        cmocka_unit_test(times),
	        cmocka_unit_test(controls),
	        cmocka_unit_test(escapes),
	        cmocka_unit_test(folded_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
