/*
 * Snapshots of an engine with threads that do not stop for them: every one is consistent,
 * and has the newest calls of each thread and the open calls.
 */
#include "caller.h"
#include "writer/collect/internal.h"
#include "writer/collect/snapshot.h"

#define SNAPSHOTS  50
#define FEW_ROUNDS 50               /* write less than half of the smallest buffer */
#define OUTER      UINT64_C(0x1000) /* open for the whole run */
#define MIDDLE     UINT64_C(0x2000) /* for a thousand calls */
#define LEAF       UINT64_C(0x3000)

struct runner {
	struct caller caller;
	struct rig *rig;
	pthread_t thread;
	uint32_t wrapped; /* of the call that returned last: the wrapped count before, */
	uint64_t ended;   /* and a time before its end, in ticks */
	uint64_t rounds;  /* that it has made, */
	uint64_t limit;   /* and may make */
	unsigned depth;   /* of further calls inside MIDDLE, which come and go */
};

static void *run(void *argument)
{
	struct runner *runner = argument;
	struct caller *caller = &runner->caller;

	caller_attach(caller, &runner->rig->e);
	enter(caller, OUTER);
	while (!load_acquire(&runner->rig->over)) {
		enter(caller, MIDDLE);
		for (unsigned i = 0; i < 1000; i++) {
			while (runner->rounds >= load_acquire(&runner->limit) &&
			        !load_acquire(&runner->rig->over))
				sched_yield();
			store_release(&runner->rounds, runner->rounds + 1);
			for (unsigned d = 0; d < runner->depth; d++)
				enter(caller, LEAF + d);
			uint32_t wrapped = load_relaxed(&caller->e->wrapped);
			uint64_t before = 0;

			for (unsigned d = runner->depth; d-- > 0;) {
				before = arch_counter();
				leave(caller);
			}
			store_release(&runner->wrapped, wrapped); /* its record lies there or later */
			store_release(&runner->ended, before);    /* and ends then or later */
		}
		leave(caller);
	}
	leave(caller);
	return NULL;
}

/* How many threads' newest call was not yet dropped with its half of the buffer, and was
 * found. */
static unsigned check_snapshot(struct rig *rig, struct runner *runners, unsigned count)
{
	struct fxt_snapshot snapshot;
	struct fxt_collector collector;
	uint32_t wrapped[4];
	uint64_t ended[4];
	unsigned found = 0;

	for (unsigned i = 0; i < count; i++) {
		wrapped[i] =
		        load_acquire(&runners[i].wrapped); /* first: it is of this call or an older one */
		ended[i] = load_acquire(&runners[i].ended);
	}
	assert_int_equal(
	        fxt_snapshot_take(&snapshot, rig->buffer, rig->buffer_bytes, rig->control, NULL, false), 0);
	trace_reset(&rig->trace);
	fxt_collector_init(&collector, snapshot.buffer, snapshot.buffer_bytes, snapshot.map.control,
	        trace_take, &rig->trace);
	assert_int_equal(fxt_collect_rest(&collector, FXT_STILL_RUNNING, snapshot.ticks), 0);
	if (collector.reason)
		fail_msg("%s", collector.reason);
	trace_check_nesting(&rig->trace);
	for (unsigned i = 0; i < count; i++) {
		uint64_t koid = runners[i].caller.koid, newest = 0, outer = 0;

		for (size_t j = 0; j < rig->trace.count; j++) {
			const struct event *event = &rig->trace.events[j];

			if (event->koid != koid)
				continue;
			if (event->kind == EVENT_CALL && event->end > newest)
				newest = event->end;
			outer += event->kind == EVENT_OPEN_CALL && event->function == OUTER;
		}
		/* A call may be lost where stopped threads hold on to both halves; it is
		 * counted then. */
		if (!trace_count(&rig->trace, EVENT_LOSS, koid) &&
		        ((struct fxt_buffer_header *)snapshot.buffer)->wrapped_count - wrapped[i] <= 1) {
			assert_true(newest >= ended[i]);
			found++;
		}
		assert_int_equal(outer, 1);
		assert_true(trace_names(&rig->trace, koid));
	}
	fxt_snapshot_free(&snapshot);
	return found;
}

static void take_many(enum fxt_buffering_mode mode, uint64_t bytes, unsigned count)
{
	struct runner runners[4] = {{.depth = 1}, {.depth = 5}, {.depth = 2}, {.depth = 40}};
	struct rig rig;
	unsigned found = 0;

	rig_begin(&rig, mode, bytes, FXT_ON_FULL_DROP);
	for (unsigned i = 0; i < count; i++) {
		runners[i].rig = &rig;
		runners[i].limit = UINT64_MAX;
		assert_int_equal(pthread_create(&runners[i].thread, NULL, run, &runners[i]), 0);
	}
	for (unsigned i = 0; i < count; i++)
		while (!load_acquire(&runners[i].ended))
			sched_yield();
	/* On a busy machine the threads may fill the buffer twice during each of these snapshots,
	 * and no call is found then. Further snapshots follow, with few rounds during each. */
	for (unsigned i = 0; i < SNAPSHOTS || found == 0; i++) {
		for (unsigned j = 0; i >= SNAPSHOTS && j < count; j++)
			store_release(&runners[j].limit, load_acquire(&runners[j].rounds) + FEW_ROUNDS);
		found += check_snapshot(&rig, runners, count);
	}
	store_release(&rig.over, 1);
	for (unsigned i = 0; i < count; i++)
		pthread_join(runners[i].thread, NULL);
	rig_end(&rig);
}

static void of_a_circular_buffer(void **state)
{
	(void)state;
	take_many(FXT_CIRCULAR, UINT64_C(4) << 20, 2);
}

static void of_a_small_one_that_wraps_all_the_time(void **state)
{
	(void)state;
	take_many(FXT_CIRCULAR, UINT64_C(256) << 10, 4);
}

/*
 * While frames are copied a thread may leave a call and begin another; the frame then is
 * half of each. Such a frame began after the copy did: it is dropped, and the calls around
 * it stay.
 */
static void a_call_that_begins_meanwhile(void **state)
{
	struct fxt_snapshot snapshot;
	struct caller caller;
	struct rig rig;
	struct fxt_frame *half;

	(void)state;
	rig_begin(&rig, FXT_CIRCULAR, UINT64_C(64) << 10, FXT_ON_FULL_DROP);
	caller_attach(&caller, &rig.e);
	enter(&caller, OUTER);
	enter(&caller, LEAF);
	half = (struct fxt_frame *)(uintptr_t)load_relaxed(&caller.slot->top) - 1;
	half->start += UINT64_C(1) << 40;
	assert_int_equal(
	        fxt_snapshot_take(&snapshot, rig.buffer, rig.buffer_bytes, rig.control, NULL, false), 0);
	half->start -= UINT64_C(1) << 40;
	trace_reset(&rig.trace);
	fxt_collector_init(&rig.collector, snapshot.buffer, snapshot.buffer_bytes, snapshot.map.control,
	        trace_take, &rig.trace);
	assert_int_equal(fxt_collect_rest(&rig.collector, FXT_STILL_RUNNING, snapshot.ticks), 0);
	assert_int_equal(trace_count(&rig.trace, EVENT_OPEN_CALL, caller.koid), 1);
	for (size_t i = 0; i < rig.trace.count; i++)
		if (rig.trace.events[i].kind == EVENT_OPEN_CALL)
			assert_true(rig.trace.events[i].function == OUTER);
	fxt_snapshot_free(&snapshot);
	leave(&caller);
	leave(&caller);
	rig_end(&rig);
}

/*
 * An elided call, and the recorded one around it, end while their frames are copied: the
 * inner one has no record that shows it, and is over nevertheless.
 */
static void calls_that_end_meanwhile(void **state)
{
	struct fxt_snapshot snapshot;
	struct caller caller;
	struct rig rig;
	const struct fxt_frame *outer;
	uint64_t *position;

	(void)state;
	rig_begin(&rig, FXT_CIRCULAR, UINT64_C(64) << 10, FXT_ON_FULL_DROP);
	caller_attach(&caller, &rig.e);
	enter(&caller, LEAF); /* takes a chunk */
	leave(&caller);
	enter(&caller, OUTER);
	outer = (const struct fxt_frame *)(uintptr_t)load_relaxed(&caller.slot->top) - 1;
	enter(&caller, LEAF);
	assert_true(fxt_chunk_has_room(caller.writer, caller.slot, &position));
	fxt_chunk_put_call(
	        caller.writer, caller.slot, position, outer->function, outer->start, arch_counter());
	assert_int_equal(
	        fxt_snapshot_take(&snapshot, rig.buffer, rig.buffer_bytes, rig.control, NULL, false), 0);
	trace_reset(&rig.trace);
	fxt_collector_init(&rig.collector, snapshot.buffer, snapshot.buffer_bytes, snapshot.map.control,
	        trace_take, &rig.trace);
	assert_int_equal(fxt_collect_rest(&rig.collector, FXT_STILL_RUNNING, snapshot.ticks), 0);
	assert_int_equal(trace_count(&rig.trace, EVENT_OPEN_CALL, caller.koid), 0);
	assert_int_equal(trace_count(&rig.trace, EVENT_CALL, caller.koid), 2);
	fxt_snapshot_free(&snapshot);
	caller.slot->top = (uint64_t)(uintptr_t)outer;
	rig_end(&rig);
}

/* A manager that asks for chunks to be held and dies: the threads go on by themselves. */
static void a_hold_that_is_never_lifted(void **state)
{
	struct runner runner = {.depth = 1, .limit = UINT64_MAX};
	struct rig rig;

	(void)state;
	rig_begin(&rig, FXT_CIRCULAR, UINT64_C(64) << 10, FXT_ON_FULL_DROP);
	store_release(&rig.control->snapshot_hold, 1);
	runner.rig = &rig;
	assert_int_equal(pthread_create(&runner.thread, NULL, run, &runner), 0);
	while (load_acquire(&rig.control->chunk_sequence) < 40)
		sched_yield();
	store_release(&rig.over, 1);
	pthread_join(runner.thread, NULL);
	rig_collect(&rig, FXT_ENDED_NORMALLY);
	assert_true(trace_count(&rig.trace, EVENT_WAIT, 0) > 0);
	trace_check_nesting(&rig.trace);
	rig_end(&rig);
}

static void of_memory_that_breaks_the_rules(void **state)
{
	struct fxt_snapshot snapshot;
	struct rig rig;

	(void)state;
	rig_begin(&rig, FXT_CIRCULAR, UINT64_C(64) << 10, FXT_ON_FULL_DROP);
	rig.e.header->rolling_data_end[1] = UINT64_C(1) << 40;
	assert_int_equal(
	        fxt_snapshot_take(&snapshot, rig.buffer, rig.buffer_bytes, rig.control, NULL, false), EPROTO);
	rig.e.header->rolling_data_end[1] = 0;
	rig.control->chunk_sequence = 1; /* a change that never ends */
	assert_int_equal(
	        fxt_snapshot_take(&snapshot, rig.buffer, rig.buffer_bytes, rig.control, NULL, false), EAGAIN);
	rig.control->chunk_sequence = 0;
	rig.control->slots_used = UINT32_MAX;
	assert_int_equal(
	        fxt_snapshot_take(&snapshot, rig.buffer, rig.buffer_bytes, rig.control, NULL, false), EPROTO);
	rig.control->slots_used = 0;
	rig_end(&rig);
}

/* Many slots may claim the same large stack, and copies of it would take terabytes: the
 * first slot gets it. */
static void of_slots_that_share_a_stack(void **state)
{
	struct fxt_snapshot snapshot;
	struct rig rig;

	(void)state;
	rig_begin(&rig, FXT_CIRCULAR, 64 << 10, FXT_ON_FULL_DROP);
	rig.control->slots_used = 3;
	for (uint32_t i = 0; i < 3; i++) {
		struct fxt_thread_slot *slot = fxt_control_slot(rig.control, i);

		slot->state = FXT_SLOT_LIVE;
		slot->top = rig.control->control_address + FXT_LARGE_STACKS_OFFSET + fxt_stack_color(0) +
		            1000 * sizeof(struct fxt_frame);
	}
	assert_int_equal(
	        fxt_snapshot_take(&snapshot, rig.buffer, rig.buffer_bytes, rig.control, NULL, false), 0);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t top = fxt_control_slot(snapshot.map.control, i)->top;

		assert_int_equal(
		        fxt_shadow_stack_find(snapshot.map.control, i, top).frames, i == 0 ? 999 : 0);
	}
	fxt_snapshot_free(&snapshot);
	rig.control->slots_used = 0;
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(of_a_circular_buffer),
	        cmocka_unit_test(of_a_small_one_that_wraps_all_the_time),
	        cmocka_unit_test(a_call_that_begins_meanwhile),
	        cmocka_unit_test(calls_that_end_meanwhile),
	        cmocka_unit_test(a_hold_that_is_never_lifted),
	        cmocka_unit_test(of_memory_that_breaks_the_rules),
	        cmocka_unit_test(of_slots_that_share_a_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
