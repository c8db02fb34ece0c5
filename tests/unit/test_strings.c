/*
 * Names: placeholders, the function table, and more functions and threads than there are
 * indices. Every call in the trace must name its function and its thread, whichever of them
 * had to be registered chunk by chunk.
 */
#include "caller.h"
#include "writer/engine/decisions.h"

#define KIB UINT64_C(1024)

static void placeholders(void **state)
{
	char text[FXT_PLACEHOLDER_BYTES];

	(void)state;
	assert_int_equal(fxt_placeholder(text, 0x55d0c0de1139, 3), 25);
	assert_memory_equal(text, "{{{pc:0x55d0c0de1139:3}}}", 25);
	assert_int_equal(fxt_placeholder(text, 0, 0), 14);
	assert_memory_equal(text, "{{{pc:0x0:0}}}", 14);
	assert_int_equal(fxt_placeholder(text, UINT64_MAX, UINT32_MAX), 38);
	assert_memory_equal(text, "{{{pc:0xffffffffffffffff:4294967295}}}", 38);
}

/* The table grows while it is filled; nothing in it is lost or found under another
 * address. */
static void function_table(void **state)
{
	const uint64_t count = 200000;
	struct rig rig;
	uint64_t mask;
	uint64_t found = 0;

	(void)state;
	rig_begin(&rig, FXT_CIRCULAR, 4096 * KIB, FXT_ON_FULL_DROP);
	mask = fxt_engine_lock(&rig.e);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t word = fxt_function_register(&rig.e, FUNCTION(i), 1);

		assert_int_equal(word >> FXT_FRAME_INDEX_BITS, FUNCTION(i));
		assert_int_equal(fxt_function_register(&rig.e, FUNCTION(i), 1), word);
	}
	for (uint64_t i = 0; i < count; i++) {
		uint64_t word = fxt_function_find(&rig.e.functions, FUNCTION(i));

		assert_int_equal(
		        fxt_function_search(&rig.e, FUNCTION(i)) >> FXT_FRAME_INDEX_BITS, FUNCTION(i));
		assert_true(word == 0 || word == fxt_function_search(&rig.e, FUNCTION(i)));
		found += word != 0;
	}
	assert_true(found > count * 9 / 10); /* the fast look-up is worth its name */
	assert_int_equal(fxt_function_search(&rig.e, FUNCTION(count)), 0);
	assert_int_equal(fxt_function_find(&rig.e.functions, FUNCTION(count) + 1), 0);
	fxt_engine_unlock(&rig.e, mask);
	rig_end(&rig);
}

/* A decision that was on its way while the names were cleared lies at an index that another
 * function has since. */
static void decision_on_another(void **state)
{
	struct rig rig;
	uint64_t mask;
	uint64_t word, *decision;

	(void)state;
	rig_begin(&rig, FXT_STREAMING, 1024 * KIB, FXT_ON_FULL_DROP);
	mask = fxt_engine_lock(&rig.e);
	rig.control->has_filter = 1;
	word = fxt_function_register(&rig.e, FUNCTION(1), 1);
	decision = fxt_decision(rig.control, (uint32_t)(word & FXT_INDEX_LOCAL));
	for (uint32_t index = 1; index < (word & FXT_INDEX_LOCAL); index++)
		*fxt_decision(rig.control, index) = FXT_DECIDED;
	*decision = fxt_function_key(FUNCTION(2)) | FXT_DECIDED | fxt_decided(FXT_DECIDED_EXCLUDE, 0);
	assert_false(fxt_decision_is_on(*decision, word));
	fxt_decisions_carry_out(&rig.e);
	fxt_decisions_carry_out_on(&rig.e, word);
	assert_false(fxt_function_is_excluded(&rig.e.functions, FUNCTION(1)));
	*decision = fxt_function_key(FUNCTION(1)) | FXT_DECIDED | fxt_decided(FXT_DECIDED_EXCLUDE, 0);
	assert_true(fxt_decision_is_on(*decision, word));
	fxt_decisions_carry_out_on(&rig.e, word);
	assert_true(fxt_function_is_excluded(&rig.e.functions, FUNCTION(1)));
	assert_true(fxt_decision_is_on(*decision, fxt_function_search(&rig.e, FUNCTION(1))));
	fxt_engine_unlock(&rig.e, mask);
	rig_end(&rig);
}

/* A name without a durable index is found as such. */
static void indices_run_out(void **state)
{
	struct rig rig;
	uint64_t mask;

	(void)state;
	rig_begin(&rig, FXT_CIRCULAR, 64 * 1024 * KIB, FXT_ON_FULL_DROP);
	mask = fxt_engine_lock(&rig.e);
	for (uint64_t i = 0; i < 40000; i++) {
		uint64_t index = fxt_function_register(&rig.e, FUNCTION(i), 1) & FXT_INDEX_LOCAL;

		if (rig.e.durable_end < rig.e.layout.durable_bytes * 7 / 8 - 40 &&
		        FXT_KNOWN_STRINGS + i < FXT_STRING_LOCAL_FIRST)
			assert_int_equal(index, FXT_KNOWN_STRINGS + i);
		else
			assert_true(index == FXT_INDEX_LOCAL || index < FXT_STRING_LOCAL_FIRST);
	}
	assert_true(rig.e.next_string <= FXT_STRING_LOCAL_FIRST);
	assert_true(rig.e.durable_end <= rig.e.layout.durable_bytes * 7 / 8);
	assert_int_equal(fxt_function_search(&rig.e, FUNCTION(39999)) & FXT_INDEX_LOCAL, FXT_INDEX_LOCAL);
	fxt_engine_unlock(&rig.e, mask);
	rig_end(&rig);
}

/* ---- 100,000 functions ---- */

#define MANY TENTH(100000)

static void *call_each(void *argument)
{
	struct worker *w = argument;

	caller_attach(&w->caller, &w->rig->e);
	for (uint64_t i = 0; i < w->calls; i++)
		call(&w->caller, FUNCTION(i % w->functions));
	return NULL;
}

static void check_functions(const struct trace *t, uint64_t functions)
{
	uint64_t *calls = calloc(functions, sizeof(*calls));

	for (size_t i = 0; i < t->count; i++)
		if (t->events[i].kind == EVENT_CALL) {
			uint64_t number = (t->events[i].function - FUNCTION(0)) / 16;

			assert_true(number < functions && t->events[i].function == FUNCTION(number));
			calls[number]++;
		}
	for (uint64_t i = 0; i < functions; i++)
		if (calls[i] != calls[0])
			fail_msg("function %" PRIu64 " was called %" PRIu64 " times, not %" PRIu64, i,
			        calls[i], calls[0]);
	free(calls);
}

static void many_functions(struct rig *rig, uint64_t functions, unsigned threads)
{
	struct worker workers[4] = {{0}};

	rig_start_manager(rig);
	for (unsigned i = 0; i < threads; i++) {
		workers[i] = (struct worker){.rig = rig, .calls = 2 * functions, .functions = functions};
		assert_int_equal(pthread_create(&workers[i].thread, NULL, call_each, &workers[i]), 0);
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	rig_stop_manager(rig);
	rig_collect(rig, FXT_ENDED_NORMALLY);
	for (unsigned i = 0; i < threads; i++)
		check_worker(&workers[i], rig->e.mode != FXT_CIRCULAR);
	trace_check_nesting(&rig->trace);
}

static void many_functions_streaming(void **state)
{
	(void)state;
	for (uint64_t bytes = 16 * KIB; bytes <= 1024 * KIB; bytes *= 8) {
		struct rig rig;

		rig_begin(&rig, FXT_STREAMING, bytes, FXT_ON_FULL_BLOCK);
		many_functions(&rig, MANY, 2);
		assert_int_equal(rig.collector.losses.lost, 0);
		check_functions(&rig.trace, MANY);
		rig_end(&rig);
	}
}

static void many_functions_circular(void **state)
{
	struct rig rig;

	(void)state;
	rig_begin(&rig, FXT_CIRCULAR, 1024 * KIB, FXT_ON_FULL_DROP);
	many_functions(&rig, MANY, 2);
	assert_true(trace_count(&rig.trace, EVENT_CALL, 0) > 1000);
	rig_end(&rig);
}

static void many_functions_oneshot(void **state)
{
	struct rig rig;

	(void)state;
	rig_begin(&rig, FXT_ONESHOT, 64 * 1024 * KIB, FXT_ON_FULL_DROP);
	many_functions(&rig, MANY, 2);
	assert_int_equal(rig.collector.losses.lost, 0);
	check_functions(&rig.trace, MANY);
	rig_end(&rig);
}

/* Two threads with local names share a small oneshot buffer with durable chunks, until it
 * is full. */
static void oneshot_fills_up_with_names(void **state)
{
	(void)state;
	for (uint64_t bytes = 4 * KIB; bytes <= 1024 * KIB; bytes *= 16) {
		struct rig rig;

		rig_begin(&rig, FXT_ONESHOT, bytes, FXT_ON_FULL_DROP);
		many_functions(&rig, 20000, 2);
		assert_true(rig.collector.losses.lost > 0);
		rig_end(&rig);
	}
}

/* ---- 2,000 short threads ---- */

#define THREADS 2000

static void many_threads(struct rig *rig, unsigned at_once, struct worker *workers)
{
	rig_start_manager(rig);
	for (unsigned i = 0; i < THREADS; i += at_once) {
		for (unsigned j = i; j < i + at_once; j++) {
			workers[j] = (struct worker){.rig = rig, .calls = 20, .functions = 50};
			assert_int_equal(pthread_create(&workers[j].thread, NULL, call_each, &workers[j]), 0);
		}
		for (unsigned j = i; j < i + at_once; j++)
			pthread_join(workers[j].thread, NULL);
	}
	rig_stop_manager(rig);
	rig_collect(rig, FXT_ENDED_NORMALLY);
	trace_check_nesting(&rig->trace);
	assert_int_equal(rig->collector.threads, THREADS);
}

static void many_threads_streaming(void **state)
{
	struct worker *workers = calloc(THREADS, sizeof(*workers));

	(void)state;
	for (uint64_t bytes = 16 * KIB; bytes <= 4096 * KIB; bytes *= 16) {
		struct rig rig;

		rig_begin(&rig, FXT_STREAMING, bytes, FXT_ON_FULL_BLOCK);
		many_threads(&rig, 20, workers);
		for (unsigned i = 0; i < THREADS; i++) {
			assert_true(trace_names(&rig.trace, workers[i].caller.koid));
			assert_int_equal(trace_count(&rig.trace, EVENT_CALL, workers[i].caller.koid), 20);
			for (unsigned j = i + 1; j < i + 20 && j < THREADS; j++)
				assert_int_not_equal(workers[i].caller.koid, workers[j].caller.koid);
		}
		/* Slots are used again: far fewer than threads, and no more than twice
		 * those alive at once.
		 */
		assert_true(rig.control->slots_used <= 128);
		assert_int_equal(rig.collector.losses.lost, 0);
		rig_end(&rig);
	}
	free(workers);
}

static void many_threads_circular(void **state)
{
	struct worker *workers = calloc(THREADS, sizeof(*workers));
	struct rig rig;
	uint64_t recorded;

	(void)state;
	rig_begin(&rig, FXT_CIRCULAR, 256 * KIB, FXT_ON_FULL_DROP);
	many_threads(&rig, 20, workers);
	recorded = trace_count(&rig.trace, EVENT_CALL, 0);
	assert_int_equal(recorded + rig.collector.losses.overwritten, THREADS * 20);
	assert_true(rig.collector.losses.overwritten > 0);
	for (size_t i = 0; i < rig.trace.count; i++)
		assert_true(trace_names(&rig.trace, rig.trace.events[i].koid));
	rig_end(&rig);
	free(workers);
}

/* Threads end without leaving their calls, and with losses that were not shown: all is
 * counted when the slot is reused. */
static void *end_inside(void *argument)
{
	struct worker *w = argument;

	caller_attach(&w->caller, &w->rig->e);
	for (int i = 0; i < 7; i++)
		enter(&w->caller, FUNCTION(i));
	leave(&w->caller);
	caller_nested(&w->caller);
	return NULL;
}

static void slots_of_threads_that_ended_inside(void **state)
{
	struct worker worker;
	struct rig rig;
	uint64_t recorded;

	(void)state;
	rig_begin(&rig, FXT_ONESHOT, 1024 * KIB, FXT_ON_FULL_DROP);
	for (int i = 0; i < 300; i++) {
		worker = (struct worker){.rig = &rig};
		assert_int_equal(pthread_create(&worker.thread, NULL, end_inside, &worker), 0);
		pthread_join(worker.thread, NULL);
	}
	assert_true(rig.control->slots_used <= 64);
	rig_collect(&rig, FXT_ENDED_NORMALLY);
	recorded = trace_count(&rig.trace, EVENT_CALL, 0);
	assert_int_equal(recorded + rig.collector.losses.lost, 300 * 8);
	assert_int_equal(fxt_engine_stop(&rig.e), ENOMEM);
	rig_end(&rig);
}

/* A row of its own, and a handler's calls in the row of its thread. */
static void further_slots(void **state)
{
	struct rig rig;
	struct caller thread, handler, row;

	(void)state;
	rig_begin(&rig, FXT_STREAMING, 64 * KIB, FXT_ON_FULL_DROP);
	caller_attach(&thread, &rig.e);
	handler = row = thread;
	handler.writer = fxt_thread_attach_nested(&rig.e, thread.writer->number);
	row.writer = fxt_thread_attach_coroutine(&rig.e, thread.writer->number, "generator");
	handler.slot = fxt_slot(&rig.e, handler.writer->number);
	row.slot = fxt_slot(&rig.e, row.writer->number);
	assert_int_equal(handler.slot->koid, thread.koid);
	assert_int_equal(handler.slot->thread_index, thread.slot->thread_index);
	assert_int_not_equal(row.slot->koid, thread.koid);
	call(&thread, FUNCTION(1));
	call(&handler, FUNCTION(2));
	call(&row, FUNCTION(3));
	rig_collect(&rig, FXT_ENDED_NORMALLY);
	assert_int_equal(trace_count(&rig.trace, EVENT_CALL, thread.koid), 2);
	assert_int_equal(trace_count(&rig.trace, EVENT_CALL, row.slot->koid), 1);
	assert_true(trace_names(&rig.trace, row.slot->koid));
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(placeholders),
	        cmocka_unit_test(function_table),
	        cmocka_unit_test(decision_on_another),
	        cmocka_unit_test(indices_run_out),
	        cmocka_unit_test(many_functions_streaming),
	        cmocka_unit_test(many_functions_circular),
	        cmocka_unit_test(many_functions_oneshot),
	        cmocka_unit_test(oneshot_fills_up_with_names),
	        cmocka_unit_test(many_threads_streaming),
	        cmocka_unit_test(many_threads_circular),
	        cmocka_unit_test(slots_of_threads_that_ended_inside),
	        cmocka_unit_test(further_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
