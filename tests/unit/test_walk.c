/*
 * The walk over handmade traces, step by step, and over random ones: its sums are those of
 * a model that keeps all slices of a thread, sorts them, and looks for the caller of each.
 */
#include "random.h"
#include "trace.h"

#include "reader/stats/functions.h"
#include "reader/slices/walk.h"

static struct trace trace;
static struct fxt_scan scan;
static struct fxt_source source;

static void open_words(const uint64_t *words, size_t count, const struct fxt_scan_sizes *sizes)
{
	source = source_of(words, count * 8);
	fxt_scan(&scan, &source, sizes);
}

static void open_trace(const struct fxt_scan_sizes *sizes)
{
	open_words(trace.words, trace.count, sizes);
}

static void close_trace(void)
{
	fxt_scan_free(&scan);
	fxt_source_close(&source);
}

/* ---- step by step ---- */

static struct {
	char text[1 << 14];
	size_t bytes;
} steps;

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	steps.bytes +=
	        (size_t)vsnprintf(steps.text + steps.bytes, sizeof(steps.text) - steps.bytes, format, values);
	va_end(values);
	assert_true(steps.bytes < sizeof(steps.text));
}

static void note_name(const struct fxt_slice *slice)
{
	struct fxt_span name = scan.tables.strings[slice->name];

	note("%.*s", (int)name.bytes, name.data);
}

static void see_thread(void *state, uint32_t thread)
{
	(void)state;
	note("%" PRIu64 ": ", scan.tables.threads[thread].thread);
}

static void see_enter(void *state, struct fxt_walk_frame *frame)
{
	(void)state;
	note_name(&frame->slice);
	note("%s{ ", frame->is_context ? "*" : "");
}

static void see_leave(void *state, const struct fxt_walk_frame *frame)
{
	(void)state;
	note("%" PRIu64 "/%" PRIu64 "/%" PRIu64 "} ", frame->inside, frame->calls, frame->all_calls);
}

static void see_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	see_enter(state, &(struct fxt_walk_frame){.slice = *slice});
	see_leave(state, &(struct fxt_walk_frame){.slice = *slice});
	if (parent->slice.start > slice->start)
		fail_msg("a leaf that starts before its parent");
}

static const struct fxt_visitor seeing = {
        .thread = see_thread, .enter = see_enter, .leave = see_leave, .leaf = see_leaf};

static void see(struct fxt_walker *walker, void *state)
{
	fxt_walk_ranges(walker, &seeing, state);
}

static const struct fxt_scan_sizes record_each = {
        .block_bytes = 8, .range_bytes = 1 << 20, .memory_bytes = 1};

/* One walker goes these steps, whatever the blocks: what is inside a slice as "ns/calls/all
 * calls}". */
static void steps_are(const char *expected)
{
	char none;

	for (int i = 0; i < 2; i++) {
		steps.bytes = 0;
		open_trace(i ? &record_each : NULL);
		assert_true(fxt_walk(&scan, see, &none, 0, 1));
		assert_string_equal(steps.text, expected);
		close_trace();
	}
}

static void put(uint64_t thread, const char *name, uint64_t start, uint64_t end)
{
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_inline(PROCESS, thread), INDEX(FUNCTION),
	        fxt_string_text(name), start, NO_ARGUMENTS, end);
}

static void put_mark(enum fxt_event_type type, uint64_t thread, const char *name, uint64_t time)
{
	PUT(&trace, event, type, fxt_thread_inline(PROCESS, thread), INDEX(FUNCTION), fxt_string_text(name),
	        time, NO_ARGUMENTS, 0);
}

static void put_plain(unsigned thread, unsigned name, uint64_t start, uint64_t end)
{
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index((uint8_t)thread), INDEX(FUNCTION),
	        INDEX(name), start, NO_ARGUMENTS, end);
}

static void callers_come_first(void **state)
{
	(void)state;
	begin_trace(&trace);
	put(1, "g", 25, 35);
	put(1, "f", 10, 50);
	put(2, "h", 5, 15);
	put(1, "g", 60, 90);
	put(1, "main", 0, 100);
	steps_are("1: main{ g{ 2: h{ 1: 0/0/0} f{ g{ 0/0/0} 10/1/1} 70/2/3} 2: 0/0/0} ");
}

/* Outer calls that end with inner ones, and come before them in the file or behind. */
static void equal_times(void **state)
{
	(void)state;
	begin_trace(&trace);
	put(1, "main", 0, 100);
	put(1, "f", 10, 100);
	put(1, "g", 20, 100);
	put(1, "i", 20, 20);
	put(1, "h", 20, 20);
	steps_are("1: main{ f{ g{ h{ i{ 0/0/0} 0/1/1} 0/1/2} 80/1/3} 90/1/4} ");
}

/* The later one of two that overlap holds the time they share; around both it counts
 * once. */
static void overlap(void **state)
{
	(void)state;
	begin_trace(&trace);
	put(1, "a", 10, 50);
	put(1, "c", 35, 40);
	put(1, "b", 30, 70);
	put(1, "main", 0, 100);
	steps_are("1: main{ b{ 0/0/0} a{ c{ 0/0/0} 5/1/1} 60/2/3} ");
}

/* Late in the file, early in time; and slices of two records in any order. */
static void out_of_order(void **state)
{
	(void)state;
	begin_trace(&trace);
	put(1, "late", 80, 90);
	put(1, "f", 10, 50);
	put_mark(FXT_EVENT_DURATION_END, 1, "", 40);
	put_mark(FXT_EVENT_DURATION_END, 1, "", 5);
	put_mark(FXT_EVENT_DURATION_BEGIN, 1, "pair", 30);
	put_mark(FXT_EVENT_DURATION_BEGIN, 1, "open", 85);
	put(1, "in", 32, 34);
	put(1, "main", 2, 120);
	steps_are("1: main{ open{ 0/0/0} late{ 0/0/0} f{ pair{ in{ 0/0/0} 2/1/1} 10/1/2} 80/3/5} ");
	open_trace(NULL);
	assert_int_equal(scan.ends_without_begin, 1);
	assert_int_equal(scan.end, 120);
	close_trace();
}

/* Open slices of a killed process last until its death; others until the end. */
static void killed(void **state)
{
	(void)state;
	begin_trace(&trace);
	put_mark(FXT_EVENT_DURATION_BEGIN, 1, "f", 10);
	put_mark(FXT_EVENT_DURATION_BEGIN, 1, "g", 20);
	PUT(&trace, event, FXT_EVENT_INSTANT, fxt_thread_inline(PROCESS, 2), TEXT("process"), TEXT("killed"),
	        60, NO_ARGUMENTS, 0);
	PUT(&trace, event, FXT_EVENT_DURATION_BEGIN, fxt_thread_inline(PROCESS + 1, 3), INDEX(FUNCTION),
	        TEXT("h"), 5, NO_ARGUMENTS, 0);
	put_mark(FXT_EVENT_INSTANT, 4, "end", 1000);
	open_trace(NULL);
	struct fxt_slice slice;

	assert_int_equal(scan.out_of_order.count, 3);
	for (uint64_t i = 0; i < 3; i++) {
		fxt_spill_read(&scan.out_of_order, i, 1, &slice);
		assert_true(slice.is_open);
		assert_int_equal(slice.end, slice.start == 5 ? 1000 : 60);
	}
	close_trace();
}

/* Indices that mean something else later, up to the last ones; and a provider that is
 * announced again. */
static void redefined(void **state)
{
	(void)state;
	begin_trace(&trace);
	put_text(&trace, FXT_STRING_INDEX_MAX, "old");
	PUT(&trace, thread, FXT_THREAD_INDEX_MAX, PROCESS, 1);
	put_plain(FXT_THREAD_INDEX_MAX, FXT_STRING_INDEX_MAX, 1, 2);
	put_text(&trace, FXT_STRING_INDEX_MAX, "new");
	put_plain(FXT_THREAD_INDEX_MAX, FXT_STRING_INDEX_MAX, 3, 4);
	PUT(&trace, thread, FXT_THREAD_INDEX_MAX, PROCESS, 2);
	put_plain(FXT_THREAD_INDEX_MAX, FXT_STRING_INDEX_MAX, 5, 6);
	PUT(&trace, provider_info, 1, "again", 5);
	put_plain(FXT_THREAD_INDEX_MAX, FXT_STRING_INDEX_MAX, 7, 8);
	PUT(&trace, initialization, 1000000000);
	put_text(&trace, FUNCTION, "function");
	put_text(&trace, NAME, "last");
	PUT(&trace, thread, 1, PROCESS, 1);
	put_plain(1, NAME, 9, 10);
	steps_are("1: last{ 0: (unregistered){ 2: new{ 1: 0/0/0} new{ 0/0/0} old{ 0: 0/0/0} 1: 0/0/0} 2: "
	          "0/0/0} ");
}

/* Two clocks: times are nanoseconds then. */
static void two_rates(void **state)
{
	(void)state;
	begin_trace(&trace);
	put(1, "f", 100, 300);
	PUT(&trace, provider_info, 2, "other", 5);
	PUT(&trace, initialization, 2000000000);
	put(1, "main", 100, 800);
	put(2, "g", 100, 200);
	steps_are("2: g{ 1: main{ f{ 0/0/0} 200/1/1} 2: 0/0/0} ");
}

/* ---- a model ---- */

enum { NAMES = 6, THREADS = 4, SLICES_MAX = 1000 };

struct modelled {
	unsigned thread, name;
	uint64_t start, end, offset;
	bool is_open;
};

static struct model {
	struct modelled slices[SLICES_MAX], marks[SLICES_MAX];
	size_t count, mark_count;
	uint64_t end, unmatched;
	struct fxt_function sums[THREADS][NAMES];
} model;

static int by_place(const void *left, const void *right)
{
	const struct modelled *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->start != b->start)
		return a->start > b->start ? -1 : 1;
	return a->offset < b->offset ? -1 : 1;
}

static int by_start(const void *left, const void *right)
{
	const struct modelled *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->offset < b->offset ? -1 : 1;
}

/* Begins have an end of 1, ends 0. */
static void match_marks_of(unsigned thread)
{
	static struct modelled begun[SLICES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < model.mark_count; i++) {
		const struct modelled *mark = &model.marks[i];

		if (mark->thread != thread)
			continue;
		if (mark->end) {
			begun[count++] = *mark;
		} else if (count > 0) {
			begun[--count].end = mark->start;
			model.slices[model.count++] = begun[count];
		} else {
			model.unmatched++;
		}
	}
	while (count > 0) {
		begun[--count].end = model.end;
		begun[count].is_open = true;
		model.slices[model.count++] = begun[count];
	}
}

/* The slice around a slice: the first behind it, in the order of ends, that does not begin
 * later. */
static size_t around(size_t i)
{
	for (size_t j = i + 1; j < model.count && model.slices[j].thread == model.slices[i].thread; j++)
		if (model.slices[j].start <= model.slices[i].start)
			return j;
	return SIZE_MAX;
}

static void add_model(size_t i)
{
	const struct modelled *s = &model.slices[i];
	struct fxt_function *f = &model.sums[s->thread][s->name];
	uint64_t time = s->end - s->start, inside = 0, all = 0, last_start = s->end;
	bool outermost = true;

	for (size_t j = i; j-- > 0 && model.slices[j].thread == s->thread;) {
		size_t up = j;

		while (up != SIZE_MAX && up < i)
			up = around(up);
		if (up != i)
			continue;
		all++;
		if (around(j) != i)
			continue;
		/* By descending ends: what is not covered by those that end later. */
		uint64_t end = model.slices[j].end < last_start ? model.slices[j].end : last_start;

		if (model.slices[j].start < end)
			inside += end - model.slices[j].start;
		if (model.slices[j].start < last_start)
			last_start = model.slices[j].start;
		f->self_inside++;
	}
	for (size_t up = around(i); up != SIZE_MAX; up = around(up))
		outermost &= model.slices[up].name != s->name;
	f->calls++;
	f->open += s->is_open;
	f->sum += time;
	f->self += time - inside;
	if (f->calls == 1 || time < f->min)
		f->min = time;
	if (time > f->max)
		f->max = time;
	if (!outermost)
		return;
	f->total += time;
	f->outermost_calls++;
	f->outermost_inside += all;
}

static void sum_up_model(void)
{
	qsort(model.marks, model.mark_count, sizeof(*model.marks), by_start);
	for (unsigned i = 0; i < THREADS; i++)
		match_marks_of(i);
	qsort(model.slices, model.count, sizeof(*model.slices), by_place);
	for (size_t i = 0; i < model.count; i++)
		add_model(i);
}

/* ---- random traces ---- */

static struct {
	unsigned thread_of[2][3], name_of[2][3]; /* by provider and index */
	unsigned provider;
	uint64_t now[THREADS];
	bool two_rates, nests;
} random_trace;

static const unsigned thread_index[] = {1, 2, FXT_THREAD_INDEX_MAX};
static const unsigned name_index[] = {10, 11, FXT_STRING_INDEX_MAX};

static void define_thread(unsigned i)
{
	unsigned thread = (unsigned)random_below(THREADS);

	random_trace.thread_of[random_trace.provider][i] = thread;
	PUT(&trace, thread, thread_index[i], PROCESS, 1 + thread);
}

static void define_name(unsigned i)
{
	unsigned name = (unsigned)random_below(NAMES);

	random_trace.name_of[random_trace.provider][i] = name;
	put_text(&trace, name_index[i], (char[]){(char)('a' + name), '\0'});
}

static void announce(unsigned provider)
{
	random_trace.provider = provider;
	PUT(&trace, provider_info, provider + 1, "provider", 8);
	PUT(&trace, initialization, provider == 1 && random_trace.two_rates ? 2000000000 : 1000000000);
	put_text(&trace, FUNCTION, "function");
	for (unsigned i = 0; i < 3; i++) {
		define_thread(i);
		define_name(i);
	}
}

/* A time in ticks of the current provider. */
static uint64_t ticks(uint64_t time)
{
	return random_trace.provider == 1 && random_trace.two_rates ? 2 * time + random_below(2) : time;
}

static void see_model_time(uint64_t time)
{
	if (time > model.end)
		model.end = time;
}

static void put_random_slice(void)
{
	unsigned i = (unsigned)random_below(3), n = (unsigned)random_below(3);
	struct modelled slice = {.thread = random_trace.thread_of[random_trace.provider][i],
	        .name = random_trace.name_of[random_trace.provider][n],
	        .offset = 8 * trace.count};
	uint64_t *now = &random_trace.now[slice.thread];
	uint64_t from = random_trace.nests || random_below(20) > 0 ? *now : random_below(*now + 1);

	slice.end = from + random_below(random_trace.nests ? 4 : 12);
	slice.start = random_below(3) ? slice.end - random_below(slice.end < 9 ? slice.end + 1 : 9)
	                              : random_below(slice.end + 1);
	if (slice.end > *now)
		*now = slice.end;
	see_model_time(slice.end);
	model.slices[model.count++] = slice;
	/* Also as a record that is no plain call. */
	struct fxt_thread thread = random_below(8) ? fxt_thread_index((uint8_t)thread_index[i])
	                                           : fxt_thread_inline(PROCESS, 1 + slice.thread);

	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, thread, INDEX(FUNCTION), INDEX(name_index[n]),
	        ticks(slice.start), NO_ARGUMENTS, ticks(slice.end));
}

static void put_random_mark(void)
{
	unsigned i = (unsigned)random_below(3), n = (unsigned)random_below(3);
	bool begins = random_below(2);
	struct modelled mark = {.thread = random_trace.thread_of[random_trace.provider][i],
	        .name = random_trace.name_of[random_trace.provider][n],
	        .end = begins,
	        .offset = 8 * trace.count};

	mark.start = random_trace.now[mark.thread] + random_below(30);
	see_model_time(mark.start);
	model.marks[model.mark_count++] = mark;
	PUT(&trace, event, begins ? FXT_EVENT_DURATION_BEGIN : FXT_EVENT_DURATION_END,
	        fxt_thread_index((uint8_t)thread_index[i]), INDEX(FUNCTION), INDEX(name_index[n]),
	        ticks(mark.start), NO_ARGUMENTS, 0);
}

static void make_random_trace(bool has_marks)
{
	memset(&model, 0, sizeof(model));
	memset(&random_trace, 0, sizeof(random_trace));
	random_trace.two_rates = random_below(3) == 0;
	random_trace.nests = random_below(2);
	trace.count = 0;
	PUT(&trace, magic);
	announce(1);
	announce(0);
	for (uint64_t slices = 20 + random_below(300), i = 0; i < slices; i++) {
		uint64_t what = random_below(60);

		if (what == 0)
			define_thread((unsigned)random_below(3));
		else if (what == 1)
			define_name((unsigned)random_below(3));
		else if (what == 2) {
			random_trace.provider ^= 1;
			PUT(&trace, provider_section, random_trace.provider + 1);
		} else if (what == 3) {
			announce((unsigned)random_below(2));
		} else if (what < 8 && has_marks) {
			put_random_mark();
		} else {
			put_random_slice();
		}
	}
	sum_up_model();
}

static void is_as_modelled(const struct fxt_functions *threads, uint64_t seed, int way)
{
	for (size_t i = 0; i < scan.thread_count; i++) {
		for (size_t j = 0; j < threads[i].count; j++) {
			struct fxt_function f = threads[i].items[j];
			uint64_t thread = scan.tables.threads[i].thread - 1;
			unsigned name = (unsigned)(scan.tables.strings[f.name].data[0] - 'a');

			assert_true(thread < THREADS && name < NAMES);
			struct fxt_function expected = model.sums[thread][name];

			f.name = expected.name;
			assert_int_equal(fxt_histogram_sum(&f.times, 0, FXT_HISTOGRAM_BUCKETS),
			        f.calls > 1 ? f.calls : 0);
			f.times = (struct fxt_histogram){0};
			if (memcmp(&f, &expected, sizeof(f)) != 0)
				fail_msg("seed %" PRIu64 ", way %d: %c of thread %" PRIu64 ": calls %" PRIu64
				         "/%" PRIu64 ", total %" PRIu64 "/%" PRIu64 ", self %" PRIu64
				         "/%" PRIu64 ", outermost %" PRIu64 "/%" PRIu64 ", inside %" PRIu64
				         "/%" PRIu64 ", self inside %" PRIu64 "/%" PRIu64,
				        seed, way, 'a' + (int)name, thread, f.calls, expected.calls, f.total,
				        expected.total, f.self, expected.self, f.outermost_calls,
				        expected.outermost_calls, f.outermost_inside,
				        expected.outermost_inside, f.self_inside, expected.self_inside);
			model.sums[thread][name].depth = 1; /* found */
		}
	}
	for (unsigned i = 0; i < THREADS * NAMES; i++) {
		struct fxt_function *sum = &model.sums[0][0] + i;

		assert_int_equal(sum->depth, sum->calls > 0);
		sum->depth = 0;
	}
}

/* Results must not depend on how a trace is divided. */
static const struct {
	struct fxt_scan_sizes sizes;
	unsigned workers;
} ways[] = {
        {{FXT_BLOCK_BYTES, 1 << 20, 1 << 20}, 1},
        {{8, 1 << 20, 1}, 1},
        {{200, 8, 1 << 20}, 1},
        {{200, 400, 1 << 20}, 2},
        {{8, 8, 1 << 20}, 3},
        {{1000, 2000, 200}, 2},
};

static void random_traces(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
		make_random_trace(seed % 2);
		for (int way = 0; way < (int)COUNT(ways); way++) {
			struct fxt_functions *threads;
			bool complete;

			open_trace(&ways[way].sizes);
			assert_int_equal(scan.malformed, 0);
			assert_int_equal(scan.ends_without_begin, model.unmatched);
			threads = fxt_functions_read(&scan, NULL, NULL, ways[way].workers, &complete);
			assert_true(complete);
			is_as_modelled(threads, seed, way);
			for (size_t i = 0; i < scan.thread_count; i++)
				fxt_functions_free(&threads[i]);
			free(threads);
			close_trace();
		}
	}
}

/* ---- block by block ---- */

/* A digest of the slices within a window that one walker has seen. */
static struct {
	uint64_t from, to;
	uint64_t numbers[SLICES_MAX * 6];
	size_t count;
} within;

static void see_within(const struct fxt_slice *slice, const struct fxt_walk_frame *frame,
        const struct fxt_walk_frame *parent)
{
	bool has_parent = parent->slice.end > 0;

	if (slice->start < within.from || slice->end > within.to)
		return;
	const uint64_t numbers[] = {slice->offset, slice->start, slice->end, frame ? frame->inside : 0,
	        frame ? frame->calls : 0, has_parent ? parent->slice.offset : 0};

	memcpy(within.numbers + within.count, numbers, sizeof(numbers));
	within.count += COUNT(numbers);
}

static void see_leave_within(void *state, const struct fxt_walk_frame *frame)
{
	(void)state;
	see_within(&frame->slice, frame, frame - 1);
}

static void see_leaf_within(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	(void)state;
	see_within(slice, NULL, parent);
}

static const struct fxt_visitor seeing_within = {.leave = see_leave_within, .leaf = see_leaf_within};

static int by_first_number(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Returns how many blocks were dropped. */
static size_t walk_within(bool omit)
{
	struct fxt_walker walker;
	size_t blocks = 0;

	within.count = 0;
	fxt_walk_begin(&walker, &scan);
	if (omit) {
		walker.from = within.from;
		walker.to = within.to;
	}
	while (fxt_walk_step(&walker, &seeing_within, NULL))
		blocks++;
	fxt_walk_end(&walker);
	qsort(within.numbers, within.count / 6, 6 * sizeof(uint64_t), by_first_number);
	return scan.block_count - blocks;
}

/* Slices within a window have the same callers and the same inside, whether the blocks
 * outside are read or not. */
static void windows(void **state)
{
	static uint64_t all[COUNT(within.numbers)];
	size_t omitted = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
		make_random_trace(seed % 2);
		for (int way = 0; way < (int)COUNT(ways); way++) {
			open_trace(&ways[way].sizes);
			within.from = random_below(scan.end + 1);
			within.to = within.from + random_below(100);
			assert_int_equal(walk_within(false), 0);
			size_t count = within.count;

			memcpy(all, within.numbers, count * sizeof(*all));
			omitted += walk_within(true);
			if (within.count != count || memcmp(all, within.numbers, count * sizeof(*all)) != 0)
				fail_msg("seed %" PRIu64 ", way %d: %zu slices, not %zu", seed, way,
				        within.count / 6, count / 6);
			close_trace();
		}
	}
	assert_true(omitted > 10000);
}

/* ---- traces that are none ---- */

/* A number for all that was summed up. */
static uint64_t digest(const struct fxt_scan_sizes *sizes, unsigned workers)
{
	struct fxt_functions *threads, all = {0};
	uint64_t result = 0;
	bool complete;

	open_trace(sizes);
	threads = fxt_functions_read(&scan, NULL, NULL, workers, &complete);
	assert_true(complete);
	for (size_t i = 0; i < scan.thread_count; i++) {
		memset(&all, 0, sizeof(all));
		fxt_functions_add(&all, &threads[i]);
		for (size_t j = 0; j < all.count; j++) {
			all.items[j].name = fxt_hash_bytes(scan.tables.strings[all.items[j].name].data,
			        scan.tables.strings[all.items[j].name].bytes);
			struct fxt_function f = all.items[j];

			f.times = (struct fxt_histogram){0};
			result += fxt_hash_bytes(&f, sizeof(f)) * (i + 1);
		}
		fxt_functions_free(&all);
		fxt_functions_free(&threads[i]);
	}
	result += fxt_hash_word(scan.malformed) + fxt_hash_word(scan.ends_without_begin) +
	          fxt_hash_word(scan.records) + fxt_hash_word(scan.fault.offset) + fxt_hash_word(scan.end);
	free(threads);
	close_trace();
	return result;
}

static void mutated_traces(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		random_state = seed * UINT64_C(0xbf58476d1ce4e5b9);
		if (seed % 2)
			make_random_trace(true);
		else
			every_record(&trace);
		for (uint64_t bits = 1 + random_below(12); bits > 0; bits--)
			trace.words[1 + random_below(trace.count - 1)] ^= UINT64_C(1) << random_below(64);
		uint64_t expected = digest(&ways[0].sizes, 1);

		for (int way = 1; way < (int)COUNT(ways); way++)
			if (digest(&ways[way].sizes, ways[way].workers) != expected)
				fail_msg("seed %" PRIu64 ", way %d", seed, way);
	}
}

/* ---- a deep stack ---- */

enum { DEEP_CALLS = 100000 };

static struct {
	uint64_t words[64 + 6 * DEEP_CALLS];
	size_t count;
	uint64_t entered, left, leaves;
} deep;

static void put_deep_call(uint64_t name, uint64_t start, uint64_t end)
{
	deep.words[deep.count++] = fxt_duration_complete_header(1, FUNCTION) | name << 48;
	deep.words[deep.count++] = start;
	deep.words[deep.count++] = end;
}

/* The call f at depth i begins at 3 * i, and its leaf g at 3 * i + 1. */
static bool is_deep_leaf(const struct fxt_slice *slice)
{
	return slice->start % 3 == 1;
}

static void deep_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	(void)state;
	assert_true(is_deep_leaf(slice));
	assert_int_equal(slice->start, parent->slice.start + 1);
	deep.leaves++;
}

/* The first slice of a block may be entered without having children. A frame's word is its
 * depth, and the frame around it must still have its own. */
static void deep_enter(void *state, struct fxt_walk_frame *frame)
{
	if (is_deep_leaf(&frame->slice)) {
		deep_leaf(state, &frame->slice, frame - 1);
		return;
	}
	frame->word = frame[-1].word + 1;
	assert_int_equal(frame->slice.start, 3 * deep.entered);
	assert_int_equal(frame->word, ++deep.entered);
}

static void deep_leave(void *state, const struct fxt_walk_frame *frame)
{
	uint64_t depth = DEEP_CALLS - deep.left;

	(void)state;
	if (is_deep_leaf(&frame->slice))
		return;
	assert_int_equal(frame->word, depth);
	assert_int_equal(frame[-1].word, depth - 1);
	assert_int_equal(frame->slice.start, 3 * (depth - 1));
	assert_int_equal(frame->all_calls, 2 * (DEEP_CALLS - depth) + 1);
	assert_int_equal(frame->calls, depth < DEEP_CALLS ? 2 : 1);
	deep.left++;
}

/* The outer frames go to a file, and come back as the stack gets less deep. */
static void deep_stack(void **state)
{
	static const struct fxt_visitor visitor = {
	        .enter = deep_enter, .leave = deep_leave, .leaf = deep_leaf, .looks_near = true};
	struct fxt_walker walker;
	uint64_t filed = 0;

	(void)state;
	begin_trace(&trace);
	put_text(&trace, 10, "f");
	put_text(&trace, 11, "g");
	assert_true(trace.count < 64);
	memcpy(deep.words, trace.words, trace.count * 8);
	deep.count = trace.count;
	for (uint64_t i = 0; i < DEEP_CALLS; i++)
		put_deep_call(11, 3 * i + 1, 3 * i + 2);
	for (uint64_t i = DEEP_CALLS; i-- > 0;)
		put_deep_call(10, 3 * i, 6 * DEEP_CALLS - i);
	open_words(deep.words, deep.count, NULL);
	fxt_walk_begin(&walker, &scan);
	while (fxt_walk_step(&walker, &visitor, NULL)) {
		assert_true(walker.outer->frames < DEEP_CALLS / 2);
		filed = walker.outer->chunks.count;
	}
	assert_false(walker.is_short);
	assert_true(filed * FXT_WALK_CHUNK > DEEP_CALLS / 2);
	assert_int_equal(deep.entered, DEEP_CALLS);
	assert_int_equal(deep.left, DEEP_CALLS);
	assert_int_equal(deep.leaves, DEEP_CALLS);
	fxt_walk_end(&walker);
	close_trace();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(callers_come_first),
	        cmocka_unit_test(equal_times),
	        cmocka_unit_test(overlap),
	        cmocka_unit_test(out_of_order),
	        cmocka_unit_test(killed),
	        cmocka_unit_test(redefined),
	        cmocka_unit_test(two_rates),
	        cmocka_unit_test(random_traces),
	        cmocka_unit_test(windows),
	        cmocka_unit_test(deep_stack),
	        cmocka_unit_test(mutated_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
