/*
 * Chunks, closing and the rolling buffers: what threads record comes out once, in each
 * mode, or is counted.
 */
#include "caller.h"

#define KIB UINT64_C(1024)

static const enum fxt_buffering_mode ONESHOT = FXT_ONESHOT, CIRCULAR = FXT_CIRCULAR,
                                     STREAMING = FXT_STREAMING;

/* ---- many threads, each mode ---- */

static uint64_t run(struct rig *rig, struct worker *workers, unsigned count, bool shown)
{
	uint64_t lost = 0, overwritten = 0;

	for (unsigned i = 0; i < count; i++)
		start_worker(&workers[i], rig, i + 1);
	for (unsigned i = 0; i < count; i++)
		pthread_join(workers[i].thread, NULL);
	if (rig->manager)
		rig_stop_manager(rig);
	rig_collect(rig, FXT_ENDED_NORMALLY);
	for (unsigned i = 0; i < count; i++) {
		const struct fxt_thread_slot *slot = workers[i].caller.slot;

		check_worker(&workers[i], shown);
		lost += slot->lost + slot->nested_lost;
		overwritten += slot->overwritten;
	}
	assert_int_equal(rig->collector.losses.lost, lost);
	assert_int_equal(rig->collector.losses.overwritten, overwritten);
	assert_int_equal(rig->collector.threads, count);
	fxt_engine_stop(&rig->e);
	assert_int_equal(rig->e.header->num_records_dropped, lost);
	trace_check_nesting(&rig->trace);
	return lost + overwritten;
}

static void oneshot_with_room(void **state)
{
	struct worker workers[4] = {{.calls = 5000}, {.calls = 5000}, {.calls = 5000}, {.calls = 5000}};
	struct rig rig;

	(void)state;
	rig_begin(&rig, ONESHOT, 2048 * KIB, FXT_ON_FULL_DROP);
	assert_int_equal(run(&rig, workers, 4, true), 0);
	rig_end(&rig);
}

static void oneshot_overfull(void **state)
{
	(void)state;
	for (uint64_t bytes = 4 * KIB; bytes <= 64 * KIB; bytes *= 4) {
		struct worker workers[4] = {{.calls = 5000}, {.calls = 7000}, {.calls = 10}, {.calls = 5000}};
		struct rig rig;

		rig_begin(&rig, ONESHOT, bytes, FXT_ON_FULL_DROP);
		assert_true(run(&rig, workers, 4, true) > 5000);
		rig_end(&rig);
	}
}

static void oneshot_open_at_the_end(void **state)
{
	struct worker workers[2] = {{.calls = 5000, .leaves_open = true}, {.calls = 50, .leaves_open = true}};
	struct rig rig;

	(void)state;
	rig_begin(&rig, ONESHOT, 64 * KIB, FXT_ON_FULL_DROP);
	run(&rig, workers, 2, true);
	rig_end(&rig);
}

static void circular_overfull(void **state)
{
	(void)state;
	for (uint64_t bytes = 16 * KIB; bytes <= 256 * KIB; bytes *= 4) {
		struct worker workers[4] = {
		        {.calls = 50000}, {.calls = 70000}, {.calls = 10}, {.calls = 50000}};
		struct rig rig;

		rig_begin(&rig, CIRCULAR, bytes, FXT_ON_FULL_DROP);
		assert_true(run(&rig, workers, 4, false) > 100000);
		assert_true(rig.e.header->wrapped_count > 2);
		/* The newest records are left: at least the half that was not dropped. */
		assert_true(rig.trace.bytes > rig.e.layout.rolling_bytes / 2);
		rig_end(&rig);
	}
}

static void streaming_with_a_manager_loses_nothing(void **state)
{
	(void)state;
	for (uint64_t bytes = 8 * KIB; bytes <= 512 * KIB; bytes *= 4) {
		struct worker workers[4] = {{.calls = 50000}, {.calls = 70000, .leaves_open = true},
		        {.calls = 10}, {.calls = 50000, .depth = 2000}};
		struct rig rig;

		rig_begin(&rig, STREAMING, bytes, FXT_ON_FULL_BLOCK);
		rig_start_manager(&rig);
		assert_int_equal(run(&rig, workers, 4, true), 0);
		rig_end(&rig);
	}
}

static void streaming_drops_and_counts(void **state)
{
	struct worker workers[4] = {{.calls = 50000}, {.calls = 70000}, {.calls = 10}, {.calls = 50000}};
	struct rig rig;

	(void)state;
	rig_begin(&rig, STREAMING, 16 * KIB, FXT_ON_FULL_DROP);
	rig_start_manager(&rig);
	run(&rig, workers, 4, true);
	rig_end(&rig);
}

/* More calls open than the largest shadow stack holds. */
static void too_deep(void **state)
{
	struct worker workers[1] = {{.calls = 1}};
	struct rig rig;
	struct caller caller;
	const uint64_t deep = 300000;

	(void)state;
	rig_begin(&rig, STREAMING, 1024 * KIB, FXT_ON_FULL_BLOCK);
	rig_start_manager(&rig);
	caller_attach(&caller, &rig.e);
	for (uint64_t i = 0; i < deep; i++)
		enter(&caller, FUNCTION(1));
	for (uint64_t i = 0; i < deep; i++)
		leave(&caller);
	call(&caller, FUNCTION(2));
	workers[0] = (struct worker){.rig = &rig, .calls = deep + 1, .caller = caller};
	rig_stop_manager(&rig);
	rig_collect(&rig, FXT_ENDED_NORMALLY);
	check_worker(&workers[0], true);
	assert_true(trace_count(&rig.trace, EVENT_CALL, 0) > 260000);
	trace_check_nesting(&rig.trace);
	rig_end(&rig);
}

/* ---- full marks and switches ---- */

/* Calls until a buffer was switched; returns how many calls that took, the last of them
 * recorded in the new one. */
static uint64_t call_until_switch(struct caller *caller)
{
	uint32_t wrapped = caller->e->header->wrapped_count;
	uint64_t calls = 0;

	while (caller->e->header->wrapped_count == wrapped) {
		call(caller, FUNCTION(1));
		calls++;
	}
	assert_int_equal(caller->e->header->wrapped_count, wrapped + 1);
	return calls;
}

static void switches_of_a_circular_buffer(void **state)
{
	struct rig rig;
	struct caller caller;
	struct fxt_buffer_header *header;

	(void)state;
	rig_begin(&rig, CIRCULAR, 16 * KIB, FXT_ON_FULL_DROP);
	header = rig.e.header;
	assert_int_equal(header->wrapped_count, 0);
	assert_int_equal(header->rolling_data_end[0], 0);
	caller_attach(&caller, &rig.e);
	for (uint32_t wrapped = 0; wrapped < 5; wrapped++) {
		uint64_t before = caller.slot->overwritten, held = caller.slot->calls[(wrapped + 1) & 1];
		uint64_t calls = call_until_switch(&caller);

		/* The mark of the full buffer covers its calls; the other, emptied, has one
		 * chunk. */
		assert_true(header->rolling_data_end[wrapped & 1] >= calls * 24);
		assert_true(header->rolling_data_end[wrapped & 1] <= header->rolling_buffer_size);
		assert_true(header->rolling_data_end[(wrapped + 1) & 1] > 0);
		assert_true(header->rolling_data_end[(wrapped + 1) & 1] < header->rolling_buffer_size);
		assert_int_equal(caller.slot->overwritten, before + held);
		assert_int_equal(header->num_records_dropped, 0);
		assert_int_equal(fxt_losses_of(rig.control).overwritten, before + held);
	}
	assert_int_equal(fxt_engine_stop(&rig.e), 0);
	rig_end(&rig);
}

static void oneshot_never_switches(void **state)
{
	struct rig rig;
	struct caller caller;

	(void)state;
	rig_begin(&rig, ONESHOT, 4 * KIB, FXT_ON_FULL_DROP);
	caller_attach(&caller, &rig.e);
	for (int i = 0; i < 500; i++)
		call(&caller, FUNCTION(1));
	assert_int_equal(rig.e.header->wrapped_count, 0);
	assert_int_equal(rig.e.header->rolling_data_end[1], 0);
	assert_int_equal(rig.e.header->durable_data_end, 0);
	assert_true(rig.e.header->rolling_data_end[0] > 3000);
	assert_int_equal(fxt_engine_stop(&rig.e), ENOMEM);
	assert_int_equal(rig.e.header->num_records_dropped, caller.slot->lost);
	rig_end(&rig);
}

/* ---- the protocol of streaming ---- */

static struct fxt_packet expect_packet(struct rig *rig, uint16_t request)
{
	struct fxt_packet packet = {0};

	assert_true(rig_receive(rig, &packet));
	assert_int_equal(packet.request, request);
	assert_int_equal(packet.reserved, 0);
	return packet;
}

static void save_buffer_packets(void **state)
{
	struct rig rig;
	struct caller caller;
	struct fxt_packet packet;

	(void)state;
	rig_begin(&rig, STREAMING, 16 * KIB, FXT_ON_FULL_DROP);
	packet = expect_packet(&rig, FXT_PROVIDER_STARTED);
	assert_int_equal(packet.data32, 1);
	assert_int_equal(packet.data64, 0);
	caller_attach(&caller, &rig.e);
	for (uint32_t wrapped = 0; wrapped < 5; wrapped++) {
		uint64_t durable_end = rig.e.header->durable_data_end;

		assert_false(rig_receive(&rig, &packet));
		call_until_switch(&caller);
		if (wrapped > 0)
			assert_int_equal(durable_end, rig.e.header->durable_data_end);
		packet = expect_packet(&rig, FXT_PROVIDER_SAVE_BUFFER);
		assert_int_equal(packet.data32, wrapped);
		assert_int_equal(packet.data64, rig.e.header->durable_data_end);
		assert_int_equal(fxt_collect_saved_buffer(&rig.collector, &packet), 0);
		packet.request = FXT_PROVIDER_BUFFER_SAVED;
		rig_reply(&rig, packet);
	}
	/* A saved buffer counts as empty once the engine has seen the reply. */
	call_until_switch(&caller);
	assert_true(rig.e.header->rolling_data_end[1] > 0);
	assert_int_equal(caller.slot->lost, 0);
	expect_packet(&rig, FXT_PROVIDER_SAVE_BUFFER);
	assert_int_equal(fxt_engine_stop(&rig.e), 0);
	packet = expect_packet(&rig, FXT_PROVIDER_STOPPED);
	assert_int_equal(packet.data32 | packet.data64, 0);
	rig_end(&rig);
}

/* While no reply comes, records are dropped; the calls in the two buffers stay. */
static void no_reply_drop(void **state)
{
	struct rig rig;
	struct caller caller;
	uint64_t calls = 0;

	(void)state;
	rig_begin(&rig, STREAMING, 16 * KIB, FXT_ON_FULL_DROP);
	caller_attach(&caller, &rig.e);
	for (; caller.slot->lost < 1000; calls++)
		call(&caller, FUNCTION(1));
	assert_int_equal(rig.e.header->wrapped_count, 1);
	assert_int_equal(rig_save(&rig), 1);
	for (int i = 0; i < 10; i++, calls++)
		call(&caller, FUNCTION(1));
	assert_int_equal(caller.slot->lost, 1000); /* the reply was seen at once */
	rig_save(&rig);
	rig_collect(&rig, FXT_ENDED_NORMALLY);
	assert_int_equal(trace_count(&rig.trace, EVENT_CALL, 0), calls - 1000);
	assert_int_equal(trace_count(&rig.trace, EVENT_LOSS, 0), 1000);
	trace_check_nesting(&rig.trace);
	rig_end(&rig);
}

/* Loses 1000 calls, and finds room again in a hook that a handler interrupted. The record
 * of the loss ends before `end`. With a slice that began during the loss, `end` is when
 * that was. */
static void lose_and_go_on(bool is_in_slice)
{
	struct rig rig;
	struct caller caller;
	uint64_t end;
	size_t losses = 0;

	rig_begin(&rig, STREAMING, 16 * KIB, FXT_ON_FULL_DROP);
	caller_attach(&caller, &rig.e);
	while (caller.slot->lost < 500)
		call(&caller, FUNCTION(1));
	if (is_in_slice)
		caller.writer->slice_start = caller.writer->last += rig.e.step;
	while (caller.slot->lost < 1000)
		call(&caller, FUNCTION(1));
	end = is_in_slice ? caller.writer->slice_start : caller.writer->last + rig.e.step;
	caller.writer->last += RIG_RATE / 1000;
	assert_int_equal(rig_save(&rig), 1);
	assert_true(fxt_chunk_reserve(&rig.e, caller.writer, 3));
	rig_save(&rig);
	rig_collect(&rig, FXT_ENDED_NORMALLY);
	for (size_t i = 0; i < rig.trace.count; i++)
		if (rig.trace.events[i].kind == EVENT_LOSS) {
			assert_true(rig.trace.events[i].start <= rig.trace.events[i].end);
			assert_true(rig.trace.events[i].end < end);
			losses++;
		}
	assert_int_equal(losses, 1);
	rig_end(&rig);
}

/* Or it would stick out of the record that is written next, or into a slice that is
 * open. */
static void a_loss_ends_before_what_follows(void **state)
{
	(void)state;
	lose_and_go_on(false);
	lose_and_go_on(true);
}

static void wrong_replies(void **state)
{
	static const struct fxt_packet wrong[] = {
	        {.request = FXT_PROVIDER_BUFFER_SAVED, .data32 = 1},
	        {.request = FXT_PROVIDER_BUFFER_SAVED, .data64 = 8},
	        {.request = FXT_PROVIDER_BUFFER_SAVED, .reserved = 1},
	        {.request = FXT_PROVIDER_SAVE_BUFFER},
	        {.request = 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct rig rig;
		struct caller caller;
		struct fxt_packet reply = wrong[i];
		uint64_t lost;

		rig_begin(&rig, STREAMING, 16 * KIB, FXT_ON_FULL_BLOCK);
		caller_attach(&caller, &rig.e);
		call_until_switch(&caller);
		reply.data64 += rig.e.header->durable_data_end;
		rig_reply(&rig, reply);
		/* On-full is block, and yet no thread waits for a manager that sends
		 * invalid replies. */
		for (lost = caller.slot->lost; caller.slot->lost < lost + 500;)
			call(&caller, FUNCTION(1));
		assert_true(rig.e.broken);
		assert_int_equal(rig.e.header->wrapped_count, 1);
		rig_end(&rig);
	}
}

/* An unexpected reply. */
static void unasked_reply(void **state)
{
	struct rig rig;
	struct caller caller;

	(void)state;
	rig_begin(&rig, STREAMING, 16 * KIB, FXT_ON_FULL_BLOCK);
	caller_attach(&caller, &rig.e);
	rig_reply(&rig, (struct fxt_packet){.request = FXT_PROVIDER_BUFFER_SAVED});
	while (!rig.e.broken)
		call(&caller, FUNCTION(1));
	assert_int_equal(rig.e.header->wrapped_count, 0);
	rig_end(&rig);
}

/* A full ring breaks the protocol too: its packets were not taken. */
static void full_ring(void **state)
{
	struct rig rig;
	struct caller caller;
	struct fxt_packet packet = {.request = FXT_PROVIDER_ALERT};

	(void)state;
	rig_begin(&rig, STREAMING, 16 * KIB, FXT_ON_FULL_BLOCK);
	caller_attach(&caller, &rig.e);
	for (int i = 0; i < 3; i++)
		assert_true(fxt_ring_send(&rig.control->to_manager, &packet));
	assert_false(fxt_ring_send(&rig.control->to_manager, &packet));
	while (!rig.e.broken)
		call(&caller, FUNCTION(1));
	assert_int_equal(rig.e.header->wrapped_count, 1);
	rig_end(&rig);
}

static void quit(void **state)
{
	struct rig rig;
	struct caller caller;

	(void)state;
	rig_begin(&rig, CIRCULAR, 16 * KIB, FXT_ON_FULL_BLOCK);
	caller_attach(&caller, &rig.e);
	call(&caller, FUNCTION(1));
	rig.control->session_command = FXT_COMMAND_QUIT;
	while (!rig.e.broken)
		call(&caller, FUNCTION(1));
	assert_int_equal(rig.e.header->wrapped_count, 0);
	assert_null(fxt_thread_attach(&rig.e));
	rig_end(&rig);
}

/* The wait that the manager tells is the sum of the slices that show it. */
static void check_waits(const struct rig *rig)
{
	uint64_t waited = 0;

	for (size_t i = 0; i < rig->trace.count; i++)
		if (rig->trace.events[i].kind == EVENT_WAIT)
			waited += rig->trace.events[i].end - rig->trace.events[i].start;
	assert_int_equal(rig->collector.waited_ticks, waited);
}

/* The manager's heart beats, but it does not save: threads wait, for longer than a dead
 * manager is waited for. */
static void slow_manager_is_waited_for(void **state)
{
	struct worker worker = {.calls = 5000};
	struct rig rig;

	(void)state;
	rig_begin(&rig, STREAMING, 16 * KIB, FXT_ON_FULL_BLOCK);
	start_worker(&worker, &rig, 1);
	while (load_acquire(&rig.e.header->wrapped_count) == 0)
		sys_pause_ns(1000000);
	for (int i = 0; i < 30; i++) {
		add_relaxed(&rig.control->heartbeat, 1);
		sys_pause_ns(50000000);
	}
	assert_int_equal(load_acquire(&rig.e.header->wrapped_count), 1);
	rig_start_manager(&rig);
	pthread_join(worker.thread, NULL);
	rig_stop_manager(&rig);
	rig_collect(&rig, FXT_ENDED_NORMALLY);
	check_worker(&worker, true);
	assert_int_equal(worker.caller.slot->lost, 0);
	assert_true(trace_count(&rig.trace, EVENT_WAIT, 0) > 0);
	check_waits(&rig);
	trace_check_nesting(&rig.trace);
	rig_end(&rig);
}

/* It was looked at long ago, and its heart has not beaten since: the machine may have stood
 * still. */
static void a_gap_is_no_reason_for_doubt(void **state)
{
	struct worker worker = {.calls = 5000};
	struct rig rig;
	uint64_t long_ago = fxt_monotonic_ns() - UINT64_C(10000000000);

	(void)state;
	rig_begin(&rig, STREAMING, 16 * KIB, FXT_ON_FULL_BLOCK);
	rig.e.heartbeat = rig.control->heartbeat;
	rig.e.heartbeat_checked_ns = long_ago;
	start_worker(&worker, &rig, 1);
	while (load_relaxed(&rig.e.heartbeat_checked_ns) == long_ago)
		sys_pause_ns(1000000);
	rig_start_manager(&rig);
	pthread_join(worker.thread, NULL);
	rig_stop_manager(&rig);
	rig_collect(&rig, FXT_ENDED_NORMALLY);
	check_worker(&worker, true);
	assert_int_equal(worker.caller.slot->lost, 0);
	rig_end(&rig);
}

/* Its heart stands still: after a while records are dropped; when it beats again, nothing
 * more is lost. */
static void dead_manager_is_not(void **state)
{
	struct worker dead = {.calls = 5000}, revived = {.calls = 5000};
	struct rig rig;

	(void)state;
	rig_begin(&rig, STREAMING, 16 * KIB, FXT_ON_FULL_BLOCK);
	start_worker(&dead, &rig, 1);
	pthread_join(dead.thread, NULL);
	assert_true(dead.caller.slot->lost > 1000);
	rig_start_manager(&rig);
	start_worker(&revived, &rig, 2);
	pthread_join(revived.thread, NULL);
	rig_stop_manager(&rig);
	rig_collect(&rig, FXT_ENDED_NORMALLY);
	check_worker(&dead, true);
	check_worker(&revived, true);
	check_waits(&rig);
	trace_check_nesting(&rig.trace);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(oneshot_with_room),
	        cmocka_unit_test(oneshot_overfull),
	        cmocka_unit_test(oneshot_open_at_the_end),
	        cmocka_unit_test(circular_overfull),
	        cmocka_unit_test(streaming_with_a_manager_loses_nothing),
	        cmocka_unit_test(streaming_drops_and_counts),
	        cmocka_unit_test(too_deep),
	        cmocka_unit_test(switches_of_a_circular_buffer),
	        cmocka_unit_test(oneshot_never_switches),
	        cmocka_unit_test(save_buffer_packets),
	        cmocka_unit_test(no_reply_drop),
	        cmocka_unit_test(a_loss_ends_before_what_follows),
	        cmocka_unit_test(wrong_replies),
	        cmocka_unit_test(unasked_reply),
	        cmocka_unit_test(full_ring),
	        cmocka_unit_test(quit),
	        cmocka_unit_test(slow_manager_is_waited_for),
	        cmocka_unit_test(a_gap_is_no_reason_for_doubt),
	        cmocka_unit_test(dead_manager_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
