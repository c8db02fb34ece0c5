/*
 * The choice of a part of a trace: patterns, durations, and the filter of a walk. Its sums
 * are those of a trace with nothing else, its slices cut by hand. Also the names of C++.
 */
#include "random.h"
#include "trace.h"

#include "reader/slices/query_filter.h"
#include "reader/trace/cxx_names.h"
#include "reader/trace/duration.h"
#include "reader/stats/functions.h"
#include "reader/stats/slowest.h"

/* ---- values of options ---- */

static void patterns(void **state)
{
	static const struct {
		const char *pattern, *name;
		bool matches;
	} cases[] = {
	        {"main", "main", true},
	        {"main", "main2", false},
	        {"ma*", "main2", true},
	        {"m?in", "main", true},
	        {"[ln]ain", "main", false},
	        {"sphere::intersect(vec, vec) const", "sphere::intersect(vec, vec) const", true},
	        {"sphere::intersect", "sphere::intersect(vec, vec) const", true},
	        {"intersect", "sphere::intersect(vec, vec) const", true},
	        {"sphere::*", "sphere::intersect(vec, vec) const", true},
	        {"sphere", "sphere::intersect(vec, vec) const", false},
	        {"vec", "sphere::intersect(vec, vec) const", false},
	        {"operator*", "operator*(vec, double)", true},
	        {"operator()", "less::operator()(int, int) const", true},
	        {"operator()", "less::operator()(int)::{lambda(int)#1}::operator()(int) const", true},
	        {"go", "less::operator()(int)::inner::go(int)", true},
	        {"go", "row<(&row<1>::operator-> )>::go(int)", true},
	        {"operator[]", "row::operator[](int)", true},
	        {"operator<< <char>", "std::ostream& std::operator<< <char>(std::ostream&, char)", true},
	        {"operator*", "vec operator*(vec const&, vec const&)", true},
	        {"operator std::string", "row::operator std::string() const", true},
	        {"string", "row::operator std::string() const", false},
	        {"operator new", "operator new(unsigned long)", true},
	        {"run", "cooperator::run(int)", true},
	        {"operator_of", "operator_of<int>(int)", true},
	        {"get", "int a::get<std::vector<b::c>, 3>(d<e>)", true},
	        {"get<std::vector<b::c>, 3>", "int a::get<std::vector<b::c>, 3>(d<e>)", true},
	        {"c", "int a::get<std::vector<b::c>, 3>(d<e>)", false},
	        {"work", "(anonymous namespace)::work(int)", true},
	        {"work", "(anonymous namespace)::work", true},
	        {"run", "work(void (*)(int))::{lambda(int)#1}::run(int)", true},
	        {"work", "work(int) [clone .constprop.0]", true},
	        {"std::sort", "void std::sort<int*>(int*, int*)", true},
	        {"std::sort<int*>", "void std::sort<int*>(int*, int*)", true},
	        {"std::so", "void std::sort<int*>(int*, int*)", false},
	        {"int", "void std::sort<int*>(int*, int*)", false},
	        {"a::collect", "std::vector<int> a::collect<int>(int)", true},
	        {"std::vector", "std::vector<int> a::collect<int>(int)", false},
	        {"f[x]", "f[x]", true},
	        {"lock", "a::lock", true},
	        {"waiter", "pthread_mutex_unlock: wakes a waiter", false},
	        {"waited", "fxt: waited", false},
	        {"1", "clerk 1", false},
	        {"clerk 1", "clerk 1", true},
	        {"/^sp.*vec/", "sphere::intersect(vec, vec) const", true},
	        {"/^int/", "sphere::intersect(vec, vec) const", false},
	        {"/int/", "sphere::intersect(vec, vec) const", true},
	        {"x", "", false},
	        {"*", "((((", true},
	        {"y", "))((::<<>>", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fxt_patterns these = {0};

		assert_null(fxt_patterns_add(&these, cases[i].pattern));
		if (fxt_patterns_match(&these, fxt_span(cases[i].name)) != cases[i].matches)
			fail_msg("%s and %s", cases[i].pattern, cases[i].name);
		fxt_patterns_free(&these);
	}
	struct fxt_patterns several = {0};

	assert_null(fxt_patterns_add(&several, "a"));
	assert_null(fxt_patterns_add(&several, "/b$/"));
	assert_non_null(fxt_patterns_add(&several, "/(/"));
	assert_string_equal(fxt_patterns_add(&several, "/a++++++++++++++++++++++++++++++/"),
	        "is too long with its repetitions expanded");
	assert_string_equal(fxt_patterns_add(&several, "/((a{99}){99}b?){99}/"),
	        "is too long with its repetitions expanded");
	assert_non_null(fxt_patterns_add(&several, ""));
	assert_true(fxt_patterns_match(&several, fxt_span("a")));
	assert_true(fxt_patterns_match(&several, fxt_span("ab")));
	assert_false(fxt_patterns_match(&several, fxt_span("aa")));
	fxt_patterns_free(&several);
}

static void durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} right[] = {{"0", 0}, {"1ns", 1}, {"20us", 20000}, {"20µs", 20000}, {"1.5 ms", 1500000},
	        {"2s", 2000000000}, {"1.000000001s", 1000000001}, {"1m", 60000000000}, {"1min", 60000000000},
	        {"2h", 7200000000000}, {"99999999999999999999s", UINT64_MAX}};
	static const char *const wrong[] = {
	        "", "1", "s", "-1s", "1e3s", "0x1s", "1..2s", "1 parsec", "1ss", ".s", "inf", "nan", "1s2"};
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < COUNT(right); i++) {
		if (!fxt_duration_parse(right[i].text, &ns) || ns != right[i].ns)
			fail_msg("%s", right[i].text);
	}
	for (size_t i = 0; i < COUNT(wrong); i++)
		if (fxt_duration_parse(wrong[i], &ns))
			fail_msg("%s", wrong[i]);
}

static void wrong_values(void **state)
{
	static const struct {
		enum fxt_choose what;
		const char *value;
	} wrong[] = {{FXT_CHOOSE_TIME, "1s"}, {FXT_CHOOSE_TIME, "1s..x"}, {FXT_CHOOSE_TIME, "2s..1s"},
	        {FXT_CHOOSE_TIME, "1..2s"}, {FXT_CHOOSE_TIME, "last 2"}, {FXT_CHOOSE_TIME, "during "},
	        {FXT_CHOOSE_TIME, "during f:0"}, {FXT_CHOOSE_TIME, "during f:99999999"},
	        {FXT_CHOOSE_MIN, "20"}, {FXT_CHOOSE_FUNCTION, "/[/"}, {FXT_CHOOSE_THREAD, ""}};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct fxt_query_filter choice = {0};

		if (!fxt_query_filter_set(&choice, wrong[i].what, wrong[i].value))
			fail_msg("%s", wrong[i].value);
		fxt_query_filter_free(&choice);
	}
}

/* ---- random traces ---- */

enum { NAMES = 5, THREADS = 3, SLICES_MAX = 400, DEPTH = 4 };

struct made {
	uint64_t start, end;
	unsigned thread, name;
	bool is_under;   /* a slice of name 1, or inside one */
	bool has_caller; /* inside another slice */
};

static struct made slices[SLICES_MAX];
static size_t slice_count;

/* A slice, and before it what is inside. */
static void make_slices(unsigned thread, uint64_t start, uint64_t end, unsigned depth, bool is_under)
{
	struct made made = {start, end, thread, (unsigned)random_below(NAMES), is_under, depth < DEPTH};

	made.is_under |= made.name == 1;
	while (depth > 0 && start < end && slice_count < SLICES_MAX - 20) {
		uint64_t from = start + random_below(end - start + 1);
		uint64_t to = from + random_below(end - from + 1);

		make_slices(thread, from, to, depth - 1, made.is_under);
		start = to + 1;
	}
	slices[slice_count++] = made;
}

static struct trace trace;

/* The open slices of a trace: all of them, or those cut by hand. */
struct opened {
	struct fxt_source source;
	struct fxt_scan scan;
};

static void begin_names(void)
{
	begin_trace(&trace);
	for (unsigned i = 0; i < NAMES; i++)
		put_text(&trace, 10 + i, (char[]){(char)('a' + i), '\0'});
	for (unsigned i = 0; i < THREADS; i++)
		PUT(&trace, thread, 10 + i, PROCESS, 1 + i);
}

static void put_slice(const struct made *s)
{
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index((uint8_t)(10 + s->thread)),
	        INDEX(FUNCTION), INDEX(10 + s->name), s->start, NO_ARGUMENTS, s->end);
}

static void open_trace(struct opened *opened)
{
	static const struct fxt_scan_sizes small = {64, 512, 1 << 16};

	opened->source = source_of(trace.words, trace.count * 8);
	fxt_scan(&opened->scan, &opened->source, random_below(2) ? &small : NULL);
}

static void close_trace(struct opened *opened)
{
	fxt_scan_free(&opened->scan);
	fxt_source_close(&opened->source);
}

/* The sums of each name of a thread of its number. */
static void sums_of(const struct opened *opened, struct fxt_function sums[THREADS][NAMES])
{
	bool complete;
	struct fxt_functions *threads =
	        fxt_functions_read(&opened->scan, NULL, NULL, 1 + (unsigned)random_below(3), &complete);

	memset(sums, 0, THREADS * NAMES * sizeof(struct fxt_function));
	assert_true(complete);
	for (size_t i = 0; i < opened->scan.thread_count; i++) {
		for (size_t j = 0; j < threads[i].count; j++) {
			struct fxt_function f = threads[i].items[j];
			struct fxt_span name = opened->scan.tables.strings[f.name];

			f.name = f.depth = 0;
			f.times = (struct fxt_histogram){0};
			f.of_tracer = false;
			if (f.calls > 0)
				sums[opened->scan.tables.threads[i].thread - 1][name.data[0] - 'a'] = f;
		}
		fxt_functions_free(&threads[i]);
	}
	free(threads);
}

static void choose(struct fxt_query_filter *choice, enum fxt_choose what, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static void choose(struct fxt_query_filter *choice, enum fxt_choose what, const char *format, ...)
{
	char value[64];
	va_list values;

	va_start(values, format);
	vsnprintf(value, sizeof(value), format, values);
	va_end(values);
	assert_null(fxt_query_filter_set(choice, what, value));
}

static struct fxt_function chosen_sums[THREADS][NAMES], sums[THREADS][NAMES];

static void sums_under(const struct opened *opened, struct fxt_query_filter *choice)
{
	struct fxt_filter filter;
	struct fxt_scan *scan = (struct fxt_scan *)&opened->scan;
	char error[256] = "";

	if (fxt_query_filter_apply(choice, scan, &filter, error, sizeof(error)) != 0)
		fail_msg("%s", error);
	sums_of(opened, chosen_sums);
	fxt_filter_free(&filter);
	fxt_query_filter_free(choice);
	scan->filter = NULL;
}

static void make_trace(struct opened *opened, uint64_t round)
{
	random_state = 88172645463325252 + round;
	slice_count = 0;
	for (unsigned thread = 0; thread < THREADS; thread++)
		for (uint64_t at = 1000; at < 1100; at += 25)
			make_slices(thread, at, at + random_below(25), DEPTH, false);
	begin_names();
	for (size_t i = 0; i < slice_count; i++)
		put_slice(&slices[i]);
	open_trace(opened);
}

/* Threads, a time and what is under a function: the sums of a trace that has no more than
 * that. */
static void parts_of_traces(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < 500; round++) {
		struct opened all, part;
		struct fxt_query_filter choice = {0};
		uint64_t from = random_below(100), to = from + 1 + random_below(60);
		bool by_thread = round & 1, by_time = round & 2, by_under = round & 4;

		make_trace(&all, round);
		from += all.scan.start, to += all.scan.start;
		if (by_thread)
			choose(&choice, FXT_CHOOSE_THREAD, "2");
		if (by_time)
			choose(&choice, FXT_CHOOSE_TIME, "%" PRIu64 "ns..%" PRIu64 "ns",
			        from - all.scan.start, to - all.scan.start);
		if (by_under)
			choose(&choice, FXT_CHOOSE_UNDER, "b");
		if (by_time && from > all.scan.end) {
			fxt_query_filter_free(&choice);
			close_trace(&all);
			continue;
		}
		sums_under(&all, &choice);
		begin_names();
		for (size_t i = 0; i < slice_count; i++) {
			struct made s = slices[i];
			bool is_inside = s.start < to && (s.end > from || s.start >= from);

			if ((by_thread && s.thread != 1) || (by_under && !s.is_under) ||
			        (by_time && !is_inside))
				continue;
			if (by_time) {
				s.start = s.start < from ? from : s.start;
				s.end = s.end > to ? to : s.end;
			}
			put_slice(&s);
		}
		open_trace(&part);
		sums_of(&part, sums);
		if (memcmp(sums, chosen_sums, sizeof(sums)) != 0)
			fail_msg("round %" PRIu64, round);
		close_trace(&part);
		close_trace(&all);
	}
}

/* Functions and a least length: what is shown has the times that it has among all. */
static void hidden_functions(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < 200; round++) {
		struct opened all;
		struct fxt_query_filter choice = {0};
		uint64_t least = random_below(20), calls[THREADS][NAMES] = {0};

		make_trace(&all, round);
		sums_of(&all, sums);
		choose(&choice, FXT_CHOOSE_FUNCTION, "[bd]");
		sums_under(&all, &choice);
		for (unsigned thread = 0; thread < THREADS; thread++)
			for (unsigned name = 0; name < NAMES; name++)
				if (name != 1 && name != 3)
					sums[thread][name] = (struct fxt_function){0};
		assert_memory_equal(sums, chosen_sums, sizeof(sums));
		choose(&choice, FXT_CHOOSE_MIN, "%" PRIu64 "ns", least);
		sums_under(&all, &choice);
		for (size_t i = 0; i < slice_count; i++)
			calls[slices[i].thread][slices[i].name] += slices[i].end - slices[i].start >= least;
		for (unsigned thread = 0; thread < THREADS; thread++)
			for (unsigned name = 0; name < NAMES; name++)
				if (least > 0)
					assert_int_equal(
					        chosen_sums[thread][name].calls, calls[thread][name]);
		close_trace(&all);
	}
}

/* ---- folded functions ---- */

/* What names no more than the calls inside tell: folded calls are among them. */
static uint64_t forget_folded(struct fxt_function all[THREADS][NAMES])
{
	uint64_t folded = 0;

	for (unsigned thread = 0; thread < THREADS; thread++) {
		for (unsigned name = 0; name < NAMES; name++) {
			folded += all[thread][name].folded;
			all[thread][name].folded = all[thread][name].outermost_inside = 0;
		}
	}
	return folded;
}

/* Calls of folded functions that have a caller: the sums of a trace without them, over all
 * of it or a part of its time. */
static void folded_functions(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < 300; round++) {
		struct opened all, part;
		struct fxt_query_filter choice = {0};
		uint64_t from = random_below(60), to = from + 1 + random_below(60), left_out = 0;
		bool by_time = round & 1, is_between = true;

		make_trace(&all, round);
		all.scan.folded = fxt_allocate(all.scan.tables.string_count * sizeof(bool));
		for (unsigned i = 0; i < 2; i++)
			all.scan.folded[fxt_tables_intern(&all.scan.tables, fxt_span(i ? "b" : "d"))] = true;
		if (by_time)
			choose(&choice, FXT_CHOOSE_TIME, "%" PRIu64 "ns..%" PRIu64 "ns", from, to);
		from = by_time ? from + all.scan.start : 0;
		to = by_time ? to + all.scan.start : UINT64_MAX;
		sums_under(&all, &choice);
		begin_names();
		for (size_t i = 0; i < slice_count; i++) {
			struct made s = slices[i];
			bool is_folded = s.has_caller && (s.name == 1 || s.name == 3);

			/* A slice at the very end of its caller may be in the time without
			 * it. */
			is_between &= s.end != from;
			if (by_time && !(s.start < to && (s.end > from || s.start >= from)))
				continue;
			left_out += is_folded;
			s.start = s.start < from ? from : s.start;
			s.end = s.end > to ? to : s.end;
			if (!is_folded)
				put_slice(&s);
		}
		open_trace(&part);
		sums_of(&part, sums);
		if (is_between && (forget_folded(chosen_sums) != left_out || forget_folded(sums) != 0 ||
		                          memcmp(sums, chosen_sums, sizeof(sums)) != 0))
			fail_msg("round %" PRIu64, round);
		close_trace(&part);
		close_trace(&all);
	}
}

/* ---- the names of C++ ---- */

static void library_names(void **state)
{
	static const struct {
		const char *name;
		bool is_library;
	} cases[] = {
	        {"std::thread::join()", true},
	        {"void std::__invoke_impl<void, main::{lambda()#1}>(std::__invoke_other)", true},
	        {"void (*&std::__get_helper<0ul, void (*)(int)>(std::_Tuple_impl<0ul>&))(int)", true},
	        {"bool std::operator< <char>(std::string const&, char const*)", true},
	        {"std::vector<int>::operator[](unsigned long)", true},
	        {"decltype(auto) std::visit<f, v>(f&&, v&)", true},
	        {"__gnu_cxx::new_allocator<int>::allocate(unsigned long, void const*)", true},
	        {"__gthread_mutex_lock(pthread_mutex_t*)", true},
	        {"non-virtual thunk to std::basic_iostream<char>::~basic_iostream()", true},
	        {"operator new(unsigned long, void*)", true},
	        {"operator new(unsigned long)", false},
	        {"main", false},
	        {"std", false},
	        {"std::vector<int> collect<int>(int)", false},
	        {"std::ostream& operator<< <int>(std::ostream&, row<int> const&)", false},
	        {"operator<<(std::ostream&, row const&)", false},
	        {"row::operator std::string() const", false},
	        {"work(std::vector<int, std::allocator<int> >&)", false},
	        {"mine::std::work()", false},
	        {"stdx::work()", false},
	        {"main::{lambda(std::string)#1}::operator()(std::string) const", false},
	        {"(anonymous namespace)::work(std::string)", false},
	        {"std::vector<int> (anonymous namespace)::work<int>(int)", false},
	        {"boost::function<void ()>::operator()() const", false},
	        {"", false},
	        {"std::<<<<", true},
	        {"((((((::", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (fxt_is_library_name(fxt_span(cases[i].name)) != cases[i].is_library)
			fail_msg("%s", cases[i].name);
}

static void short_names(void **state)
{
	static const struct {
		const char *name, *expected;
	} cases[] = {
	        {"f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)",
	                "f(std::string const&)"},
	        {"f(std::basic_string_view<wchar_t, std::char_traits<wchar_t> >)", "f(std::wstring_view)"},
	        {"f(std::vector<std::vector<int, std::allocator<int> >, "
	         "std::allocator<std::vector<int, std::allocator<int> > > >)",
	                "f(std::vector<std::vector<int>>)"},
	        {"std::map<int, A, std::less<int>, std::allocator<std::pair<int const, A> > >::at(int "
	         "const&)",
	                "std::map<int, A>::at(int const&)"},
	        {"f(std::map<int, A, std::less<int>, pool<int> >)",
	                "f(std::map<int, A, std::less<int>, pool<int>>)"},
	        {"f(std::set<int, std::greater<int>, std::allocator<int> >)",
	                "f(std::set<int, std::greater<int>>)"},
	        {"f(std::unordered_map<K, V, std::hash<K>, std::equal_to<K>, "
	         "std::allocator<std::pair<K const, V> > >)",
	                "f(std::unordered_map<K, V>)"},
	        {"std::basic_ostream<char, std::char_traits<char> >& operator<< <int>"
	         "(std::basic_ostream<char, std::char_traits<char> >&, A<int>)",
	                "std::ostream& operator<< <int>(std::ostream&, A<int>)"},
	        {"std::unique_ptr<A, std::default_delete<A> >::operator->() const",
	                "std::unique_ptr<A>::operator->() const"},
	        {"f(std::unique_ptr<A, closer>)", NULL},
	        {"f(my::vector<int, std::allocator<int> >)", "f(my::vector<int, std::allocator<int>>)"},
	        {"void std::sort<int*, std::less<int> >(int*, int*, std::less<int>)",
	                "void std::sort<int*, std::less<int>>(int*, int*, std::less<int>)"},
	        {"std::__1::vector<int, std::__1::allocator<int> >::size()", "std::vector<int>::size()"},
	        {"main", NULL},
	        {"std::vector<int, std::allocator<int>", NULL},
	        {"std::f(a>b, x", NULL},
	};
	char deep[1000] = "std::";

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t bytes = 0;
		char *text = fxt_cxx_name_shorten(fxt_span(cases[i].name), &bytes);
		const char *expected = cases[i].expected;

		if (!text != !expected ||
		        (text && (strlen(expected) != bytes || memcmp(text, expected, bytes))))
			fail_msg("%s: %.*s", cases[i].name, (int)bytes, text ? text : "");
		free(text);
	}
	memset(deep + 5, '<', 990);
	assert_null(fxt_cxx_name_shorten(fxt_span(deep), &(size_t){0}));
}

/* ---- the longest ---- */

static int longest_first(const void *left, const void *right)
{
	const struct made *a = left, *b = right;
	uint64_t a_length = a->end - a->start, b_length = b->end - b->start;

	if (a_length != b_length)
		return a_length > b_length ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

static void longest(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < 200; round++) {
		struct opened all;
		struct fxt_patterns pattern = {0};
		struct fxt_slowest found, alone;
		size_t calls = 0, most = random_below(30);
		uint64_t first = UINT64_MAX, last = 0;

		make_trace(&all, round);
		for (size_t i = 0; i < slice_count; i++)
			if (slices[i].name == 2)
				slices[calls++] = slices[i];
		qsort(slices, calls, sizeof(*slices), longest_first);
		fxt_patterns_add(&pattern, "c");
		bool *names = fxt_query_filter_names(&pattern, &all.scan);

		assert_true(fxt_slowest_read(&found, &all.scan, names, false, NULL, most, 2 + round % 3));
		assert_int_equal(found.all_calls, calls);
		assert_int_equal(found.count, calls < most ? calls : most);
		for (size_t i = 0; i < found.count; i++) {
			assert_int_equal(found.calls[i].slice.start, slices[i].start);
			assert_int_equal(found.calls[i].slice.end, slices[i].end);
		}
		for (size_t i = 0; i < calls; i++) {
			first = slices[i].start < first ? slices[i].start : first;
			last = slices[i].end > last ? slices[i].end : last;
		}
		assert_int_equal(found.start, first);
		assert_int_equal(found.end, last);
		/* The call that stands for the median is the same by however many
		 * threads. */
		assert_true(fxt_slowest_read(&alone, &all.scan, names, false, NULL, most, 1));
		assert_int_equal(found.median.slice.offset, alone.median.slice.offset);
		fxt_slowest_free(&alone);
		fxt_slowest_free(&found);
		fxt_patterns_free(&pattern);
		free(names);
		close_trace(&all);
	}
}

/* ---- what a trace does not have ---- */

static void complaints(void **state)
{
	static const struct {
		enum fxt_choose what;
		const char *value, *complaint;
	} cases[] = {{FXT_CHOOSE_THREAD, "9", "there is no thread '9'"},
	        {FXT_CHOOSE_PROCESS, "x*", "there is no process 'x*'"},
	        {FXT_CHOOSE_MODULE, "x", "no function is known to be in module 'x'"},
	        {FXT_CHOOSE_FILE, "x", "no function is known to be in source file 'x'"},
	        {FXT_CHOOSE_FUNCTION, "mian", "no function is named 'mian'; did you mean 'main'?"},
	        {FXT_CHOOSE_UNDER, "qqq", "no function is named 'qqq'"},
	        {FXT_CHOOSE_TIME, "during mian", "no function is named 'mian'; did you mean 'main'?"},
	        {FXT_CHOOSE_TIME, "1h..2h", "the chosen time is after its end"}};
	struct opened all;

	(void)state;
	make_trace(&all, 1);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fxt_query_filter choice = {0};
		struct fxt_filter filter;
		char error[256];

		choose(&choice, cases[i].what, "%s", cases[i].value);
		assert_int_equal(
		        fxt_query_filter_apply(&choice, &all.scan, &filter, error, sizeof(error)), -1);
		assert_string_equal(error, cases[i].complaint);
		assert_null(all.scan.filter);
		fxt_query_filter_free(&choice);
	}
	close_trace(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(patterns),
	        cmocka_unit_test(durations),
	        cmocka_unit_test(wrong_values),
	        cmocka_unit_test(parts_of_traces),
	        cmocka_unit_test(hidden_functions),
	        cmocka_unit_test(folded_functions),
	        cmocka_unit_test(library_names),
	        cmocka_unit_test(short_names),
	        cmocka_unit_test(longest),
	        cmocka_unit_test(complaints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
