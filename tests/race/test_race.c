/*
 * Interleavings, signals and deaths, replayed at the engine's fail points. Every call is of
 * a function of its own, so that the trace shows how often it has each of them.
 */
#include "tests/unit/caller.h"
#include "writer/engine/valid.h"
#include <semaphore.h>

#define KIB   UINT64_C(1024)
#define CALLS 4000

/* ---- what is expected of each call ---- */

enum progress { NOT_BEGUN = 0, ENTERING, OPEN, LEAVING, DONE };

static struct calls {
	enum progress progress[CALLS];
	uint32_t next;
	bool some_are_dropped; /* circular */
} calls;

static uint32_t begin_call(struct caller *caller)
{
	uint32_t number = calls.next++;

	assert_true(number < CALLS);
	calls.progress[number] = ENTERING;
	enter(caller, FUNCTION(number));
	calls.progress[number] = OPEN;
	return number;
}

static void end_call(struct caller *caller, uint32_t number)
{
	calls.progress[number] = LEAVING;
	leave(caller);
	calls.progress[number] = DONE;
}

static void make_call(struct caller *caller)
{
	end_call(caller, begin_call(caller));
}

static void count(uint32_t counts[CALLS], const struct trace *t)
{
	for (size_t i = 0; i < t->count; i++) {
		uint64_t number = (t->events[i].function - FUNCTION(0)) / 16;

		if (t->events[i].kind != EVENT_CALL && t->events[i].kind != EVENT_OPEN_CALL)
			continue;
		assert_true(number < calls.next && t->events[i].function == FUNCTION(number));
		counts[number]++;
	}
}

static void check_counts(const char *when, const uint32_t counts[CALLS])
{
	for (uint32_t i = 0; i < calls.next; i++) {
		enum progress p = calls.progress[i];
		bool must = p != ENTERING && !(p == DONE && calls.some_are_dropped);

		if (counts[i] > 1 || (must && counts[i] == 0))
			fail_msg("%s: call %u of %u, in progress %d, is there %u times", when, i, calls.next,
			        (int)p, counts[i]);
	}
}

/* ---- death ---- */

static struct {
	uint8_t *buffer;
	struct fxt_control *control;
	struct trace trace;
	uint64_t deaths;
} afterlife;

/* The process dies now: its manager takes what is pending, then the rest. */
static void die(struct rig *rig, const char *when)
{
	static uint32_t counts[CALLS];
	struct fxt_packet packet;
	struct rig dead = *rig;
	struct event *events = afterlife.trace.events;
	size_t room = afterlife.trace.room;
	char(*strings)[48] = afterlife.trace.strings;

	memset(counts, 0, sizeof(counts));
	count(counts, &rig->trace);
	memcpy(afterlife.buffer, rig->buffer, rig->buffer_bytes);
	memcpy(afterlife.control, rig->control, FXT_SLOTS_OFFSET + 8 * FXT_SLOT_BYTES);
	for (uint32_t i = 0; i < 8; i++) {
		uint64_t stack = FXT_STACKS_OFFSET + i * FXT_SMALL_STACK_BYTES;

		memcpy((uint8_t *)afterlife.control + stack, (uint8_t *)rig->control + stack, 8 * KIB);
	}
	free(afterlife.trace.named);
	afterlife.trace = rig->trace; /* what was saved before gave the names */
	afterlife.trace.named = NULL;
	afterlife.trace.named_count = afterlife.trace.named_room = afterlife.trace.count = 0;
	afterlife.trace.events = events;
	afterlife.trace.room = room;
	afterlife.trace.strings = strings ? strings : calloc(1, STRINGS_BYTES);
	if (rig->trace.strings)
		memcpy(afterlife.trace.strings, rig->trace.strings, STRINGS_BYTES);
	dead.buffer = afterlife.buffer;
	dead.control = afterlife.control;
	dead.collector.buffer = dead.buffer;
	dead.collector.control = dead.control;
	dead.collector.copy.context = &afterlife.trace;
	dead.collector.copy.memory = NULL; /* the living one's */
	while (rig_receive(&dead, &packet))
		if (packet.request == FXT_PROVIDER_SAVE_BUFFER)
			assert_int_equal(fxt_collect_saved_buffer(&dead.collector, &packet), 0);
	assert_int_equal(
	        fxt_collect_rest(&dead.collector, FXT_ENDED_BY_SIGNAL, arch_counter() + RIG_RATE), 0);
	assert_null(dead.collector.reason);
	assert_false(afterlife.trace.is_bad);
	count(counts, &afterlife.trace);
	check_counts(when, counts);
	afterlife.deaths++;
}

static void afterlife_begin(const struct rig *rig)
{
	afterlife.buffer = guarded_map(rig->buffer_bytes);
	afterlife.control = guarded_map(FXT_CONTROL_BYTES);
	afterlife.deaths = 0;
	memset(&calls, 0, sizeof(calls));
	calls.some_are_dropped = rig->e.mode == FXT_CIRCULAR;
}

static void afterlife_end(const struct rig *rig)
{
	guarded_unmap(afterlife.buffer, rig->buffer_bytes);
	guarded_unmap(afterlife.control, FXT_CONTROL_BYTES);
	trace_reset(&afterlife.trace);
}

/* ---- fail points ---- */

/* The place at which a thread stops until it may go on. */
struct stop {
	const char *at; /* NULL once it stopped there */
	sem_t reached, go;
};

static __thread struct stop *stop;
static __thread void (*step_in)(void *context, const char *name);
static __thread void *step_in_context;

void fxt_fail_point(const char *name)
{
	void (*function)(void *, const char *) = step_in;

	if (stop && stop->at && strcmp(stop->at, name) == 0) {
		stop->at = NULL;
		sem_post(&stop->reached);
		while (sem_wait(&stop->go) != 0)
			;
	}
	if (function) { /* what is done there passes fail points of its own */
		step_in = NULL;
		function(step_in_context, name);
		step_in = function;
	}
}

static const enum fxt_buffering_mode modes[] = {FXT_ONESHOT, FXT_CIRCULAR, FXT_STREAMING};

/* ---- death at every fail point ---- */

static void die_here(void *context, const char *name)
{
	die(context, name);
}

static void live(struct rig *rig, struct caller *caller, unsigned count)
{
	uint32_t outer = begin_call(caller);

	for (unsigned i = 0; i < count; i++) {
		uint32_t inner = begin_call(caller);

		make_call(caller);
		end_call(caller, inner);
		rig_save(rig);
	}
	end_call(caller, outer);
}

static void death_at_every_fail_point(void **state)
{
	(void)state;
	for (size_t m = 0; m < 3; m++) {
		struct rig rig;
		struct caller caller;

		rig_begin(&rig, modes[m], modes[m] == FXT_ONESHOT ? 128 * KIB : 8 * KIB, FXT_ON_FULL_DROP);
		afterlife_begin(&rig);
		step_in = die_here;
		step_in_context = &rig;
		caller_attach(&caller, &rig.e);
		live(&rig, &caller, 200);
		step_in = NULL;
		assert_int_equal(caller.slot->lost, 0);
		assert_true(afterlife.deaths > 1000);
		assert_true(modes[m] == FXT_ONESHOT || rig.e.wrapped > 2);
		afterlife_end(&rig);
		rig_end(&rig);
	}
}

/* ---- a signal at every fail point that a signal can reach ---- */

struct interrupted {
	struct caller *caller;
	uint64_t nested;
};

static void interrupt(void *context, const char *name)
{
	struct interrupted *i = context;

	(void)name;
	if (load_relaxed(&i->caller->e->lock.word) != 0) /* its holder has all signals blocked */
		return;
	call(i->caller, FUNCTION(0));
	i->nested++;
}

static void signals_at_every_fail_point(void **state)
{
	(void)state;
	for (size_t m = 0; m < 3; m++) {
		struct rig rig;
		struct caller caller;
		struct interrupted interrupted = {.caller = &caller};
		uint64_t made;

		rig_begin(&rig, modes[m], modes[m] == FXT_ONESHOT ? 1024 * KIB : 8 * KIB, FXT_ON_FULL_DROP);
		memset(&calls, 0, sizeof(calls));
		caller_attach(&caller, &rig.e);
		step_in = interrupt;
		step_in_context = &interrupted;
		live(&rig, &caller, 300);
		for (int i = 0; i < 300; i++) {
			call(&caller, FUNCTION(1)); /* by the fast path */
			rig_save(&rig);
		}
		step_in = NULL;
		made = calls.next + 300 + interrupted.nested;
		assert_true(interrupted.nested >= 300);
		rig_collect(&rig, FXT_ENDED_NORMALLY);
		trace_check_nesting(&rig.trace);
		assert_int_equal(caller.slot->nested_lost, interrupted.nested);
		assert_int_equal(trace_count(&rig.trace, EVENT_CALL, 0) + rig.collector.losses.lost +
		                         rig.collector.losses.overwritten,
		        made);
		if (modes[m] != FXT_CIRCULAR)
			assert_int_equal(trace_count(&rig.trace, EVENT_LOSS, 0), interrupted.nested);
		rig_end(&rig);
	}
}

/* ---- a thread that stops inside the fast path while its buffer is closed ---- */

struct stopped {
	struct rig *rig;
	struct stop stop;
	sem_t next;
	uint32_t number;   /* the call that it stops in */
	bool dies_at_once; /* makes no call afterwards */
	struct caller caller;
	pthread_t thread;
};

static void *stop_inside(void *argument)
{
	struct stopped *s = argument;
	const char *at = s->stop.at;

	s->stop.at = NULL;
	stop = &s->stop;
	caller_attach(&s->caller, &s->rig->e);
	make_call(&s->caller); /* so that it has a chunk */
	s->number = begin_call(&s->caller);
	s->stop.at = at;
	end_call(&s->caller, s->number); /* stops here */
	sem_post(&s->stop.reached);
	sem_wait(&s->next);
	if (s->dies_at_once)
		return NULL;
	step_in = die_here;
	step_in_context = s->rig;
	make_call(&s->caller);
	make_call(&s->caller);
	step_in = NULL;
	return NULL;
}

/* A rig, and a thread that has stopped in it. */
static void begin_stopped(struct stopped *s, enum fxt_buffering_mode mode, uint64_t bytes)
{
	rig_begin(s->rig, mode, bytes, FXT_ON_FULL_DROP);
	afterlife_begin(s->rig);
	sem_init(&s->stop.reached, 0, 0);
	sem_init(&s->stop.go, 0, 0);
	sem_init(&s->next, 0, 0);
	assert_int_equal(pthread_create(&s->thread, NULL, stop_inside, s), 0);
	sem_wait(&s->stop.reached);
}

static void *attach_only(void *argument)
{
	struct caller caller;

	caller_attach(&caller, &((struct rig *)argument)->e);
	return NULL;
}

/* The calls of another thread, until the buffer was switched so often. */
static void switch_buffers(struct rig *rig, struct caller *caller, unsigned switches)
{
	uint32_t wrapped = rig->e.wrapped;

	while (rig->e.wrapped < wrapped + switches) {
		make_call(caller);
		rig_save(rig);
	}
}

static void check_bytes_are_not_given_out(const struct rig *rig, const struct fxt_thread_writer *stalled)
{
	const struct fxt_buffer_header *header = rig->e.header;

	assert_int_equal(stalled->state, FXT_WRITER_STALLED);
	assert_true(fxt_engine_is_valid(&rig->e));
	for (unsigned buffer = 0; buffer < 2; buffer++)
		for (uint64_t at = 0; at < header->rolling_data_end[buffer];) {
			uint64_t address =
			        (uint64_t)(uintptr_t)rig->buffer + rig->e.layout.rolling_offset[buffer] + at;
			const struct fxt_chunk_header *chunk =
			        (const struct fxt_chunk_header *)(uintptr_t)address;
			uint64_t end =
			        stalled->chunk + ((struct fxt_chunk_header *)(uintptr_t)stalled->chunk)->size;

			assert_true(address == stalled->chunk || address >= end ||
			            address + chunk->size <= stalled->chunk);
			at += chunk->size;
		}
}

static void stop_and_switch(
        enum fxt_buffering_mode mode, const char *at, unsigned switches, bool dies_at_once)
{
	struct rig rig;
	struct caller caller;
	struct stopped s = {.rig = &rig, .stop.at = at, .dies_at_once = dies_at_once};

	begin_stopped(&s, mode, 16 * KIB);
	caller_attach(&caller, &rig.e);
	die(&rig, "stopped, before its buffer is closed");
	switch_buffers(&rig, &caller, switches);
	check_bytes_are_not_given_out(&rig, s.caller.writer);
	/* If it had committed, the call went with the older half of a circular buffer; else
	 * it is still to come. */
	if (mode == FXT_CIRCULAR && strcmp(at, "commit: committed") == 0)
		calls.progress[s.number] = DONE;
	die(&rig, "stopped, after its buffer was closed");
	sem_post(&s.stop.go);
	sem_wait(&s.stop.reached);
	die(&rig, "back, its late call not moved yet");
	switch_buffers(&rig, &caller, switches);
	die(&rig, "back, its late call still not moved");
	sem_post(&s.next);
	pthread_join(s.thread, NULL);
	if (dies_at_once) {
		fxt_engine_stop(&rig.e);
		assert_int_equal(fxt_engine_start(&rig.e, FXT_START_RETAIN), 0);
		rig_save(&rig);
		rig.e.reclaim_at = 0; /* look for dead threads now */
		assert_int_equal(pthread_create(&s.thread, NULL, attach_only, &rig), 0);
		pthread_join(s.thread, NULL);
		assert_int_equal(s.caller.slot->state, FXT_SLOT_LIVE);
		/* Calls that are still in a circular buffer keep the slot: what was
		 * overwritten is shown beside them. */
		if (s.caller.slot->koid == s.caller.koid)
			assert_true(
			        mode == FXT_CIRCULAR && s.caller.slot->calls[0] + s.caller.slot->calls[1]);
	}
	assert_int_not_equal(s.caller.writer->state, FXT_WRITER_STALLED);
	assert_true(fxt_engine_is_valid(&rig.e));
	assert_int_equal(rig.e.stalled, 0);
	switch_buffers(&rig, &caller, 1);
	die(&rig, "in the end");
	assert_int_equal(caller.slot->lost + s.caller.slot->lost + rig.control->lost_recycled, 0);
	afterlife_end(&rig);
	rig_end(&rig);
}

static const char *const windows[] = {
        "call: position", "call: limit", "commit: written", "commit: committed"};

static void stopped_threads(void **state)
{
	(void)state;
	for (size_t m = 1; m < 3; m++)
		for (size_t w = 0; w < sizeof(windows) / sizeof(*windows); w++)
			for (unsigned switches = 1; switches <= 3; switches++)
				stop_and_switch(modes[m], windows[w], switches, false);
}

static void stopped_threads_that_die(void **state)
{
	(void)state;
	for (size_t m = 1; m < 3; m++)
		for (size_t w = 0; w < sizeof(windows) / sizeof(*windows); w++)
			stop_and_switch(modes[m], windows[w], 2, true);
}

/* ---- the last bytes ---- */

/* Two threads want them: one stops before it looks at its limit, the other takes a chunk
 * and fills the buffer. */
static void the_last_bytes(void **state)
{
	(void)state;
	for (size_t w = 0; w < sizeof(windows) / sizeof(*windows); w++) {
		struct rig rig;
		struct caller caller;
		struct stopped s = {.rig = &rig, .stop.at = windows[w]};
		uint64_t end;

		begin_stopped(&s, FXT_ONESHOT, 64 * KIB);
		caller_attach(&caller, &rig.e);
		while (caller.slot->lost == 0)
			make_call(&caller);
		calls.progress[calls.next - 1] = ENTERING; /* the lost one */
		end = rig.e.header->rolling_data_end[0];
		die(&rig, "full, with a thread inside");
		sem_post(&s.stop.go);
		sem_wait(&s.stop.reached);
		sem_post(&s.next);
		pthread_join(s.thread, NULL);
		/* The rest of its own chunk was its own to the end. */
		assert_int_equal(s.caller.slot->lost, 0);
		assert_int_equal(rig.e.header->rolling_data_end[0], end);
		die(&rig, "in the end");
		afterlife_end(&rig);
		rig_end(&rig);
	}
}

/* The thread comes out while the closer, which has given it up, is closing its chunk; then
 * the process dies.
 */
static void release_and_die(void *context, const char *name)
{
	struct stopped *s = context;

	if (strcmp(name, s->stop.at) != 0)
		return;
	s->stop.at = "";
	sem_post(&s->stop.go);
	sem_wait(&s->stop.reached);
	die(s->rig, name);
	step_in_context = s->rig;
	step_in = die_here;
}

static void committed_while_it_is_stalled(void **state)
{
	static const char *const steps[] = {
	        "stall: committed", "stall: late_record", "close: committed", "close: closed"};

	(void)state;
	/* Not the first window: from there the thread would take the slow path, to the lock
	 * that the closer holds. */
	for (size_t w = 1; w < sizeof(windows) / sizeof(*windows); w++)
		for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
			struct rig rig;
			struct caller caller;
			struct stopped s = {.rig = &rig, .stop.at = windows[w]};

			begin_stopped(&s, FXT_STREAMING, 16 * KIB);
			caller_attach(&caller, &rig.e);
			s.stop.at = steps[i];
			step_in_context = &s;
			step_in = release_and_die;
			switch_buffers(&rig, &caller, 1);
			step_in = NULL;
			assert_string_equal(s.stop.at, "");
			sem_post(&s.next);
			pthread_join(s.thread, NULL);
			die(&rig, "in the end");
			assert_int_equal(caller.slot->lost + s.caller.slot->lost, 0);
			afterlife_end(&rig);
			rig_end(&rig);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(death_at_every_fail_point),
	        cmocka_unit_test(signals_at_every_fail_point),
	        cmocka_unit_test(stopped_threads),
	        cmocka_unit_test(stopped_threads_that_die),
	        cmocka_unit_test(committed_while_it_is_stalled),
	        cmocka_unit_test(the_last_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
