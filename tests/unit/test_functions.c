/*
 * Sums of calls against numbers worked out by hand, and against a random tree. The
 * generator of the tree knows the stack at every moment and sums up for itself.
 */
#include "random.h"
#include "trace.h"

#include "reader/stats/functions.h"

static struct trace trace;
static struct fxt_scan scan;
static struct fxt_source source;
static struct fxt_functions *threads; /* in ns */

/* Several blocks and ranges of everything, and spills that do not stay in memory. */
static const struct fxt_scan_sizes small = {.block_bytes = 64, .range_bytes = 256, .memory_bytes = 1024};

static void read_words(
        const uint64_t *words, size_t count, const struct fxt_scan_sizes *sizes, unsigned workers)
{
	bool complete;

	source = source_of(words, count * 8);
	fxt_scan(&scan, &source, sizes);
	threads = fxt_functions_read(&scan, NULL, NULL, workers, &complete);
	assert_true(complete);
	for (size_t i = 0; i < scan.thread_count; i++)
		fxt_functions_to_ns(&threads[i], &scan);
}

static void forget_trace(void)
{
	for (size_t i = 0; i < scan.thread_count; i++)
		fxt_functions_free(&threads[i]);
	free(threads);
	fxt_scan_free(&scan);
	fxt_source_close(&source);
}

static void read_trace(void)
{
	read_words(trace.words, trace.count, &small, 2);
}

static void complete(struct fxt_thread thread, const char *name, uint64_t start, uint64_t end)
{
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, thread, INDEX(FUNCTION), fxt_string_text(name), start,
	        NO_ARGUMENTS, end);
}

static void begin(struct fxt_thread thread, const char *name, uint64_t start)
{
	PUT(&trace, event, FXT_EVENT_DURATION_BEGIN, thread, INDEX(FUNCTION), fxt_string_text(name), start,
	        NO_ARGUMENTS, 0);
}

static void end(struct fxt_thread thread, uint64_t end)
{
	PUT(&trace, event, FXT_EVENT_DURATION_END, thread, INDEX(FUNCTION), INDEX(NAME), end, NO_ARGUMENTS,
	        0);
}

/* The figures of a function on one thread, or on all threads for thread 0. */
static struct fxt_function found(const char *name, uint64_t thread)
{
	uint32_t id = fxt_tables_intern(&scan.tables, fxt_span(name));
	struct fxt_functions all = {0};
	struct fxt_function found = {.name = id, .min = UINT64_MAX};

	for (size_t i = 0; i < scan.thread_count; i++)
		if (thread == 0 || scan.tables.threads[i].thread == thread)
			fxt_functions_add(&all, &threads[i]);
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i].name == id)
			found = all.items[i];
	fxt_functions_free(&all);
	return found;
}

static void is(const char *name, uint64_t thread, struct fxt_function expected)
{
	struct fxt_function f = found(name, thread);

	if (f.calls != expected.calls || f.open != expected.open || f.total != expected.total ||
	        f.self != expected.self || f.sum != expected.sum || f.min != expected.min ||
	        f.max != expected.max || f.of_tracer != expected.of_tracer)
		fail_msg("%s of thread %" PRIu64 ": %" PRIu64 " calls, %" PRIu64 " open, total %" PRIu64
		         ", self %" PRIu64 ", sum %" PRIu64 ", min %" PRIu64 ", max %" PRIu64,
		        name, thread, f.calls, f.open, f.total, f.self, f.sum, f.min, f.max);
}

#define IS(name, thread, ...) is((name), (thread), (struct fxt_function){__VA_ARGS__})

/*
 *  thread 101                              thread 102
 *  main  0..........................100    g 200..230
 *    f     10......50  g 60......90        h 300................. never ended; the trace ends at 400
 *      f     20..40      wait 70.75          f 310..320
 *        g     25.35
 */
static void by_hand(void **state)
{
	struct fxt_thread first = fxt_thread_index(1), second = fxt_thread_inline(PROCESS, 102);

	(void)state;
	begin_trace(&trace);
	complete(second, "g", 200, 230);
	complete(first, "g", 25, 35);
	complete(first, "f", 20, 40);
	begin(second, "h", 300);
	complete(first, "f", 10, 50);
	begin(first, "g", 60);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, first, INDEX(TRACER), TEXT("fxt: waited"), 70,
	        NO_ARGUMENTS, 75);
	end(first, 90);
	complete(second, "f", 310, 320);
	complete(first, "main", 0, 100);
	PUT(&trace, event, FXT_EVENT_INSTANT, first, INDEX(FUNCTION), INDEX(NAME), 400, NO_ARGUMENTS, 0);
	read_trace();
	IS("main", 101, .calls = 1, .total = 100, .self = 30, .sum = 100, .min = 100, .max = 100);
	IS("f", 101, .calls = 2, .total = 40, .self = 30, .sum = 60, .min = 20, .max = 40);
	IS("g", 101, .calls = 2, .total = 40, .self = 35, .sum = 40, .min = 10, .max = 30);
	IS("g", 102, .calls = 1, .total = 30, .self = 30, .sum = 30, .min = 30, .max = 30);
	IS("h", 102, .calls = 1, .open = 1, .total = 100, .self = 90, .sum = 100, .min = 100, .max = 100);
	IS("f", 102, .calls = 1, .total = 10, .self = 10, .sum = 10, .min = 10, .max = 10);
	IS("f", 0, .calls = 3, .total = 50, .self = 40, .sum = 70, .min = 10, .max = 40);
	IS("g", 0, .calls = 3, .total = 70, .self = 65, .sum = 70, .min = 10, .max = 30);
	IS("fxt: waited", 0, .of_tracer = true, .calls = 1, .total = 5, .self = 5, .sum = 5, .min = 5,
	        .max = 5);
	assert_int_equal(scan.start, 0);
	assert_int_equal(scan.end, 400);
	assert_int_equal(scan.malformed, 0);
	assert_null(scan.fault.reason);
	forget_trace();
}

/* Calls open at exit end at the same instant and come outermost first; one is marked
 * abandoned. */
static void ending_together(void **state)
{
	struct fxt_argument abandoned = fxt_argument_bool(TEXT("abandoned"), true);

	(void)state;
	begin_trace(&trace);
	complete(fxt_thread_index(1), "leaf", 20, 30);
	complete(fxt_thread_index(1), "main", 0, 100);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1), INDEX(FUNCTION), TEXT("f"), 10,
	        &abandoned, 1, 100);
	complete(fxt_thread_index(1), "f", 40, 100);
	complete(fxt_thread_index(1), "exit", 90, 100);
	read_trace();
	IS("main", 101, .calls = 1, .total = 100, .self = 10, .sum = 100, .min = 100, .max = 100);
	IS("f", 101, .calls = 2, .total = 90, .self = 20 + 50, .sum = 150, .min = 60, .max = 90);
	IS("leaf", 101, .calls = 1, .total = 10, .self = 10, .sum = 10, .min = 10, .max = 10);
	IS("exit", 101, .calls = 1, .total = 10, .self = 10, .sum = 10, .min = 10, .max = 10);
	forget_trace();
}

/* Two processes with clocks of 1 GHz and 2 GHz: a name is one function, times are
 * nanoseconds. */
static void two_providers(void **state)
{
	(void)state;
	begin_trace(&trace);
	PUT(&trace, provider_info, 2, "child", 5);
	PUT(&trace, initialization, 2000000000);
	put_text(&trace, 9, "function");
	put_text(&trace, 1, "f");
	PUT(&trace, thread, 1, 200, 201);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1), INDEX(9), INDEX(1), 100,
	        NO_ARGUMENTS, 300);
	PUT(&trace, provider_section, 1);
	complete(fxt_thread_index(1), "f", 100, 300);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1), INDEX(FUNCTION), INDEX(NAME), 50,
	        NO_ARGUMENTS, 400);
	read_trace();
	IS("f", 201, .calls = 1, .total = 100, .self = 100, .sum = 100, .min = 100, .max = 100);
	IS("f", 101, .calls = 1, .total = 200, .self = 200, .sum = 200, .min = 200, .max = 200);
	IS("f", 0, .calls = 2, .total = 300, .self = 300, .sum = 300, .min = 100, .max = 200);
	IS("main", 101, .calls = 1, .total = 350, .self = 150, .sum = 350, .min = 350, .max = 350);
	forget_trace();
}

static void losses(void **state)
{
	struct fxt_argument records = fxt_argument_uint64(TEXT("records"), 12);

	(void)state;
	begin_trace(&trace);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1), INDEX(TRACER),
	        TEXT("fxt: 12 records lost"), 10, &records, 1, 30);
	records = fxt_argument_uint64(TEXT("records"), 30);
	PUT(&trace, event, FXT_EVENT_INSTANT, fxt_thread_index(1), INDEX(TRACER),
	        TEXT("fxt: 30 records lost"), 40, &records, 1, 0);
	records = fxt_argument_uint64(TEXT("records"), 7);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1), INDEX(TRACER),
	        TEXT("fxt: 7 records overwritten"), 6, &records, 1, 8);
	/* Records of something else. */
	PUT(&trace, event, FXT_EVENT_INSTANT, fxt_thread_index(1), INDEX(FUNCTION), INDEX(NAME), 50, &records,
	        1, 0);
	complete(fxt_thread_index(1), "main", 5, 60);
	read_trace();
	assert_int_equal(scan.records_lost, 42);
	assert_int_equal(scan.records_overwritten, 7);
	IS("fxt: records overwritten", 0, .of_tracer = true, .calls = 1, .total = 2, .self = 2, .sum = 2,
	        .min = 2, .max = 2);
	IS("fxt: records lost", 0, .of_tracer = true, .calls = 1, .total = 20, .self = 20, .sum = 20,
	        .min = 20, .max = 20);
	IS("main", 0, .calls = 1, .total = 55, .self = 33, .sum = 55, .min = 55, .max = 55);
	forget_trace();
}

/* Malformed records are skipped and counted, and so are ends without a begin, before which
 * they are: g begins last, and is never ended. Nothing is read after a fault. */
static void broken_trace(void **state)
{
	static const uint64_t words[] = {0x0002000101040034, 30, 20, 0x11, 0x0002000101030024, 7};

	(void)state;
	begin_trace(&trace);
	complete(fxt_thread_index(1), "z", 7, 7);
	complete(fxt_thread_index(1), "f", 5, 60);
	put_words(&trace, words, COUNT(words)); /* ends before it starts; too short; ends what never began */
	begin(fxt_thread_index(1), "g", 70);
	end(fxt_thread_index(1), 65);
	uint64_t fault = trace.count * 8;

	put_words(&trace, (const uint64_t[]){0x4}, 1);
	complete(fxt_thread_index(1), "f", 105, 160);
	read_trace();
	IS("f", 0, .calls = 1, .total = 55, .self = 55, .sum = 55, .min = 55, .max = 55);
	IS("z", 0, .calls = 1); /* takes no time */
	IS("g", 0, .calls = 1, .open = 1);
	assert_int_equal(scan.malformed, 2);
	assert_int_equal(scan.ends_without_begin, 2);
	assert_non_null(scan.fault.reason);
	assert_int_equal(scan.fault.offset, fault);
	forget_trace();
}

/* ---- a random tree ---- */

enum { FUNCTIONS = 7, TREE_CALLS = 20000 };

struct call {
	unsigned function;
	uint64_t start, end;
};

static struct {
	struct call calls[TREE_CALLS];
	size_t count;
	struct fxt_function sums[FUNCTIONS];
	unsigned depth_of[FUNCTIONS];
	uint64_t now;
} tree;

/* Makes a call with calls inside; returns how long it took. Loops at the top leave many
 * calls waiting for their parent, which comes last. */
static uint64_t grow(unsigned depth)
{
	unsigned function = (unsigned)(random_below(FUNCTIONS));
	struct fxt_function *sum = &tree.sums[function];
	uint64_t start = tree.now++, inside = 0;
	uint64_t children = depth < 2 ? UINT64_MAX : depth < 30 ? random_below(3) : 0;

	tree.depth_of[function]++;
	for (uint64_t i = 0; i < children && tree.count + depth + 1 < TREE_CALLS; i++)
		inside += grow(depth + 1);
	tree.depth_of[function]--;
	tree.now += random_below(100);

	uint64_t duration = tree.now - start;

	tree.calls[tree.count++] = (struct call){function, start, tree.now};
	sum->calls++;
	sum->sum += duration;
	sum->self += duration - inside;
	sum->total += tree.depth_of[function] == 0 ? duration : 0;
	if (sum->min == 0 || duration < sum->min)
		sum->min = duration;
	if (duration > sum->max)
		sum->max = duration;
	return duration;
}

static void read_tree(const struct fxt_scan_sizes *sizes, unsigned workers)
{
	static uint64_t words[64 + 3 * TREE_CALLS];

	begin_trace(&trace);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		put_text(&trace, 10 + i, (char[]){(char)('a' + i), '\0'});
	assert_true(trace.count < 64);
	memcpy(words, trace.words, trace.count * 8);
	for (size_t i = 0; i < tree.count; i++) {
		words[trace.count++] = fxt_duration_complete_header(1, FUNCTION) |
		                       (uint64_t)(10 + tree.calls[i].function) << 48;
		words[trace.count++] = tree.calls[i].start;
		words[trace.count++] = tree.calls[i].end;
	}
	read_words(words, trace.count, sizes, workers);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		is((char[]){(char)('a' + i), '\0'}, THREAD, tree.sums[i]);
	forget_trace();
}

static void read_tree_in_all_ways(void)
{
	static const struct fxt_scan_sizes some = {
	        .block_bytes = 4096, .range_bytes = 20000, .memory_bytes = 1 << 20};

	read_tree(NULL, 1);
	read_tree(&some, 1);
	read_tree(&some, 2);
	read_tree(&small, 3);
}

static void random_tree(void **state)
{
	(void)state;
	memset(&tree, 0, sizeof(tree));
	random_state = 88172645463325252;
	grow(0);
	assert_int_equal(tree.count, TREE_CALLS);
	read_tree_in_all_ways();

	/* In an order that no writer has: the sums are the same. */
	for (size_t i = tree.count - 1; i > 0; i--) {
		size_t j = random_below(i + 1);
		struct call call = tree.calls[i];

		tree.calls[i] = tree.calls[j];
		tree.calls[j] = call;
	}
	read_tree_in_all_ways();
}

/* Nearly in order: a wait stands before the call that waited to be written. */
static void wait_first(void **state)
{
	struct fxt_thread thread = fxt_thread_index(1);

	(void)state;
	begin_trace(&trace);
	complete(thread, "f", 10, 20);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, thread, INDEX(TRACER), TEXT("fxt: waited"), 41,
	        NO_ARGUMENTS, 50);
	complete(thread, "f", 30, 40);
	complete(thread, "main", 0, 60);
	read_trace();
	IS("f", 0, .calls = 2, .total = 20, .self = 20, .sum = 20, .min = 10, .max = 10);
	IS("main", 0, .calls = 1, .total = 60, .self = 60 - 20 - 9, .sum = 60, .min = 60, .max = 60);
	forget_trace();
}

/*
 * A call of no length, at the moment when its caller ends and its caller's successor, a
 * call of the same function, begins. It is inside of its caller and not of the successor,
 * for the caller is not: both calls of f are outermost.
 *
 *  main  0..................10
 *    g     0....5
 *      f        5
 *    f          5......8
 */
static void no_length_between_two(void **state)
{
	struct fxt_thread thread = fxt_thread_index(1);

	(void)state;
	begin_trace(&trace);
	complete(thread, "f", 5, 5);
	complete(thread, "g", 0, 5);
	complete(thread, "f", 5, 8);
	complete(thread, "main", 0, 10);
	read_trace();
	assert_int_equal(found("f", 0).outermost_calls, 2);
	assert_int_equal(found("g", 0).outermost_inside, 1);
	assert_int_equal(found("main", 0).self_inside, 2);
	IS("f", 0, .calls = 2, .total = 3, .self = 3, .sum = 3, .min = 0, .max = 3);
	IS("main", 0, .calls = 1, .total = 10, .self = 2, .sum = 10, .min = 10, .max = 10);
	forget_trace();
}

static void put_cost(uint64_t within_ps, uint64_t around_ps, uint64_t error_ps)
{
	struct fxt_argument arguments[] = {fxt_argument_uint64(TEXT("within_ps"), within_ps),
	        fxt_argument_uint64(TEXT("around_ps"), around_ps),
	        fxt_argument_uint64(TEXT("error_ps"), error_ps)};

	PUT(&trace, event, FXT_EVENT_INSTANT, fxt_thread_index(1), INDEX(TRACER), TEXT("fxt: cost of a call"),
	        0, arguments, COUNT(arguments), 0);
}

static void is_corrected(struct fxt_corrected time, double ns, double error)
{
	assert_float_equal(time.ns, ns, 1e-6);
	assert_float_equal(time.error, error, 1e-6);
}

/*
 * Recording takes 2 ns within a call and 3 ns around it. Without that, main would have 10
 * ns of its own; the first f 4 ns, and 6 ns in the f inside; the second f 5 ns, with a wait
 * of 1 ns.
 *
 *  main  0.........................42
 *    f     5.......22   f 30....37
 *      f     10..18       wait 32.33
 */
static void without_cost(void **state)
{
	struct fxt_thread thread = fxt_thread_index(1), other = fxt_thread_inline(PROCESS, 102);

	(void)state;
	begin_trace(&trace);
	complete(thread, "f", 10, 18);
	complete(thread, "f", 5, 22);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, thread, INDEX(TRACER), TEXT("fxt: waited"), 32,
	        NO_ARGUMENTS, 33);
	complete(thread, "f", 30, 37);
	complete(thread, "main", 0, 42);
	complete(other, "short", 0, 1);
	put_cost(2000, 3000, 500);
	read_trace();
	assert_int_equal(scan.cost.within_ps, 2000);
	assert_int_equal(scan.cost.around_ps, 3000);
	assert_int_equal(scan.cost.error_ps, 500);
	struct fxt_function main_calls = found("main", 0), f = found("f", 0), too_short = found("short", 0);

	is_corrected(fxt_corrected_total(&main_calls, &scan.cost), 10 + 4 + 6 + 5, 4 * 0.5);
	is_corrected(fxt_corrected_self(&main_calls, &scan.cost), 10, 3 * 0.5);
	is_corrected(fxt_corrected_total(&f, &scan.cost), 4 + 6 + 5, 3 * 0.5);
	is_corrected(fxt_corrected_self(&f, &scan.cost), 4 + 6 + 5 - 1, 4 * 0.5);
	is_corrected(fxt_corrected_total(&too_short, &scan.cost), 0, 0.5);
	is_corrected(fxt_corrected_self(&too_short, &scan.cost), 0, 0.5);
	forget_trace();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(by_hand),
	        cmocka_unit_test(ending_together),
	        cmocka_unit_test(two_providers),
	        cmocka_unit_test(losses),
	        cmocka_unit_test(broken_trace),
	        cmocka_unit_test(random_tree),
	        cmocka_unit_test(wait_first),
	        cmocka_unit_test(no_length_between_two),
	        cmocka_unit_test(without_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
