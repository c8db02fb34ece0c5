/*
 * Why calls took so long: parts against a schedule worked out by hand, and over random
 * traces against the one thing that always holds, that they sum to the call.
 */
#include "trace.h"

#include "reader/time/causes.h"
#include "reader/stats/slowest.h"
#include "reader/time/switches.h"
#include "reader/time/usage.h"

enum { OTHER_THREAD = THREAD + 1, THIRD_THREAD = THREAD + 2, HOG = 900, CPU = 3, OTHER_CPU = 4 };
enum { LOCK = 0x1000, OTHER_LOCK = 0x2000 };

static struct trace trace;
static struct fxt_scan scan;
static struct fxt_source source;
static struct fxt_timeline timeline;
static struct fxt_faults faults;
static struct fxt_waits waits;
static struct fxt_slowest slowest;
static struct fxt_causes causes;

/* Words of the trace that are overwritten before causes are looked for. */
static size_t hole_from, hole_to;

static const struct fxt_scan_sizes small = {.block_bytes = 64, .range_bytes = 256, .memory_bytes = 1024};

/* ---- reading ---- */

static void hear_begin(void *unused)
{
	(void)unused;
	fxt_timeline_clear(&timeline);
	fxt_faults_clear(&faults);
	fxt_waits_clear(&waits);
}

static void hear_record(void *unused, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	(void)unused;
	fxt_timeline_record(&timeline, t, view);
	fxt_faults_record(&faults, t, view);
	fxt_waits_record(&waits, t, view, offset);
}

static const struct fxt_scan_listener listener = {.begin = hear_begin, .record = hear_record};

static void read_trace(const struct fxt_scan_sizes *sizes, const char *function, size_t most, bool with_usual)
{
	const struct fxt_slice *calls[8];

	fxt_timeline_init(&timeline);
	fxt_faults_init(&faults);
	fxt_waits_init(&waits);
	source = source_of(trace.words, trace.count * 8);
	fxt_scan_listened(&scan, &source, sizes, &listener);
	fxt_timeline_finish(&timeline, 0, fxt_scan_ns(&scan, scan.end));
	fxt_faults_finish(&faults);
	fxt_waits_finish(&waits, &scan);

	uint32_t name = fxt_tables_intern(&scan.tables, fxt_span(function));
	bool *is_wanted = fxt_allocate(scan.tables.string_count);

	is_wanted[name] = true;

	/* No part of a call is hidden, whatever was chosen. */
	struct fxt_filter filter = {.names = is_wanted, .to = UINT64_MAX};

	scan.filter = &filter;
	assert_true(fxt_slowest_read(&slowest, &scan, is_wanted, true, NULL, most, 2));
	for (size_t i = hole_from; i < hole_to; i++)
		assert_int_equal(pwrite(source.fd, &(uint64_t){0}, 8, (off_t)(i * 8)), 8);
	for (size_t i = 0; i < slowest.count; i++)
		calls[i] = &slowest.calls[i].slice;
	assert_true(fxt_causes_read(&causes, &scan, &timeline, &faults, &waits, calls, slowest.count,
	        with_usual ? &slowest.median.slice : NULL, 8));
	scan.filter = NULL;
	free(is_wanted);
}

static void forget_trace(void)
{
	fxt_causes_free(&causes);
	fxt_slowest_free(&slowest);
	fxt_waits_free(&waits);
	fxt_timeline_free(&timeline);
	fxt_faults_free(&faults);
	fxt_scan_free(&scan);
	fxt_source_close(&source);
}

/* ---- writing ---- */

static void slice(uint64_t thread, const char *category, const char *name, uint64_t start, uint64_t end)
{
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_inline(PROCESS, thread),
	        fxt_string_text(category), fxt_string_text(name), start, NO_ARGUMENTS, end);
}

static void call(uint64_t thread, const char *name, uint64_t start, uint64_t end)
{
	slice(thread, "function", name, start, end);
}

static bool flow_comes_first; /* of a wait's records */

/* A wait, which a flow ended. */
static void wait_for(
        uint64_t thread, const char *name, uint64_t object, uint64_t start, uint64_t end, uint64_t flow)
{
	struct fxt_argument arguments[] = {fxt_argument_pointer(TEXT("object"), object),
	        fxt_argument_string(TEXT("symbol"), TEXT("the_lock"))};

	if (!flow_comes_first)
		PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_inline(PROCESS, thread),
		        TEXT("sync"), fxt_string_text(name), start, arguments, 2, end);
	slice(thread, "sync", "woken", end - 2, end);
	PUT(&trace, event, FXT_EVENT_FLOW_END, fxt_thread_inline(PROCESS, thread), TEXT("sync"),
	        fxt_string_text(name), end - 1, NO_ARGUMENTS, flow);
	if (flow_comes_first)
		PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_inline(PROCESS, thread),
		        TEXT("sync"), fxt_string_text(name), start, arguments, 2, end);
}

static void release(uint64_t thread, uint64_t time, uint64_t flow)
{
	slice(thread, "sync", "unlock: wakes a waiter", time - 1, time + 1);
	PUT(&trace, event, FXT_EVENT_FLOW_BEGIN, fxt_thread_inline(PROCESS, thread), TEXT("sync"),
	        TEXT("unlock"), time, NO_ARGUMENTS, flow);
}

static void switches(
        uint64_t time, uint32_t cpu, enum fxt_thread_state state, uint64_t outgoing, uint64_t incoming)
{
	PUT(&trace, context_switch, time, cpu, state, outgoing, incoming, NO_ARGUMENTS);
}

/* ---- what is expected ---- */

static void write_parts(FILE *out, const struct fxt_parts *parts)
{
	static const char *const kinds[] = {"ran", "allocated", "preempted", "waited", "woken", "sampled",
	        "blocked", "tracer", "unknown"};

	for (size_t i = 0; i < parts->count; i++) {
		const struct fxt_part *part = &parts->items[i];
		struct fxt_span name = scan.tables.strings[part->name];

		fprintf(out, "%s%s", i ? ", " : "", kinds[part->kind]);
		if (part->name != FXT_NOTHING)
			fprintf(out, " %.*s", (int)name.bytes, name.data);
		if (part->kind == FXT_PART_PREEMPTED)
			fprintf(out, " by %" PRIu64, part->koid);
		if (part->holder != FXT_NOTHING)
			fprintf(out, " held by %" PRIu64, scan.tables.threads[part->holder].thread);
		for (uint32_t node = part->path; node != 0; node = waits.paths.items[node].parent) {
			name = scan.tables.strings[waits.paths.items[node].name];
			fprintf(out, " in %.*s", (int)name.bytes, name.data);
		}
		fprintf(out, " %" PRIu64 "/%" PRIu64, part->ns, part->usual_ns);
		if (part->inside.count > 0 && part->kind == FXT_PART_WAITED) {
			fputs(" (", out);
			write_parts(out, &part->inside);
			fputs(")", out);
		}
	}
}

static void parts_are(size_t call, const char *expected)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	write_parts(out, &causes.calls[call]);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

/* ---- tests ---- */

static void ran_and_was_preempted(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		begin_trace(&trace);
		switches(0, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
		call(THREAD, "parse", 10, 30);
		call(THREAD, "handle", 5, 35);
		switches(140, CPU, FXT_THREAD_STATE_RUNNING, THREAD, HOG);
		switches(170, CPU, FXT_THREAD_STATE_BLOCKED, HOG, 0);
		switches(175, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
		call(THREAD, "malloc", 190, 195);
		call(THREAD, "parse", 120, 200);
		switches(210, CPU, FXT_THREAD_STATE_BLOCKED, THREAD, 0);
		switches(240, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
		slice(THREAD, "fxt", "fxt: waited", 250, 260);
		call(THREAD, "handle", 100, 300);
		call(THREAD, "handle", 400, 430);
		call(THREAD, "main", 0, 500);
		read_trace(i ? &small : NULL, "handle", 1, true);
		assert_int_equal(slowest.all_calls, 3);
		/* 100 handle 120 parse 140 | 170 | 175 parse 190 malloc 195 parse 200
		 * handle 210 | 240 handle 250 fxt 260 handle 300. */
		/* The tracer's own wait is in neither the call's time nor its parts. */
		assert_int_equal(fxt_scan_ns(&scan, slowest.calls[0].time), 190);
		parts_are(0, "ran 80/30, ran parse 40/0, preempted by 900 30/0, blocked handle 30/0, "
		             "preempted by 0 5/0, allocated malloc 5/0");
		assert_int_equal(fxt_causes_main(&causes.calls[0])->ns, 80);
		forget_trace();
	}
}

/* A sample names the stretch that it lies in, whatever the order in the file, and no other
 * one; and none of another thread. */
static void sampled(uint64_t thread, uint64_t time, const char *system_call, int32_t fd)
{
	struct fxt_argument arguments[] = {
	        fxt_argument_string(TEXT(FXT_BLOCKED_CALL), fxt_string_text(system_call)),
	        fxt_argument_int32(TEXT(FXT_BLOCKED_FD), fd)};

	PUT(&trace, event, FXT_EVENT_INSTANT, fxt_thread_inline(PROCESS, thread), TEXT(FXT_BLOCKED_CATEGORY),
	        TEXT(FXT_BLOCKED_EVENT), time, arguments, 2, 0);
}

static void samples(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		begin_trace(&trace);
		sampled(THREAD, 250, "write", 4);
		switches(90, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
		switches(110, CPU, FXT_THREAD_STATE_BLOCKED, THREAD, 0);
		sampled(OTHER_THREAD, 175, "read", 3);
		switches(150, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
		switches(170, CPU, FXT_THREAD_STATE_BLOCKED, THREAD, 0);
		switches(180, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
		switches(200, CPU, FXT_THREAD_STATE_BLOCKED, THREAD, 0);
		switches(260, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
		switches(270, CPU, FXT_THREAD_STATE_BLOCKED, THREAD, 0);
		sampled(THREAD, 275, "read", 3);
		switches(290, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
		sampled(THREAD, 111, "read", 3);
		call(THREAD, "handle", 100, 300);
		call(THREAD, "main", 90, 500);
		read_trace(i ? &small : NULL, "handle", 1, true);
		parts_are(0, "ran 70/70, sampled write 60/60, sampled read 60/60, blocked handle 10/10");
		forget_trace();
	}
}

static void fault(uint64_t thread, uint64_t time)
{
	PUT(&trace, event, FXT_EVENT_INSTANT, fxt_thread_inline(PROCESS, thread), TEXT("sched"),
	        TEXT(FXT_FAULT_EVENT), time, NO_ARGUMENTS, 0);
}

static uint64_t faults_of(const struct fxt_parts *parts, enum fxt_part_kind kind, const char *function)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->items[i].kind == kind &&
		        (!function || fxt_span_is(scan.tables.strings[parts->items[i].name], function)) &&
		        (function || parts->items[i].name == FXT_NOTHING))
			return parts->items[i].faults;
	return UINT64_MAX;
}

/* Faults belong to the innermost call that they were in, whatever their order in the file,
 * and to their own thread. The trace begins with the first call and ends with the last. */
static void page_faults(void **state)
{
	static const uint64_t of_handle[] = {101, 119, 200, 299}, of_parse[] = {199, 120, 150};
	struct fxt_usage usage;

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin_trace(&trace);
		fault(THREAD, 1);
		switches(2, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
		for (size_t at = 0; at < COUNT(of_parse); at++)
			fault(THREAD, of_parse[at]);
		fault(OTHER_THREAD, 150);
		call(THREAD, "parse", 120, 200);
		call(THREAD, "handle", 100, 300);
		for (size_t at = 0; at < COUNT(of_handle); at++)
			fault(THREAD, of_handle[at]);
		fault(THREAD, 99);
		fault(THREAD, 300);
		call(THREAD, "handle", 400, 430);
		call(THREAD, "main", 90, 500);
		fault(THREAD, 1000);
		if (i == 1)
			PUT(&trace, event, FXT_EVENT_INSTANT, fxt_thread_inline(PROCESS, THREAD),
			        TEXT("sched"), TEXT(FXT_FAULTS_MISSING_EVENT), 1001, NO_ARGUMENTS, 0);
		read_trace(i ? &small : NULL, "handle", 1, true);
		assert_int_equal(scan.start, 90);
		assert_int_equal(scan.end, 500);
		assert_int_equal(faults.has_missing, i);
		assert_int_equal(faults_of(&causes.calls[0], FXT_PART_RAN, NULL), COUNT(of_handle));
		assert_int_equal(faults_of(&causes.calls[0], FXT_PART_RAN, "parse"), COUNT(of_parse));
		fxt_usage_read(&usage, &scan, &timeline, &faults, &waits);
		for (size_t thread = 0; thread < usage.thread_count; thread++) {
			uint64_t koid = scan.tables.threads[usage.threads[thread].thread].thread;

			assert_int_equal(usage.threads[thread].faults, koid == THREAD         ? 11
			                                               : koid == OTHER_THREAD ? 1
			                                                                      : 0);
		}
		fxt_usage_free(&usage);
		forget_trace();
	}
}

static void without_switches(void **state)
{
	(void)state;
	begin_trace(&trace);
	call(THREAD, "parse", 20, 60);
	call(THREAD, "handle", 10, 100);
	read_trace(&small, "handle", 1, false);
	parts_are(0, "unknown 50/0, unknown parse 40/0");
	forget_trace();
}

/* The lock passes through two threads before it comes to ours, and the first of them waited
 * itself. */
static void a_convoy(void **state)
{
	flow_comes_first = *state != NULL;
	begin_trace(&trace);
	switches(0, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
	switches(0, OTHER_CPU, FXT_THREAD_STATE_BLOCKED, 0, OTHER_THREAD);
	switches(105, CPU, FXT_THREAD_STATE_BLOCKED, THREAD, 0);
	switches(120, OTHER_CPU, FXT_THREAD_STATE_BLOCKED, OTHER_THREAD, THIRD_THREAD);
	/* The third thread lets the other one go on, */
	release(THIRD_THREAD, 150, 1);
	switches(160, CPU, FXT_THREAD_STATE_BLOCKED, 0, OTHER_THREAD);
	wait_for(OTHER_THREAD, "pthread_cond_wait", OTHER_LOCK, 115, 165, 1);
	/* which lets the third one have the lock, */
	release(OTHER_THREAD, 180, 2);
	call(OTHER_THREAD, "write_all", 110, 185);
	wait_for(THIRD_THREAD, "pthread_mutex_lock", LOCK, 155, 200, 2);
	/* and that one us. */
	release(THIRD_THREAD, 270, 3);
	call(THIRD_THREAD, "flush", 140, 280);
	switches(290, CPU, FXT_THREAD_STATE_BLOCKED, OTHER_THREAD, THREAD);
	wait_for(THREAD, "pthread_mutex_lock", LOCK, 102, 295, 3);
	call(THREAD, "handle", 100, 300);
	/* A provider with another clock rate: the scan restarts, and reports everything
	 * again. */
	PUT(&trace, provider_info, 2, "other", 5);
	PUT(&trace, initialization, 2000000000);
	PUT(&trace, event, FXT_EVENT_INSTANT, fxt_thread_inline(PROCESS, THREAD), TEXT("other"),
	        TEXT("other"), 200, NO_ARGUMENTS, 0);
	read_trace(&small, "handle", 1, false);
	assert_int_equal(fxt_waits_count(&waits), 3);
	parts_are(0,
	        "waited pthread_mutex_lock held by 103 in flush 90/0 (ran flush 90/0), "
	        "waited pthread_mutex_lock held by 102 in write_all 75/0 "
	        "(waited pthread_cond_wait held by 103 in flush 30/0 (ran 20/0, ran flush 10/0, unknown "
	        "5/0), "
	        "ran write_all 30/0, woken pthread_cond_wait held by 103 in flush 10/0, ran 8/0), "
	        "woken pthread_mutex_lock held by 103 in flush 20/0, ran pthread_mutex_lock 8/0, ran 7/0");
	forget_trace();
}

/* A thread that comes to a CPU in its wait, and finds that it must continue to wait: the
 * holder's work during that time is reported once. */
static void a_wait_in_two_parts(void **state)
{
	(void)state;
	begin_trace(&trace);
	switches(0, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
	switches(0, OTHER_CPU, FXT_THREAD_STATE_BLOCKED, 0, THIRD_THREAD);
	switches(105, CPU, FXT_THREAD_STATE_BLOCKED, THREAD, 0);
	switches(150, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
	switches(155, CPU, FXT_THREAD_STATE_BLOCKED, THREAD, 0);
	release(THIRD_THREAD, 270, 3);
	call(THIRD_THREAD, "flush", 90, 280);
	switches(290, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
	wait_for(THREAD, "pthread_mutex_lock", LOCK, 102, 295, 3);
	call(THREAD, "handle", 100, 300);
	read_trace(&small, "handle", 1, false);
	parts_are(0, "waited pthread_mutex_lock held by 103 in flush 160/0 (ran flush 168/0), "
	             "woken pthread_mutex_lock held by 103 in flush 20/0, ran pthread_mutex_lock 13/0, ran "
	             "7/0");
	forget_trace();
}

static void wakeup(uint64_t time, uint64_t thread)
{
	PUT(&trace, thread_wakeup, time, CPU, thread, NO_ARGUMENTS);
}

/* A thread that was woken left no CPU, and what is woken first, or while it could run, does
 * what it did. */
static void a_thread_is_woken(void **state)
{
	struct fxt_usage usage;
	struct fxt_switches sums;

	(void)state;
	begin_trace(&trace);
	switches(0, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
	wakeup(5, OTHER_THREAD);
	switches(10, CPU, FXT_THREAD_STATE_BLOCKED, THREAD, HOG);
	wakeup(25, THREAD);
	wakeup(27, THREAD);
	switches(30, CPU, FXT_THREAD_STATE_BLOCKED, HOG, THREAD);
	switches(50, CPU, FXT_THREAD_STATE_RUNNING, THREAD, 0);
	switches(60, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
	call(OTHER_THREAD, "main", 0, 90);
	call(THREAD, "main", 0, 100);
	read_trace(&small, "main", 1, false);
	fxt_usage_read(&usage, &scan, &timeline, &faults, &waits);
	for (size_t i = 0; i < usage.thread_count; i++) {
		const struct fxt_thread_usage *thread = &usage.threads[i];

		assert_int_equal(thread->has_switches, i == 0);
		if (!thread->has_switches)
			continue;
		assert_int_equal(scan.tables.threads[thread->thread].thread, THREAD);
		assert_int_equal(thread->running, 10 + 20 + 40);
		assert_int_equal(thread->runnable, 5 + 10);
		assert_int_equal(thread->blocked, 15);
		assert_int_equal(thread->switches, 2);
	}
	assert_int_equal(usage.hindrance_count, 2);
	assert_int_equal(usage.hindrances[0].koid, 0);
	assert_int_equal(usage.hindrances[0].ns, 10);
	assert_int_equal(usage.hindrances[1].koid, HOG);
	assert_int_equal(usage.hindrances[1].ns, 5);
	fxt_switches_sum(&sums, &timeline);
	const struct fxt_switch_times *times = fxt_switches_of(&sums, THREAD);

	assert_non_null(times);
	assert_int_equal(times->running, 10 + 20 + 40);
	assert_int_equal(times->runnable, 5 + 10);
	assert_int_equal(times->blocked, 15);
	assert_int_equal(times->switches, 2);
	assert_null(fxt_switches_of(&sums, OTHER_THREAD));
	fxt_switches_free(&sums);
	fxt_usage_free(&usage);
	forget_trace();
}

static uint64_t below(uint64_t limit)
{
	return (uint64_t)random() % limit;
}

/* Calls of a thread, at any depth; returns where it ends. */
static uint64_t random_calls(uint64_t thread, uint64_t at, unsigned depth)
{
	static const char *const names[] = {"handle", "parse", "malloc", "step"};

	for (uint64_t i = below(4); i > 0 && trace.count < COUNT(trace.words) - 200; i--) {
		uint64_t start = at += 1 + below(30), flow = 1 + below(10);

		if (depth < 5)
			at = random_calls(thread, at, depth + 1);
		if (below(6) == 0) {
			at += 10 + below(50);
			wait_for(thread, "pthread_mutex_lock", LOCK + below(2), at - 5 - below(5), at, flow);
		}
		if (below(6) == 0) {
			at += 3;
			release(thread, at - 1, flow);
		}
		if (below(3) == 0)
			switches(below(at + 100), (uint32_t)below(2), (enum fxt_thread_state)below(6),
			        THREAD + below(4), below(2) ? THREAD + below(4) : 0);
		at += 1 + below(20);
		call(thread, names[below(4)], start, at);
	}
	return at;
}

static uint64_t sum_of(const struct fxt_parts *parts)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < parts->count; i++)
		sum += parts->items[i].ns;
	return sum;
}

static void parts_sum_to_the_call(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 200; seed++) {
		srandom(seed);
		begin_trace(&trace);
		for (uint64_t thread = 0; thread < 4; thread++)
			random_calls(THREAD + thread, below(100), 0);
		call(THREAD, "handle", 0, 4000);
		read_trace(seed % 2 ? &small : NULL, "handle", 8, true);
		assert_true(causes.count > 0);
		for (size_t i = 0; i < causes.count; i++) {
			const struct fxt_slice *slice = &slowest.calls[i].slice;

			assert_int_equal(sum_of(&causes.calls[i]), slice->end - slice->start);
		}
		forget_trace();
	}
}

static void what_lies_between_calls_is_not_read(void **state)
{
	(void)state;
	begin_trace(&trace);
	switches(0, CPU, FXT_THREAD_STATE_BLOCKED, 0, THREAD);
	call(THREAD, "parse", 120, 160);
	call(THREAD, "handle", 100, 300);
	call(THREAD, "serve", 50, 400);
	for (uint64_t i = 0; i < 100; i++) {
		/* A block is as long as two of these. */
		if (i == 10)
			hole_from = trace.count;
		if (i == 90)
			hole_to = trace.count;
		call(THREAD, "parse", 1000 + 100 * i, 1090 + 100 * i);
	}
	call(THREAD, "parse", 20010, 20030);
	call(THREAD, "handle", 20000, 20050);
	call(THREAD, "handle", 20100, 20110);
	read_trace(&small, "handle", 1, true);
	hole_from = hole_to = 0;
	assert_int_equal(slowest.median.slice.start, 20000);
	parts_are(0, "ran 160/30, ran parse 40/20");
	forget_trace();
}

static void the_slowest_and_the_median(void **state)
{
	(void)state;
	begin_trace(&trace);
	for (uint64_t i = 0; i < 101; i++) {
		call(THREAD, "handle", 1000 * i + 1, 1000 * i + 101 + i * 37 % 101);
		call(THREAD, "serve", 1000 * i, 1000 * i + 900);
	}
	read_trace(&small, "handle", 8, false);
	assert_int_equal(slowest.all_calls, 101);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(slowest.calls[i].slice.end - slowest.calls[i].slice.start, 200 - i);
	uint64_t median = slowest.median.slice.end - slowest.median.slice.start;

	assert_in_range(median, 150 - 150 / 32, 150 + 150 / 32);
	forget_trace();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(ran_and_was_preempted),
	        cmocka_unit_test(samples),
	        cmocka_unit_test(page_faults),
	        cmocka_unit_test(without_switches),
	        cmocka_unit_test(a_convoy),
	        cmocka_unit_test_prestate(a_convoy, &flow_comes_first),
	        cmocka_unit_test(a_wait_in_two_parts),
	        cmocka_unit_test(a_thread_is_woken),
	        cmocka_unit_test(parts_sum_to_the_call),
	        cmocka_unit_test(what_lies_between_calls_is_not_read),
	        cmocka_unit_test(the_slowest_and_the_median),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
