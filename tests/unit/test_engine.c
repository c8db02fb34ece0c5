/*
 * The life of an engine: what each step does and in which state it is refused, what is kept
 * and what is cleared, and which categories are enabled.
 */
#include "caller.h"
#include "writer/format/categories.h"
#include "writer/engine/waits.h"

#define KIB UINT64_C(1024)

static const enum fxt_buffering_mode modes[] = {FXT_ONESHOT, FXT_CIRCULAR, FXT_STREAMING};

static int initialize(struct rig *rig)
{
	return fxt_engine_initialize(&rig->e, rig->buffer, rig->buffer_bytes, rig->control, "rig");
}

static void illegal_steps(void **state)
{
	struct rig rig;

	(void)state;
	rig_map(&rig, FXT_STREAMING, 16 * KIB, FXT_ON_FULL_DROP);
	assert_int_equal(fxt_engine_start(&rig.e, FXT_START_RETAIN), EINVAL);
	assert_int_equal(fxt_engine_stop(&rig.e), EINVAL);
	assert_int_equal(fxt_engine_terminate(&rig.e), EINVAL);
	assert_null(fxt_thread_attach(&rig.e));

	assert_int_equal(initialize(&rig), 0);
	assert_int_equal(initialize(&rig), EBUSY);
	assert_int_equal(fxt_engine_stop(&rig.e), 0);
	assert_null(fxt_thread_attach(&rig.e));
	assert_int_equal(fxt_engine_start(&rig.e, (enum fxt_start_mode)0), EINVAL);
	assert_int_equal(fxt_engine_start(&rig.e, (enum fxt_start_mode)4), EINVAL);

	assert_int_equal(fxt_engine_start(&rig.e, FXT_START_CLEAR_ENTIRE), 0);
	for (int mode = FXT_START_CLEAR_ENTIRE; mode <= FXT_START_RETAIN; mode++)
		assert_int_equal(fxt_engine_start(&rig.e, (enum fxt_start_mode)mode), EBUSY);
	assert_int_equal(initialize(&rig), EBUSY);
	assert_non_null(fxt_thread_attach(&rig.e));

	assert_int_equal(fxt_engine_stop(&rig.e), 0);
	assert_int_equal(fxt_engine_stop(&rig.e), 0);
	assert_int_equal(fxt_engine_start(&rig.e, FXT_START_RETAIN), 0);
	assert_int_equal(fxt_engine_terminate(&rig.e), 0); /* stops it first */
	assert_int_equal(fxt_engine_terminate(&rig.e), EINVAL);
	assert_int_equal(initialize(&rig), 0);
	rig_end(&rig);
}

#define REFUSED(change)                                                   \
	do {                                                              \
		struct rig rig;                                           \
		rig_map(&rig, FXT_STREAMING, 16 * KIB, FXT_ON_FULL_DROP); \
		change;                                                   \
		if (initialize(&rig) != EINVAL)                           \
			fail_msg("initialized in spite of %s", #change);  \
		assert_int_equal(rig.e.state, FXT_ENGINE_NONE);           \
		rig.buffer_bytes = 16 * KIB;                              \
		rig_end(&rig);                                            \
	} while (0)

static void control_memory_that_is_none(void **state)
{
	(void)state;
	REFUSED(rig.control->magic++);
	REFUSED(rig.control->version++);
	REFUSED(rig.control->clock_kind = 0);
	REFUSED(rig.control->clock_kind = 3);
	REFUSED(rig.control->ticks_per_second = 0);
	REFUSED(rig.control->buffering_mode = 3);
	REFUSED(rig.buffer_bytes = 2048);
	REFUSED(rig.buffer_bytes = 5000);
}

/* The first records, and a name of any length in the smallest buffer. */
static void birth(void **state)
{
	char name[FXT_NAME_BYTES + 8];

	(void)state;
	for (size_t m = 0; m < 3; m++) {
		for (size_t length = 1; length <= FXT_NAME_BYTES; length += 33) {
			struct rig rig;

			memset(name, 'n', sizeof(name));
			name[length] = 0;
			rig_map(&rig, modes[m], 4 * KIB, FXT_ON_FULL_DROP);
			assert_int_equal(fxt_engine_initialize(
			                         &rig.e, rig.buffer, rig.buffer_bytes, rig.control, name),
			        0);
			assert_int_equal(rig.e.header->buffering_mode, modes[m]);
			rig_collect(&rig, FXT_ENDED_NORMALLY);
			assert_int_equal(rig.trace.initializations, 1);
			assert_int_equal(rig.trace.rate, RIG_RATE);
			assert_string_equal(rig.trace.strings[FXT_KNOWN_FUNCTION], "function");
			assert_string_equal(rig.trace.strings[FXT_KNOWN_PROCESS], "process");
			assert_true(trace_names(&rig.trace, RIG_PROCESS));
			rig_end(&rig);
		}
	}
}

/* A whole nanosecond at any rate, also at one that is refined by 10^-4 afterwards. */
static void steps(void **state)
{
	static const uint64_t rates[] = {
	        1, 24000000, 999999999, 1000000000, 1000000001, 2999999999, 3000000000, UINT64_C(9999500000)};

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		struct rig rig;

		rig_map(&rig, FXT_ONESHOT, 4 * KIB, FXT_ON_FULL_DROP);
		rig.control->ticks_per_second = rates[i];
		assert_int_equal(initialize(&rig), 0);
		assert_true(rig.e.step * UINT64_C(1000000000) >= rates[i] + rates[i] / 10000);
		assert_true((rig.e.step - 1) * UINT64_C(1000000000) <= rates[i] + rates[i] / 10000);
		rig_end(&rig);
	}
}

/* ---- start modes ---- */

static void restart(struct rig *rig, enum fxt_start_mode mode)
{
	fxt_engine_stop(&rig->e);
	rig_save(rig);
	assert_int_equal(fxt_engine_start(&rig->e, mode), 0);
	rig_save(rig);
}

/* All that the buffer holds, whatever was taken of it before. */
static void take_all(struct rig *rig)
{
	fxt_collector_free(&rig->collector);
	trace_reset(&rig->trace);
	fxt_collector_init(
	        &rig->collector, rig->buffer, rig->buffer_bytes, rig->control, trace_take, &rig->trace);
	rig->collector.next_wrapped = rig->e.wrapped;
	rig_collect(rig, FXT_ENDED_NORMALLY);
	trace_check_nesting(&rig->trace);
}

static void retain(void **state)
{
	(void)state;
	for (size_t m = 0; m < 3; m++) {
		struct rig rig;
		struct caller caller;

		rig_begin(&rig, modes[m], 64 * KIB, FXT_ON_FULL_DROP);
		caller_attach(&caller, &rig.e);
		for (int i = 0; i < 10; i++)
			call(&caller, FUNCTION(1));
		enter(&caller, FUNCTION(2));
		restart(&rig, FXT_START_RETAIN);
		leave(&caller);
		call(&caller, FUNCTION(3));
		take_all(&rig);
		assert_int_equal(trace_count(&rig.trace, EVENT_CALL, caller.koid), 12);
		assert_int_equal(rig.trace.initializations, 1);
		assert_int_equal(caller.slot->lost, 0);
		rig_end(&rig);
	}
}

static void clear_nondurable(void **state)
{
	(void)state;
	for (size_t m = 1; m < 3; m++) {
		struct rig rig;
		struct caller caller;
		uint32_t generation, strings;
		uint64_t durable;

		rig_begin(&rig, modes[m], 16 * KIB, FXT_ON_FULL_DROP);
		caller_attach(&caller, &rig.e);
		for (int i = 0; i < 2000; i++) {
			call(&caller, FUNCTION(1));
			rig_save(&rig);
		}
		enter(&caller, FUNCTION(2));
		assert_true(rig.e.header->wrapped_count > 1);
		generation = rig.e.generation;
		strings = rig.e.next_string;
		durable = rig.e.header->durable_data_end;
		trace_reset(&rig.trace);
		restart(&rig, FXT_START_CLEAR_NONDURABLE);
		trace_reset(&rig.trace);
		assert_int_equal(rig.e.header->wrapped_count, 0);
		assert_int_equal(rig.e.header->rolling_data_end[0] | rig.e.header->rolling_data_end[1], 0);
		assert_int_equal(rig.e.header->durable_data_end, durable);
		assert_int_equal(rig.e.generation, generation);
		leave(&caller);
		call(&caller, FUNCTION(1));
		assert_int_equal(rig.e.next_string, strings); /* their indices are still known */
		assert_int_equal(rig.e.header->durable_data_end, durable);
		take_all(&rig);
		/* The call that was open has gone with the rest. */
		assert_int_equal(trace_count(&rig.trace, EVENT_CALL, caller.koid), 1);
		assert_int_equal(rig.trace.initializations, 1);
		rig_end(&rig);
	}
}

static void clear_entire(void **state)
{
	(void)state;
	for (size_t m = 0; m < 3; m++) {
		struct rig rig;
		struct caller caller;
		uint32_t generation;

		rig_begin(&rig, modes[m], 16 * KIB, FXT_ON_FULL_DROP);
		caller_attach(&caller, &rig.e);
		for (int i = 0; i < 3000; i++)
			call(&caller, FUNCTION(i % 20));
		enter(&caller, FUNCTION(2));
		generation = rig.e.generation;
		restart(&rig, m == 0 ? FXT_START_CLEAR_NONDURABLE : FXT_START_CLEAR_ENTIRE);
		trace_reset(&rig.trace);
		assert_int_equal(rig.e.generation, generation + 1);
		assert_int_equal(rig.e.header->wrapped_count, 0);
		assert_int_equal(rig.e.header->num_records_dropped, 0);
		assert_int_equal(rig.e.next_string, FXT_KNOWN_STRINGS);

		/* Before the thread comes by nothing of it is there, its open call
		 * neither. */
		take_all(&rig);
		assert_int_equal(rig.trace.count, 0);
		assert_int_equal(rig.trace.initializations, 1);
		assert_int_equal(rig.collector.losses.lost, 0);
		assert_int_equal(rig.collector.threads, 1); /* that ever recorded */
		trace_reset(&rig.trace);

		leave(&caller); /* of a call that is forgotten */
		enter(&caller, FUNCTION(5));
		call(&caller, FUNCTION(6));
		leave(&caller);
		take_all(&rig);
		assert_int_equal(trace_count(&rig.trace, EVENT_CALL, caller.koid), 2);
		assert_int_equal(rig.trace.count, 2);
		assert_true(trace_names(&rig.trace, caller.koid));
		assert_int_equal(rig.collector.threads, 1);
		rig_end(&rig);
	}
}

static void clearing_what_is_not_saved(void **state)
{
	struct rig rig;
	struct caller caller;

	(void)state;
	rig_begin(&rig, FXT_STREAMING, 16 * KIB, FXT_ON_FULL_DROP);
	caller_attach(&caller, &rig.e);
	while (rig.e.header->wrapped_count == 0)
		call(&caller, FUNCTION(1));
	assert_int_equal(fxt_engine_stop(&rig.e), 0);
	assert_int_equal(fxt_engine_start(&rig.e, FXT_START_CLEAR_ENTIRE), EBUSY);
	assert_int_equal(fxt_engine_start(&rig.e, FXT_START_CLEAR_NONDURABLE), EBUSY);
	rig_save(&rig);
	assert_int_equal(fxt_engine_start(&rig.e, FXT_START_CLEAR_ENTIRE), 0);
	rig_end(&rig);
}

static void broken_engines_do_not_start(void **state)
{
	struct rig rig;

	(void)state;
	rig_begin(&rig, FXT_STREAMING, 16 * KIB, FXT_ON_FULL_DROP);
	fxt_engine_stop(&rig.e);
	rig_reply(&rig, (struct fxt_packet){.request = FXT_PROVIDER_BUFFER_SAVED});
	assert_int_equal(fxt_engine_start(&rig.e, FXT_START_CLEAR_ENTIRE), EPROTO);
	assert_int_equal(fxt_engine_start(&rig.e, FXT_START_RETAIN), EPROTO);
	rig_end(&rig);
}

static void generations_grow(void **state)
{
	struct rig rig;
	uint32_t last = 0;

	(void)state;
	rig_map(&rig, FXT_CIRCULAR, 16 * KIB, FXT_ON_FULL_DROP);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(initialize(&rig), 0);
		assert_true(rig.e.generation > last);
		last = rig.e.generation;
		assert_int_equal(fxt_engine_start(&rig.e, FXT_START_CLEAR_ENTIRE), 0);
		assert_true(rig.e.generation > last);
		last = rig.e.generation;
		assert_int_equal(fxt_engine_terminate(&rig.e), 0);
	}
	rig_end(&rig);
}

static void records_while_stopped_are_refused(void **state)
{
	struct rig rig;
	struct caller caller;

	(void)state;
	rig_begin(&rig, FXT_CIRCULAR, 16 * KIB, FXT_ON_FULL_DROP);
	caller_attach(&caller, &rig.e);
	call(&caller, FUNCTION(1));
	fxt_engine_stop(&rig.e);
	assert_false(fxt_chunk_reserve(&rig.e, caller.writer, 3));
	/* A record of the previous run, of a thread that comes too late: there is room for
	 * those of the next one. */
	assert_int_equal(fxt_engine_start(&rig.e, FXT_START_RETAIN), 0);
	assert_false(fxt_chunk_reserve(&rig.e, caller.writer, 3));
	assert_false(fxt_chunk_is_dropping(&rig.e, caller.writer));
	rig_end(&rig);
}

/* ---- categories ---- */

static void categories(void **state)
{
	static struct fxt_control control;

	(void)state;
	assert_true(fxt_category_is_enabled(&control, "function"));
	control.categories_off = fxt_category_bit("heap") | fxt_category_bit("sync");
	assert_true(fxt_category_is_enabled(&control, "function"));
	assert_false(fxt_category_is_enabled(&control, "heap"));
	assert_true(fxt_category_is_enabled(&control, "process"));
	assert_false(fxt_category_is_enabled(&control, "sync"));
	assert_int_equal(fxt_category_bit("functions"), 0);
}

/* Spoils a field, which must be seen, and puts it back. */
#define NOT_VALID(field, value)                            \
	do {                                               \
		__typeof__(field) kept = (field);          \
		(field) = (value);                         \
		if (fxt_engine_is_valid(&rig.e))           \
			fail_msg("valid with %s", #field); \
		(field) = kept;                            \
		assert_true(fxt_engine_is_valid(&rig.e));  \
	} while (0)

static void states_that_are_not_valid(void **state)
{
	(void)state;
	for (size_t m = 0; m < sizeof(modes) / sizeof(*modes); m++) {
		struct rig rig;
		struct caller caller;
		struct fxt_thread_writer *writer;
		struct fxt_thread_slot *slot;

		rig_begin(&rig, modes[m], 64 * KIB, FXT_ON_FULL_DROP);
		assert_true(fxt_engine_is_valid(&rig.e));
		caller_attach(&caller, &rig.e);
		writer = caller.writer;
		slot = caller.slot;
		assert_int_equal(writer->state, FXT_WRITER_NO_CHUNK);
		NOT_VALID(writer->state, FXT_WRITER_OPEN);
		NOT_VALID(writer->chunk, 8);
		NOT_VALID(slot->committed, 8);
		assert_true(fxt_chunk_reserve(&rig.e, writer, FXT_CALL_WORDS));
		assert_int_equal(writer->state, FXT_WRITER_OPEN);
		NOT_VALID(writer->state, FXT_WRITER_NO_CHUNK);
		NOT_VALID(writer->state, FXT_WRITER_STALLED);
		NOT_VALID(writer->limit, writer->limit + 8);
		NOT_VALID(writer->chunk, writer->chunk + 16);
		NOT_VALID(writer->number, writer->number + 1);
		NOT_VALID(writer->generation, 0);
		NOT_VALID(slot->committed, writer->chunk);
		NOT_VALID(slot->late_record, slot->committed);
		NOT_VALID(slot->top, slot->top + 8);
		NOT_VALID(slot->top, slot->top + slot->stack_bytes);
		NOT_VALID(slot->thread_index, 0);
		NOT_VALID(rig.e.run, rig.e.run + 1);
		NOT_VALID(rig.e.live_slots, 0);
		NOT_VALID(rig.e.stalled, 1);
		NOT_VALID(rig.e.free_slot, 1);
		NOT_VALID(rig.e.rolling_used, UINT64_MAX);
		NOT_VALID(rig.e.durable_end, rig.e.durable_end + 8);
		NOT_VALID(rig.e.wrapped, 7);
		assert_int_equal(fxt_engine_stop(&rig.e), 0);
		assert_int_equal(writer->state, FXT_WRITER_NO_CHUNK);
		assert_true(fxt_engine_is_valid(&rig.e));
		rig_end(&rig);
	}
}

/* The holder of a lock in a frame: its koid again, or none, but never another koid. */
static void holders_in_frames(void **unused)
{
	const uint64_t process = 25942, inside = process << 40 | UINT64_C(1) << 31;
	const uint64_t fit[] = {1, 25942, 4194303, fxt_thread_koid(25942, 2), fxt_thread_koid(4194303, 512),
	        inside ^ 5, inside ^ fxt_thread_koid(4194303, 512)};
	const uint64_t too_large[] = {fxt_thread_koid(5, 513), fxt_thread_koid(5, 65535),
	        inside ^ fxt_thread_koid(5, 513), inside ^ fxt_thread_koid(5, 1024)};

	(void)unused;
	for (size_t i = 0; i < sizeof(fit) / sizeof(*fit); i++)
		assert_int_equal(fxt_holder_koid(process, fxt_holder(process, fit[i])), fit[i]);
	for (size_t i = 0; i < sizeof(too_large) / sizeof(*too_large); i++)
		assert_int_equal(fxt_holder(process, too_large[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(illegal_steps),
	        cmocka_unit_test(holders_in_frames),
	        cmocka_unit_test(control_memory_that_is_none),
	        cmocka_unit_test(birth),
	        cmocka_unit_test(steps),
	        cmocka_unit_test(retain),
	        cmocka_unit_test(clear_nondurable),
	        cmocka_unit_test(clear_entire),
	        cmocka_unit_test(clearing_what_is_not_saved),
	        cmocka_unit_test(broken_engines_do_not_start),
	        cmocka_unit_test(generations_grow),
	        cmocka_unit_test(records_while_stopped_are_refused),
	        cmocka_unit_test(states_that_are_not_valid),
	        cmocka_unit_test(categories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
