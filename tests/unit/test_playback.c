/*
 * Slices played forward: of random traces, in pieces of any size. All come once, in the
 * order of time, with their depth, and a slice begins before and ends after those inside
 * it.
 */
#include "trace.h"

#include "reader/slices/playback.h"

enum { THREADS = 3, SLICES_MAX = 2000 };

static struct trace trace;
static struct fxt_scan scan;
static struct fxt_source source;
static struct fxt_timeline timeline;

/* The slices put in, by start: no two have the same. */
static struct made {
	uint64_t start, end;
	uint32_t depth;
	bool was_played, is_leaf;
} made[SLICES_MAX];
static uint64_t made_count;

static uint64_t below(uint64_t limit)
{
	return (uint64_t)random() % limit;
}

/* ---- making ---- */

static struct made *find(uint64_t start)
{
	for (size_t i = 0; i < made_count; i++)
		if (made[i].start == start)
			return &made[i];
	fail_msg("a slice that was not made starts at %" PRIu64, start);
	return NULL;
}

/* Calls of a thread, with times that are its number modulo the number of threads; returns
 * where they end. */
static uint64_t make_calls(uint64_t thread, uint64_t at, uint32_t depth, bool with_marks)
{
	for (uint64_t i = below(5); i > 0 && trace.count < COUNT(trace.words) - 100; i--) {
		uint64_t start = at += THREADS * (1 + below(20));
		bool is_marked = with_marks && below(4) == 0, is_leaf = true;

		if (is_marked)
			PUT(&trace, event, FXT_EVENT_DURATION_BEGIN,
			        fxt_thread_inline(PROCESS, THREAD + thread), INDEX(FUNCTION), INDEX(NAME),
			        start, NO_ARGUMENTS, 0);
		if (depth < 6) {
			uint64_t inside = make_calls(thread, at, depth + 1, with_marks);

			is_leaf = inside == at;
			at = inside;
		}
		/* Some end with the last one inside. */
		if (is_leaf || with_marks || below(4) > 0)
			at += THREADS * (1 + below(20));
		if (is_marked)
			PUT(&trace, event, FXT_EVENT_DURATION_END,
			        fxt_thread_inline(PROCESS, THREAD + thread), INDEX(FUNCTION), INDEX(NAME), at,
			        NO_ARGUMENTS, 0);
		else
			PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE,
			        fxt_thread_inline(PROCESS, THREAD + thread), INDEX(FUNCTION), INDEX(NAME),
			        start, NO_ARGUMENTS, at);
		made[made_count++] = (struct made){start, at, depth, false, is_leaf};
	}
	return at;
}

/* ---- playing ---- */

static struct {
	uint64_t ns;
	uint64_t open[THREADS][16]; /* starts */
	size_t open_count[THREADS];
	size_t pauses;
	size_t left; /* events that are wanted */
} played;

static bool play(void *unused, const struct fxt_playback_event *event)
{
	uint64_t thread = scan.tables.threads[event->thread].thread - THREAD;

	(void)unused;
	assert_true(event->ns >= played.ns);
	played.ns = event->ns;
	if (event->kind == FXT_PLAYBACK_PAUSE) {
		played.pauses++;
		return --played.left > 0;
	}
	assert_int_equal(thread, event->slice.start % THREADS);
	struct made *slice = find(event->slice.start);
	size_t *open = &played.open_count[thread];

	assert_int_equal(event->slice.end, slice->end);
	assert_int_equal(event->depth, slice->depth);
	if (event->kind == FXT_PLAYBACK_END) {
		assert_int_equal(event->ns, slice->end);
		assert_true(*open > 0);
		assert_int_equal(played.open[thread][--*open], slice->start);
		return --played.left > 0;
	}
	assert_int_equal(event->ns, slice->start);
	assert_false(slice->was_played);
	slice->was_played = true;
	assert_int_equal(*open, slice->depth);
	if (event->kind == FXT_PLAYBACK_BEGIN)
		played.open[thread][(*open)++] = slice->start;
	else
		assert_true(slice->is_leaf);
	return --played.left > 0;
}

static void hear_begin(void *unused)
{
	(void)unused;
	fxt_timeline_clear(&timeline);
}

static void hear_record(void *unused, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	(void)unused;
	(void)offset;
	fxt_timeline_record(&timeline, t, view);
}

static const struct fxt_scan_listener listener = {.begin = hear_begin, .record = hear_record};

static void read_trace(const struct fxt_scan_sizes *sizes)
{
	fxt_timeline_init(&timeline);
	source = source_of(trace.words, trace.count * 8);
	fxt_scan_listened(&scan, &source, sizes, &listener);
	fxt_timeline_finish(&timeline, 0, scan.end);
	memset(&played, 0, sizeof(played));
	played.left = SIZE_MAX;
}

static void forget_trace(void)
{
	fxt_timeline_free(&timeline);
	fxt_scan_free(&scan);
	fxt_source_close(&source);
}

static void each_slice_comes_once(void **state)
{
	static const struct fxt_scan_sizes small = {
	        .block_bytes = 200, .range_bytes = 1000, .memory_bytes = 1 << 16};

	(void)state;
	for (unsigned seed = 0; seed < 200; seed++) {
		struct fxt_playback_sizes sizes = {.piece_bytes = 1 + seed % 5 * 400};
		size_t switches = 0;

		srandom(seed);
		begin_trace(&trace);
		made_count = 0;
		for (uint64_t thread = 0; thread < THREADS; thread++) {
			make_calls(thread, THREADS * below(200) + thread, 0, seed % 3 == 0);
		}
		for (; switches < below(10); switches++) {
			PUT(&trace, context_switch, 100 * switches, 1, FXT_THREAD_STATE_BLOCKED, THREAD, 0,
			        NO_ARGUMENTS);
			PUT(&trace, context_switch, 100 * switches + 50, 1, FXT_THREAD_STATE_BLOCKED, 0,
			        THREAD, NO_ARGUMENTS);
		}
		read_trace(seed % 2 ? &small : NULL);
		assert_true(fxt_playback(&scan, &timeline, NULL, &sizes, play, NULL));
		for (size_t i = 0; i < made_count; i++)
			assert_true(made[i].was_played);
		for (size_t i = 0; i < THREADS; i++)
			assert_int_equal(played.open_count[i], 0);
		size_t expected = 0;

		for (size_t i = 0; i < switches; i++)
			expected += 100 * i >= scan.start;
		assert_int_equal(played.pauses, expected);
		forget_trace();
	}
}

/* A listener that has seen enough is not called again. */
static void it_ends_when_told(void **state)
{
	(void)state;
	begin_trace(&trace);
	made_count = 0;
	srandom(1);
	for (unsigned i = 0; i < 20; i++)
		make_calls(0, 10000 * THREADS * i, 0, false);
	read_trace(NULL);
	played.left = 7;
	fxt_playback(&scan, NULL, NULL, &(struct fxt_playback_sizes){.piece_bytes = 1}, play, NULL);
	assert_int_equal(played.left, 0);
	forget_trace();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_slice_comes_once),
	        cmocka_unit_test(it_ends_when_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
